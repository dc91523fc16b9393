package counters

import (
	"iter"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// outcome is the reason for a decision, plus judge.Reasons if it is Monitored.
type outcome int

const outcomes = 2 * outcome(judge.Reasons)

// outcomeOf returns the outcome of a decision.
func outcomeOf(d *judge.Decision) outcome {
	if d.Monitored {
		return outcome(d.Reason) + outcome(judge.Reasons)
	}
	return outcome(d.Reason)
}

func (o outcome) monitor() bool        { return o >= outcome(judge.Reasons) }
func (o outcome) reason() judge.Reason { return judge.Reason(o % outcome(judge.Reasons)) }
func (o outcome) action() judge.Action { return actions[o.reason()] }

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

// actions has the action of each reason.
var actions = func() (list [judge.Reasons]judge.Action) {
	for _, r := range []judge.Reason{judge.Disallowed, judge.Impostor, judge.Unavailable, judge.Hidden, judge.Suspected} {
		list[r] = judge.Deny
	}
	for _, r := range []judge.Reason{judge.RulesPending, judge.CrawlDelay, judge.RequestRate, judge.VisitTime, judge.Shed,
		judge.OverLimit, judge.Strangers} {
		list[r] = judge.Throttle
	}
	list[judge.Stranger] = judge.Ask
	return list
}()

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
	disguised // with a browser's User-Agent; not among requests
	measures
)

// measure returns what counts the requests with an outcome, besides requests.
func (o outcome) measure() measure { return measuresOf[o] }

var measuresOf = func() (list [outcomes]measure) {
	for o := range outcomes {
		action := o.action()
		if action == judge.Ask { // it also gets status 429
			action = judge.Throttle
		}
		if list[o] = requests + measure(action); o.monitor() && list[o] != requests {
			list[o] += wouldDeny - denied
		}
	}
	return list
}()
