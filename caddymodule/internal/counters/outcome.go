package counters

import "github.com/caddy-robots/caddy-robots/enforce"

// outcome is the reason for a decision, plus enforce.Reasons if it is Monitored.
type outcome int

const outcomes = 2 * outcome(enforce.Reasons)

// outcomeOf returns the outcome of a decision.
func outcomeOf(d *enforce.Decision) outcome {
	if d.Monitored {
		return outcome(d.Reason) + outcome(enforce.Reasons)
	}
	return outcome(d.Reason)
}

func (o outcome) monitor() bool          { return o >= outcome(enforce.Reasons) }
func (o outcome) reason() enforce.Reason { return enforce.Reason(o % outcome(enforce.Reasons)) }
func (o outcome) action() enforce.Action { return actions[o.reason()] }

// actions has the action of each reason.
var actions = func() (list [enforce.Reasons]enforce.Action) {
	for _, r := range []enforce.Reason{enforce.Disallowed, enforce.Impostor, enforce.Unavailable, enforce.Hidden, enforce.Suspected} {
		list[r] = enforce.Deny
	}
	for _, r := range []enforce.Reason{enforce.RulesPending, enforce.CrawlDelay, enforce.RequestRate, enforce.VisitTime, enforce.Shed,
		enforce.OverLimit} {
		list[r] = enforce.Throttle
	}
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
	measures
)

// measure returns what counts the requests with an outcome, besides requests.
func (o outcome) measure() measure {
	m := requests + measure(o.action())
	if o.monitor() && m != requests {
		m += wouldDeny - denied
	}
	return m
}
