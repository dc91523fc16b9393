package audit

import (
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// settle counts the verdicts on a request.
func (a *auditor) settle(v *verdicts) {
	if v.crawler != nil && v.source != nil {
		a.settleNow(v)
	}
	if v.was != nil && v.source != nil {
		a.against.count(a, v)
	}
}

// settleNow counts the verdict on a robot's request.
func (a *auditor) settleNow(v *verdicts) {
	d, c := &v.now, v.crawler
	if key, ok := v.source.lineOf(d); ok && d.Action != enforce.Throttle {
		v.source.count(key, c, d.Action == enforce.Deny)
	}
	switch d.Action {
	case enforce.Deny:
		c.denied++
		a.denied++
	case enforce.Throttle:
		c.slowed++
		a.throttled++
	default:
		return
	}
	v.host.refused++
	if v.timed {
		a.activity.at(v.at).refused++
	}
	*a.reasons.of(d.Reason.String())++
	*a.purposes.of(c.purpose())++
	if c.isSearch() {
		a.search++
		if d.Claim.State == verify.Verified {
			a.searchVerified++
		}
	}
	if a.isBrowser(v) {
		a.browsers++
	}
	if len(c.examples) < maxRefused {
		c.examples = append(c.examples, a.example(v, v.source.verdict(d)))
	}
}

// isBrowser reports whether the registry takes a request's User-Agent for a
// browser's or an app's.
func (a *auditor) isBrowser(v *verdicts) bool {
	if c := v.now.Agent.Class; c != crawler.Named && c != crawler.Person {
		return false
	}
	var id crawler.Identity
	registry := v.site.Rules.Registry
	if registry == nil {
		registry = crawler.Builtin()
	}
	registry.Matcher(nil).Identify(v.agent, &id)
	return id.Len() == 0
}

// example makes one of a request.
func (a *auditor) example(v *verdicts, verdict Verdict) Example {
	e := Example{
		Input: v.input.file.Name, LineNo: v.number, Host: v.host.name, Client: a.mask.client(v.request.Client), Method: strings.Clone(v.request.Method),
		Target: a.mask.target(v.request.Target), Agent: shortened(v.agent), Status: v.status, Verdict: verdict,
	}
	if verdict.Layer == enforce.HiddenLayer.String() && !a.options.Full { // the path is to be shown nowhere
		e.Target = hidden
	}
	if v.timed {
		at := time.Unix(0, v.at).UTC()
		e.Time = &at
	}
	return e
}
