package limits

import (
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Request is a request in flight, as limits count it. The zero value is one that none counts.
type Request struct {
	turns *Turns
	taken []turn
}

// atOnceRetry is the Retry-After for a request that is refused because too many
// are in flight. When one of them ends is not known.
const atOnceRetry = 5 * time.Second

// Enter counts a request that is let through as one in flight, for the limits of all its
// crawlers, until q is reset. If one of them has too many, it refuses the request. It returns
// uses with the budgets that the request uses.
func (s *Set) Enter(q *Request, r *judge.Request, d *judge.Decision, uses []enforce.Use) []enforce.Use {
	q.turns = s.turns
	for h := range s.holds(r, d) {
		by := d.At(h.subject)
		key := h.key(r, d.Rules.Compiled(), by)
		switch {
		case h.atOnce > 0:
			if !q.take(h, key, by, r.Time.UnixNano()) {
				q.Reset()
				d.Blame(h.subject)
				d.Refuse(Reason, h.place, atOnceRetry)
				return uses
			}
		case !h.invented || h.othersCame(r.Time):
			uses = append(uses, enforce.Use{Use: throttle.Use{Key: key, Limits: h.rate}, Subject: h.subject, Why: Reason, Line: h.place})
		}
		if !isInvented(&by.Agent) {
			h.note(r.Time)
		}
	}
	return uses
}

// take takes a turn of a line, unless the request has one: crawlers that share turns take
// one together. Of these turns, no crawler holds more than half, rounded up, while others come:
// otherwise the first one that answers are slow for shuts out all others.
func (q *Request) take(h hold, key throttle.Key, by *judge.Subject, now int64) bool {
	if q.turns == nil || slices.ContainsFunc(q.taken, func(t turn) bool { return t.key == key }) {
		return true
	}
	t, own := turn{key: key}, h.atOnce
	if !h.each {
		t.who = sharer(by)
		if h.visitors.note(t.who, now) {
			own = (h.atOnce + 1) / 2
		}
	}
	if !q.turns.take(t, h.atOnce, own) {
		return false
	}
	q.taken = append(q.taken, t)
	return true
}

// Reset ends the request. It may be called again.
func (q *Request) Reset() {
	for _, t := range q.taken {
		q.turns.leave(t)
	}
	q.taken = q.taken[:0]
}

// leastCame is the least time for which invented names get half after a crawler came that
// nobody can invent.
const leastCame = time.Minute

// note notes that a crawler came whose name nobody can invent.
func (l *limit) note(now time.Time) {
	if now.Sub(time.Unix(0, l.came.Load())).Abs() >= time.Second {
		l.came.Store(now.UnixNano())
	}
}

// othersCame reports whether crawlers whose names nobody can invent came in the time of the
// rate: then invented ones get only half of what all share. Otherwise many names would shut
// out all crawlers that have only one.
func (l *line) othersCame(now time.Time) bool {
	return now.Sub(time.Unix(0, l.came.Load())).Abs() <= max(l.per, leastCame) // a clock can be set back
}
