package judge

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Decision is the decision on one request, with the reason for it. Decide and
// Check overwrite all of it, so it can be used again for another request.
type Decision struct {
	Action Action
	Reason Reason
	// Monitored says that the caller lets the request through whatever Action
	// says; see Settings.Monitor.
	Monitored bool
	// Rules are those that were applied. They are never nil after Decide.
	Rules *Rules
	// Subject is the crawler that the decision is about. If a User-Agent names
	// several crawlers, it is the one that determined the decision. The Class of its
	// Agent is crawler.Person if there is none.
	Subject
	// Rule is the rule that decided; the zero Rule if none matched.
	Rule robots.Rule
	// Others are further crawlers that the request names, if it was let through and
	// they have Limits or are Bound: at most three.
	Others []Subject
	// Layer says where Line comes from.
	Layer Layer
	// Line is the number, from 1, of the line that decided: a rule,
	// Crawl-delay, Request-rate or Visit-time, or one of a step. Layer says whether it is in the
	// site's own robots.txt or in the configuration. It is 0 if no line
	// decided.
	Line int
	// Reading is robots.Google if Google's parser (google/robotstxt) reads the
	// file differently, and this difference is why the request was let through:
	// the file disallows the path in the dialect of Settings.Dialect, but allows
	// it as Google's parser reads it. This concerns only crawlers that use
	// Google's parser. Otherwise Reading is 0.
	Reading robots.Dialect
	// Version is the earlier version of the robots.txt that let the request
	// through, if Reason is Graced; otherwise nil. Rule, Layer and Line then
	// belong to the version in force, which disallows the path.
	Version *Version
	// RetryAfter is how long the client should wait before it repeats a request
	// that is throttled, or that is denied with reason Unavailable.
	RetryAfter time.Duration
	// Used reports that the request has used budget.
	Used bool
	// Addr is the client's address; set only if the rules use more than the User-Agent.
	Addr netip.Addr

	hidden *robots.Rule // if Reason is Hidden
	place  *Place       // of Refuse
}

// maxNamed is how many crawlers of a request are held to their limits.
const maxNamed = 4

// Subject is a crawler that a request names, and what holds it.
type Subject struct {
	Agent crawler.Agent
	// Claim is the result of verification for the agent.
	Claim claim.Result
	// Group is the group that applies to the agent; nil if none does.
	Group *robots.Group
	// Limits are the rate limits and Visit-time windows that the group sets for
	// this agent; nil if it sets none.
	Limits *throttle.Limits
	// PerAddr says that Limits hold each client address, and not the agent.
	PerAddr bool
	// Bound says, with Settings.StepBudgets, that the request is let through, and that the
	// robots.txt binds the agent, or would if it had a group for `*`: so it is none of a
	// person, a webhook or a probe, nor of what is exempt. It is also true for NoCrawling.
	Bound bool
}

// At returns subject i of those that the decision has: 0 is Subject, the others follow.
func (d *Decision) At(i int) *Subject {
	if i == 0 {
		return &d.Subject
	}
	return &d.Others[i-1]
}

// Len returns the number of subjects, for At.
func (d *Decision) Len() int { return 1 + len(d.Others) }

// Blame makes subject i the one that the decision, which now refuses the request, is about.
func (d *Decision) Blame(i int) {
	if i > 0 {
		d.Subject, d.Others[i-1] = d.Others[i-1], d.Subject
		d.Rule, d.Reading, d.Version = robots.Rule{}, 0, nil
	}
}

// Throttle turns d into a decision to throttle the request because of the limits of
// its group.
func (d *Decision) Throttle(res throttle.Result) {
	d.Action, d.RetryAfter = Throttle, res.RetryAfter
	if d.Version != nil { // the rule that disallows the path is not the reason
		d.Version, d.Rule = nil, robots.Rule{}
	}
	d.from(d.Rules, res.Line)
	switch res.Reason {
	case throttle.RequestRate:
		d.Reason = RequestRate
	case throttle.VisitTime:
		d.Reason = VisitTime
	default:
		d.Reason = CrawlDelay
	}
}

// Paced reports whether rate limits, Visit-time or budgets of steps can still change the
// decision: see Pace of the engine.
func (d *Decision) Paced() bool {
	return d.Action == Pass && (d.Limits != nil || d.Bound || len(d.Others) > 0)
}

// AnyBound reports whether any of the subjects is Bound.
func (d *Decision) AnyBound() bool {
	return d.Bound || slices.ContainsFunc(d.Others, func(s Subject) bool { return s.Bound })
}

// names reports whether d has a crawler among its subjects.
func (d *Decision) names(a *crawler.Agent) bool {
	for i := range d.Len() {
		if sameBudget(&d.At(i).Agent, a) {
			return true
		}
	}
	return false
}

// sameBudget reports whether two agents are the same crawler, which has one budget.
func sameBudget(a, b *crawler.Agent) bool { return strings.EqualFold(a.Name(), b.Name()) }

// Name returns the crawler's name in the registry or, if the registry does not
// have it, the token that the client sent. A client can send any token.
func (d *Decision) Name() string { return d.Agent.Name() }

// GroupToken returns the product token by which the agent got the group: see
// Rules.TokenOf.
func (d *Decision) GroupToken() string {
	if d.Rules == nil {
		return d.Group.Token()
	}
	return d.Rules.TokenOf(&d.Agent, d.Group)
}

// VersionTag returns the tag (see Rules.Tag) of the version of the robots.txt
// that decided: the earlier one that let the request through, or otherwise the
// one in force.
func (d *Decision) VersionTag() string {
	switch {
	case d.Version != nil:
		return d.Version.Rules.Tag()
	case d.Rules != nil:
		return d.Rules.Tag()
	}
	return ""
}

// RuleText returns the line of robots.txt that decided: an Allow or Disallow
// rule or, if the request was throttled, a Crawl-delay, Request-rate or
// Visit-time, or the Text of a Place. It returns "" if no line decided.
func (d *Decision) RuleText() string {
	switch {
	case d.place != nil:
		return d.place.Text
	case d.Action == Throttle && d.Group != nil:
		return d.limitText()
	case d.Rule.Line == 0:
		return ""
	}
	return d.Rule.String()
}

// limitText returns the line of d.Group that throttled the request, or "" if
// there is none.
func (d *Decision) limitText() string {
	switch d.Reason {
	case CrawlDelay:
		if delay, ok := d.Group.CrawlDelay(); ok {
			return "Crawl-delay: " + delay.String()
		}
	case RequestRate:
		for _, r := range d.Group.RequestRates() {
			if d.isFrom(r.Line) {
				return "Request-rate: " + r.String()
			}
		}
	case VisitTime:
		for _, v := range d.Group.VisitTimes() {
			if d.isFrom(v.Line) {
				return "Visit-time: " + v.Window.String()
			}
		}
	}
	return ""
}

// isFrom reports whether d.Layer and d.Line are those of a line of the file
// in force.
func (d *Decision) isFrom(line int) bool {
	layer, at := d.Rules.Origin(line)
	return layer == d.Layer && at == d.Line
}
