package limits

import (
	"slices"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Request is a request that limits hold. A nil Request uses nothing.
type Request struct {
	turns *Turns
	uses  []enforce.Use
	taken []turn
}

// turn is a request in flight, as one that a line counts.
type turn struct {
	key    throttle.Key
	shared bool   // crawlers share the turns of the line
	who    uint64 // the crawler, if they do
}

// requests are reused, so that none is allocated.
var requests = sync.Pool{New: func() any { return new(Request) }}

// atOnceRetry is the Retry-After for a request that is refused because too many
// are in flight. When one of them ends is not known.
const atOnceRetry = 5 * time.Second

// Enter counts a request that is let through as one in flight, for the limits of all its
// crawlers. If one of them has too many, it refuses the request. It returns nil if no limit
// holds the request; otherwise the caller must call Leave.
func (s *Set) Enter(r *judge.Request, d *judge.Decision) *Request { return s.hold(r, d, true) }

// Rates is Enter without the limits of requests at once, which are not known of past requests.
func (s *Set) Rates(r *judge.Request, d *judge.Decision) *Request { return s.hold(r, d, false) }

// hold is Enter, and without inFlight Rates.
func (s *Set) hold(r *judge.Request, d *judge.Decision, inFlight bool) *Request {
	var q *Request
	refusedBy, refused := -1, (*bound)(nil)
	s.each(r, d, func(subject, i int, as role) {
		if refused != nil {
			return
		}
		if q == nil {
			q = requests.Get().(*Request)
			q.turns = s.turns
		}
		refused, refusedBy = s.enter(q, r, d, subject, i, as, inFlight), subject
	})
	if refused != nil {
		q.Withdraw()
		d.Blame(refusedBy)
		d.Refuse(Reason, &refused.place, atOnceRetry)
	}
	return q
}

// enter notes what a subject uses of a limit, and takes its turns. It returns the line that
// refuses the request; nil if none does.
func (s *Set) enter(q *Request, r *judge.Request, d *judge.Decision, subject, i int, as role, inFlight bool) *bound {
	l, settings, by := &s.list[i], d.Rules.Compiled(), d.At(subject)
	of := as.poolOf(by)
	halved := l.bounds[boundAll].half != nil && of == poolCrawlers && l.halves(r.Time, by)
	for n := boundCount - 1; n >= 0; n-- { // each_at_once first: it says more than half of at_once
		b := &l.bounds[n]
		if b.place.Text == "" {
			continue
		}
		key := s.key(r, settings, by, i, n, of)
		if b.atOnce > 0 {
			if inFlight && !q.enter(key, b, by, r.Time.UnixNano()) {
				return b
			}
			continue
		}
		q.use(key, b.rate, subject, b)
		if b.half != nil && halved {
			q.use(s.key(r, settings, by, i, n, poolInvented), b.half, subject, b)
		}
	}
	return nil
}

// enter takes a turn of a line, unless the request has one: crawlers that share turns take
// one together.
func (q *Request) enter(key throttle.Key, b *bound, by *judge.Subject, now int64) bool {
	if slices.ContainsFunc(q.taken, func(t turn) bool { return t.key == key }) {
		return true
	}
	t := turn{key: key, shared: !b.each}
	if t.shared {
		t.who = sharer(by)
	}
	if !q.turns.take(t, b.atOnce, now) {
		return false
	}
	q.taken = append(q.taken, t)
	return true
}

// use notes a budget that the request uses.
func (q *Request) use(key throttle.Key, rate *throttle.Limits, subject int, b *bound) {
	q.uses = append(q.uses, enforce.Use{Use: throttle.Use{Key: key, Limits: rate}, Subject: subject, Why: Reason, Line: &b.place})
}

// Uses returns the budgets that the request uses, until Leave.
func (q *Request) Uses() []enforce.Use {
	if q == nil {
		return nil
	}
	return q.uses
}

// Withdraw ends the turns of a request that was refused. It may be called again.
func (q *Request) Withdraw() {
	if q == nil {
		return
	}
	for _, t := range q.taken {
		q.turns.leave(t)
	}
	q.taken = q.taken[:0]
}

// Leave ends a request. q must not be used after it.
func (q *Request) Leave() {
	if q == nil {
		return
	}
	q.Withdraw()
	q.uses = q.uses[:0]
	requests.Put(q)
}
