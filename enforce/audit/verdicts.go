package audit

import (
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// verdicts are those about a request, and what is needed to count them.
type verdicts struct {
	at      int64
	order   int64
	timed   bool
	fine    bool  // the times are fine enough for each delay
	coarse  int64 // the resolution of the times
	site    *site
	request enforce.Request
	now     enforce.Decision
	was     *enforce.Decision // nil where nothing is compared
	crawler *crawlerTally     // nil for a person
	host    *hostTally
	source  *source
	input   *input
	number  int64
	status  int
	agent   string
}

// clone makes v hold after the line is gone.
func (v *verdicts) clone() {
	v.request.Target = strings.Clone(v.request.Target[:min(len(v.request.Target), 4*maxShown)])
	v.request.Method = strings.Clone(v.request.Method)
	v.request.Client = strings.Clone(v.request.Client)
	v.agent = shortened(v.agent)
	v.request.UserAgents = nil
	if v.was != nil {
		was := *v.was
		v.was = &was
	}
}

// pace holds a request to the pace that its crawler may have.
func (a *auditor) pace(v *verdicts) {
	if v.now.Paced() && v.source != nil && v.crawler != nil {
		p := v.crawler.paceOf(v, a)
		key := v.site.replay.Budget(&v.request, &v.now)
		p.add(key, v.at)
		before := v.now
		v.site.replay.Pace(&v.request, &v.now)
		if v.now.Action != enforce.Pass && !p.judged && v.now.Reason != enforce.VisitTime {
			v.now = before
		}
		if v.now.Action != enforce.Pass {
			p.throttled++
		}
		for _, line := range paceLines(v.now.Group) {
			v.source.count(ruleKey{line: line}, v.crawler, v.now.Action == enforce.Throttle && line == v.source.paceLine(&v.now))
		}
	}
	if v.was != nil && v.was.Paced() {
		before := *v.was
		v.site.before.Pace(&v.request, v.was)
		if v.was.Action != enforce.Pass && v.was.Reason != enforce.VisitTime && !a.finePace(v, &before) {
			*v.was = before
		}
	}
	a.settle(v)
}

// paceOf returns the tally of what limits the crawler's pace.
func (t *crawlerTally) paceOf(v *verdicts, a *auditor) *paceTally {
	key := groupOf{v.source, v.now.Group}
	p := t.paces[key]
	if p == nil {
		p = newPaceTally(v.source, &v.now, v.site.longest, func(d time.Duration) bool { return a.judges(v, d) })
		if t.paces == nil {
			t.paces = make(map[groupOf]*paceTally)
		}
		t.paces[key] = p
	}
	return p
}

// judges reports whether the times of a request are fine enough for a verdict
// on a delay.
func (a *auditor) judges(v *verdicts, delay time.Duration) bool {
	return v.fine || delay >= max(leastDelay, time.Duration(2*v.coarse))
}

// finePace reports whether the times are fine enough for what a decision's group
// grants.
func (a *auditor) finePace(v *verdicts, d *enforce.Decision) bool {
	return newPaceTally(nil, d, v.site.longest, func(delay time.Duration) bool { return a.judges(v, delay) }).judged
}

// longestDelay is the longest delay that is enforced under rules.
func longestDelay(r *enforce.Rules) time.Duration {
	if r.MaxDelay > 0 {
		return r.MaxDelay
	}
	return throttle.DefaultMaxDelay
}
