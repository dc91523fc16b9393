package audit

import (
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// Verdict says what would have happened to a request, and why.
type Verdict struct {
	Action string `json:"action"`         // pass, deny or throttle
	Reason string `json:"reason"`         // the String of an enforce.Reason, such as disallowed
	Source int    `json:"source"`         // index in Report.Sources (in Against.Sources for Difference.Was); -1 if none
	Layer  string `json:"layer"`          // as Rule.Layer; "" if no line decided
	Line   int    `json:"line"`           // the line that decided, in Layer; 0 if none
	File   string `json:"file,omitempty"` // as Rule.File
	Text   string `json:"text"`           // the text of that line; "" if none
}

// Example is a request of the log.
type Example struct {
	Input  string     `json:"input"` // name of the file
	LineNo int64      `json:"line"`  // line in that file, from 1
	Time   *time.Time `json:"time"`  // nil if the line has none
	Host   string     `json:"host"`
	Client string     `json:"client"` // masked unless Options.Full is set
	Method string     `json:"method"`
	Target string     `json:"target"` // path and query; the values of the query are masked unless Options.Full is set
	Agent  string     `json:"agent"`  // User-Agent
	Status int        `json:"status"`
	// Verdict says what would have happened to the request.
	Verdict Verdict `json:"verdict"`
}

// countVerdicts counts the verdicts on a request.
func (a *auditor) countVerdicts(v *judgedRequest) {
	if v.crawler != nil && v.source != nil {
		a.countDecision(v)
	}
	if v.was != nil && v.source != nil {
		a.against.count(a, v)
	}
}

// countDecision counts the decision on a request of a crawler.
func (a *auditor) countDecision(v *judgedRequest) {
	d, c := &v.now, v.crawler
	if key, ok := v.source.lineOf(d); ok && d.Action != enforce.Throttle {
		v.source.count(key, c, d.Action == enforce.Deny)
	}
	switch d.Action {
	case enforce.Deny:
		c.denied++
		a.denied++
	case enforce.Throttle:
		c.throttled++
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

// isBrowser reports whether, by the registry alone, a request's User-Agent is that of a
// browser or app.
func (a *auditor) isBrowser(v *judgedRequest) bool {
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

// example returns an Example of a request.
func (a *auditor) example(v *judgedRequest, verdict Verdict) Example {
	e := Example{
		Input: v.input, LineNo: v.number, Host: v.host.name, Client: a.mask.client(v.request.Client), Method: strings.Clone(v.request.Method),
		Target: a.mask.target(v.request.Target), Agent: shortened(v.agent), Status: v.status, Verdict: verdict,
	}
	if verdict.Layer == enforce.HiddenLayer.String() && !a.options.Full { // hidden paths must not be shown
		e.Target = hidden
	}
	if v.timed {
		at := time.Unix(0, v.at).UTC()
		e.Time = &at
	}
	return e
}
