package counters

import (
	"iter"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// outcome is the reason for a decision, and whether it is Monitored.
type outcome int

func newOutcome(r judge.Reason, monitored bool) outcome {
	if monitored {
		return outcome(r)<<1 | 1
	}
	return outcome(r) << 1
}

// outcomes returns all outcomes, by the names that they have in files, such as
// "monitor disallowed".
func outcomes() iter.Seq2[outcome, string] {
	return func(yield func(outcome, string) bool) {
		for r := range judge.Reasons() {
			for _, o := range [...]outcome{newOutcome(r, false), newOutcome(r, true)} {
				if !yield(o, o.String()) {
					return
				}
			}
		}
	}
}

// outcomeOf returns the outcome of a decision.
func outcomeOf(d *judge.Decision) outcome { return newOutcome(d.Reason, d.Monitored) }

// String returns a name such as "monitor disallowed".
func (o outcome) String() string {
	if o.monitor() {
		return "monitor " + o.reason().String()
	}
	return "enforce " + o.reason().String()
}

func (o outcome) monitor() bool        { return o&1 != 0 }
func (o outcome) reason() judge.Reason { return judge.Reason(o >> 1) }
func (o outcome) action() judge.Action { return o.reason().Info().Action }

// byOutcome has a value for each outcome that occurred, because few occur with one crawler.
// Lookups take no lock.
type byOutcome[T any] struct{ first atomic.Pointer[occurred[T]] }

type occurred[T any] struct {
	outcome
	value T
	next  *occurred[T]
}

// at returns the value of an outcome, and adds a zero value if there is none.
func (b *byOutcome[T]) at(o outcome) *T {
	for {
		first := b.first.Load()
		for e := first; e != nil; e = e.next {
			if e.outcome == o {
				return &e.value
			}
		}
		b.first.CompareAndSwap(first, &occurred[T]{outcome: o, next: first})
	}
}

// all returns the values.
func (b *byOutcome[T]) all() iter.Seq2[outcome, *T] {
	return func(yield func(outcome, *T) bool) {
		for e := b.first.Load(); e != nil && yield(e.outcome, &e.value); e = e.next {
		}
	}
}

// measure is what is counted of a crawler. A line has counts of those up to
// wouldThrottle, with the requests that it allowed as requests.
type measure int

const (
	requests measure = iota
	denied
	throttled
	wouldDeny
	wouldThrottle
	verified
	unverified
	impostors
	verifiedRefused
	claimsRefused
	verifiedWould // be refused
	measures
)

// measure returns what counts the requests with an outcome, besides requests.
func (o outcome) measure() measure {
	action := o.action()
	switch {
	case action == judge.Pass:
		return requests
	case action == judge.Ask: // it also gets status 429
		action = judge.Throttle
	}
	m := requests + measure(action)
	if o.monitor() {
		m += wouldDeny - denied
	}
	return m
}
