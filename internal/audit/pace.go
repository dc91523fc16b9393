package audit

import (
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
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

// pacer puts the requests of crawlers with a limited pace, and those to sites with steps, in
// order of time, and applies limits and steps to them.
type pacer struct {
	waiting []*Judged // the earliest first
	settle  func(*Judged)
}

// add adds a request. It settles the request at once if its decision is final, and those
// that no earlier request can precede. clock is the latest time in the log so far.
func (p *pacer) add(v *Judged, clock int64) {
	if !v.Entry.Timed || !slices.ContainsFunc(v.Rulings, func(r Ruling) bool { return r.isOpen() }) {
		p.settle(v)
		return
	}
	i, _ := slices.BinarySearchFunc(p.waiting, v.Time.Add(1), func(w *Judged, at time.Time) int { return w.Time.Compare(at) })
	p.waiting = slices.Insert(p.waiting, i, v.clone())
	p.release(clock - reorderWindow)
}

// release judges the pace of the waiting requests up to a time, and more if there are
// more than maxPending.
func (p *pacer) release(until int64) {
	for len(p.waiting) > 0 && (p.waiting[0].Time.UnixNano() <= until || len(p.waiting) > maxPending) {
		v := p.waiting[0]
		p.waiting[0] = nil
		p.waiting = p.waiting[1:]
		for i := range v.Rulings {
			if r := &v.Rulings[i]; r.isOpen() {
				r.pace(v)
			}
		}
		p.settle(v)
	}
}

// isOpen reports whether a limit of the pace or a step may still change the decision.
func (r *Ruling) isOpen() bool { return r.Paced() || r.line.chain != nil }

// pace applies the limits of the pace and the steps to a decision. Where the times of the log
// are not exact enough for a limit, only Visit-time is applied.
func (r *Ruling) pace(v *Judged) {
	before, line := r.Decision, r.line
	judged := true
	if line.chain == nil {
		line.replay.Pace(&v.Request, &r.Decision, nil)
	} else {
		line.chain.Decide(v, &r.Decision, line.replay)
		judged = line.chain.Resolution() == 0 || v.timesSuffice(line.chain.Resolution())
	}
	if r.Action != judge.Throttle || r.Reason == judge.VisitTime {
		return
	}
	if r.Reason.Info().Field != "" {
		judged = !slices.ContainsFunc(line.limitsOf(r.Group), func(l limit) bool { return l.per > 0 && !v.timesSuffice(l.per) })
	}
	if !judged {
		r.Decision = before
	}
}
