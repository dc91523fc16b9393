package audit

import (
	"cmp"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
)

// minDelay is the shortest delay that is judged if the times are exact only to a
// second, or are those of the end of requests. With such times, a crawler that keeps to
// the delay can seem to be a second too early.
const minDelay = 2 * time.Second

// reorderWindow is how much earlier, in nanoseconds, a request may be than those before
// it in the log. Servers write a line when a request has ended.
const reorderWindow = int64(time.Minute)

// maxPending is the largest number of requests that wait to be put in order.
const maxPending = 4096

// pacer puts the requests of crawlers with a limited pace in order of time, and
// applies the limits to them.
type pacer struct {
	waiting []*judgement // the earliest first
	settle  func(*judgement)
}

// add adds a request, and judges those that no earlier request can precede. clock is
// the latest time in the log so far.
func (p *pacer) add(v *judgement, clock int64) {
	i, _ := slices.BinarySearchFunc(p.waiting, v.at+1, func(w *judgement, at int64) int { return cmp.Compare(w.at, at) })
	p.waiting = slices.Insert(p.waiting, i, v)
	p.release(clock - reorderWindow)
}

// release judges the pace of the waiting requests up to a time, and more if there are
// more than maxPending.
func (p *pacer) release(until int64) {
	for len(p.waiting) > 0 && (p.waiting[0].at <= until || len(p.waiting) > maxPending) {
		v := p.waiting[0]
		p.waiting[0] = nil
		p.waiting = p.waiting[1:]
		if v.now.Paced() && v.source != nil && v.crawler != nil {
			v.applyPace(v.host.site.now)
		}
		if v.was != nil && v.was.Paced() {
			v.host.was.now.paceOther(v, v.was)
		}
		p.settle(v)
	}
}

// applyPace applies the limits of the pace to the decision by Site.Robots. Where the times
// of the log are not exact enough for a limit, only Visit-time is applied.
func (v *judgement) applyPace(line *timeline) {
	own := line.limitsOf(v.now.Group)
	line.pace(v, &v.now, v.now.Limits == nil || v.timesSufficeFor(own))
	decided := 0
	switch {
	case v.now.Action == judge.Pass:
	case v.now.Reason == limits.Reason:
		v.source.count(v.source.limitKey(&v.now), v.crawler, true)
	default:
		decided = v.source.paceLine(&v.now, own)
	}
	if v.now.Limits == nil {
		return
	}
	for _, l := range own {
		v.source.count(ruleKey{line: l.line}, v.crawler, l.line == decided)
	}
}

// paceOther applies the limits to a decision that is not by Site.Robots.
func (t *timeline) paceOther(v *judgement, d *judge.Decision) {
	t.pace(v, d, d.Limits == nil || v.timesSufficeFor(t.limitsOf(d.Group)))
}

// pace applies the limits to one of the decisions on a request.
func (t *timeline) pace(v *judgement, d *judge.Decision, judged bool) {
	before := *d
	t.replay.Pace(&v.request, d, t.limits.Enter(new(limits.Request), &v.request, d, nil))
	if d.Reason == limits.Reason {
		judged = v.timesSuffice(t.limits.Shortest)
	}
	if d.Action != judge.Pass && d.Reason != judge.VisitTime && !judged {
		*d = before
	}
}
