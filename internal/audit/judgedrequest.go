package audit

import (
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// judgedRequest has the decisions on a request, and what is needed to count them.
type judgedRequest struct {
	at         int64 // time in nanoseconds since 1970
	order      int64 // order in which requests of the same time are judged
	timed      bool  // at is known
	exact      bool  // at is exact enough for every delay
	resolution int64 // of at, in nanoseconds
	site       *site
	request    enforce.Request
	now        enforce.Decision  // by Site.Robots
	was        *enforce.Decision // by Site.Was; nil without Options.Compare
	crawler    *crawlerTally     // nil for a person
	host       *hostTally
	source     *source // nil if no robots.txt is known
	input      string  // name of the log
	number     int64   // line in input
	status     int
	agent      string // User-Agent
}

// clone copies the strings of v that share the memory of the line.
func (v *judgedRequest) clone() {
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

// pace applies the limits of the pace to a request.
func (a *auditor) pace(v *judgedRequest) {
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
		if v.was.Action != enforce.Pass && v.was.Reason != enforce.VisitTime && !a.timesSufficeForGroup(v, &before) {
			*v.was = before
		}
	}
	a.countVerdicts(v)
}

// paceOf returns the tally for the group that limits the crawler's pace.
func (t *crawlerTally) paceOf(v *judgedRequest, a *auditor) *paceTally {
	key := groupKey{v.source, v.now.Group}
	p := t.paces[key]
	if p == nil {
		p = newPaceTally(v.source, &v.now, v.site.longest, func(d time.Duration) bool { return a.timesSuffice(v, d) })
		if t.paces == nil {
			t.paces = make(map[groupKey]*paceTally)
		}
		t.paces[key] = p
	}
	return p
}

// timesSuffice reports whether the time of a request is exact enough to judge a delay.
func (a *auditor) timesSuffice(v *judgedRequest, delay time.Duration) bool {
	return v.exact || delay >= max(minDelay, time.Duration(2*v.resolution))
}

// timesSufficeForGroup reports whether the time of a request is exact enough for all
// limits of a decision's group.
func (a *auditor) timesSufficeForGroup(v *judgedRequest, d *enforce.Decision) bool {
	return newPaceTally(nil, d, v.site.longest, func(delay time.Duration) bool { return a.timesSuffice(v, delay) }).judged
}

// longestDelay returns the longest Crawl-delay that is enforced under rules.
func longestDelay(r *enforce.Settings) time.Duration {
	if r.MaxDelay > 0 {
		return r.MaxDelay
	}
	return throttle.DefaultMaxDelay
}
