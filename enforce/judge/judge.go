// Package judge decides what the clients of a site may do by its robots.txt: which
// group applies to each crawler, what the path rules say, and which limits hold a
// request. It is pure: it knows nothing but what it is given, with the time, and does no
// I/O.
package judge

import (
	"slices"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

const (
	// pendingRetry is the Retry-After for a crawler while no rules could be
	// fetched yet.
	pendingRetry = 5 * time.Second
	// unavailableRetry is the Retry-After for a crawler while the source fails
	// and crawlers are denied everything meanwhile.
	unavailableRetry = time.Minute
)

// views has Views that are free for use.
var views = sync.Pool{New: func() any { return new(robots.Views) }}

// viewsOf returns the views of a target. The caller puts them back into views.
func (s *Compiled) viewsOf(target string) *robots.Views {
	v := views.Get().(*robots.Views)
	v.Reset(target, s.Views)
	return v
}

// Judge decides on the request of a client by the path rules, and writes the decision
// to d. It stops at the first crawler that is not let through. If all are let through, d
// is about a crawler that a group applies to, if there is one: the first that has
// Limits, or otherwise the last. The others that have limits go to d.Others. If some of
// the crawlers are only monitored, d is about the others.
//
// Judge depends on nothing but c: it does no I/O, takes no lock and allocates nothing,
// unless several crawlers are limited. A Client may be judged again after a change of
// its Request.
func (c *Client) Judge(d *Decision) {
	*d = Decision{}
	settings := c.rules.settings
	if !c.robotsTxt && !c.IsPerson() {
		c.views = settings.viewsOf(c.request.Target)
		defer views.Put(c.views)
	}
	mode := settings.ModeOf(c.request)
	enforced := mode.some && (c.isEnforced(mode) || slices.ContainsFunc(c.before, func(n identified) bool { return n.isEnforced(mode) }))
	if len(c.before) > 0 {
		last := c.identified
		for i := range c.before {
			c.identified = c.before[i]
			c.judge(d, enforced)
		}
		c.identified = last
	}
	c.judge(d, enforced)
	d.Rules, d.Addr = c.rules, c.addr
	d.Monitored = mode.Monitors(d.Agent.Crawler)
}

// judge goes on with Judge for the agents that Next found last; with enforced, only for
// those that are not only monitored.
func (c *Client) judge(d *Decision, enforced bool) {
	for i := range c.Agents() {
		if d.Action == Pass && !(enforced && c.rules.settings.ModeOf(c.request).Monitors(c.Agents()[i].Crawler)) {
			c.judgeAgent(i, d)
		}
	}
}

// isEnforced reports whether one of the agents is not only monitored.
func (n *identified) isEnforced(mode *Mode) bool {
	return slices.ContainsFunc(n.Agents(), func(a crawler.Agent) bool { return !mode.Monitors(a.Crawler) })
}

// judgeAgent judges agent i.
func (c *Client) judgeAgent(i int, d *Decision) {
	p, a, said := c.rules, &c.Agents()[i], c.claims[i]
	if c.robotsTxt || p.settings.exemptPaths.MatchViews(c.views).Allowed {
		c.pass(d, i, ExemptPath, nil)
		return
	}
	if c.IsExempt(i) {
		c.pass(d, i, Exempt, nil)
		return
	}
	if said.State == claim.Impostor && !c.verification.IgnoreImpostors {
		*d = Decision{Action: Deny, Reason: Impostor, Subject: Subject{Agent: *a, Claim: said}}
		return
	}
	if h := c.hiddenRule(a); h != nil {
		added := c.rules.settings.additions
		*d = Decision{Action: Deny, Reason: added.HiddenReason, Subject: Subject{Agent: *a, Claim: said}, Layer: added.HiddenLayer, Line: h.Line, hidden: h}
		return
	}
	w := c.matchPath(p, a)
	c.hold(a, &w)
	switch {
	case (p.content.Outcome == Pending || p.content.DenyAll) && !w.denied(): // only the lines of the operator are known
		c.judgeWithoutRules(i, d)
		return
	case w.byStar && !c.rules.settings.Strict && c.request.IsNoCrawling(a):
		c.pass(d, i, NotCrawling, nil)
		return
	case w.group == nil:
		reason := Unbound
		if p.content.Outcome != Loaded {
			reason = NoRules
		}
		c.pass(d, i, reason, nil)
		return
	case w.allowed:
		c.pass(d, i, Allowed, &w)
		return
	}
	if version := c.allowingVersion(i); version != nil {
		if c.pass(d, i, Graced, &w) {
			d.Version = version
		}
		return
	}
	*d = Decision{Action: Deny, Reason: Disallowed, Subject: Subject{Agent: *a, Claim: said}}
	d.decidedBy(p, &w)
	d.Limits = nil
}

// judgeWithoutRules judges agent i while the rules are not known.
func (c *Client) judgeWithoutRules(i int, d *Decision) {
	a, said := &c.Agents()[i], c.claims[i]
	switch {
	case !c.CouldBind(i):
		c.pass(d, i, NoRules, nil)
	case c.rules.Content().Outcome == Pending:
		*d = Decision{Action: Throttle, Reason: RulesPending, Subject: Subject{Agent: *a, Claim: said}, RetryAfter: pendingRetry}
	default:
		*d = Decision{Action: Deny, Reason: Unavailable, Subject: Subject{Agent: *a, Claim: said}, RetryAfter: unavailableRetry}
	}
}

// pathVerdict is the result of a file's path rules for an agent.
type pathVerdict struct {
	group   *robots.Group // that applies to the agent; nil if none does
	limits  *throttle.Limits
	perAddr bool // limits hold each client address
	byStar  bool // group is the one for `*`
	allowed bool
	rule    robots.Rule    // that decided; the zero Rule if none matched
	reading robots.Dialect // see Decision.Reading
}

// denied reports whether a group disallows the path.
func (w *pathVerdict) denied() bool { return w.group != nil && !w.allowed }

// matchPath finds the group of p that applies to an agent, and matches its rules
// with the path of the request.
func (c *Client) matchPath(p *Rules, a *crawler.Agent) (w pathVerdict) {
	plan := p.plan(a)
	if plan.group == nil || plan.byStar && !c.starApplies(a) {
		return w
	}
	verdict := plan.group.MatchViews(c.views)
	w = pathVerdict{group: plan.group, limits: plan.limits, byStar: plan.byStar, allowed: verdict.Allowed, rule: verdict.Rule()}
	if !verdict.Allowed && plan.reads {
		if google := plan.google.MatchViews(c.views); google.Allowed {
			w.allowed, w.rule, w.reading = true, google.Rule(), robots.Google
		}
	}
	return w
}

// starApplies reports whether the group for `*` applies to this request of an
// agent. BoundByStar must be true for the agent.
func (c *Client) starApplies(a *crawler.Agent) bool {
	return a.Class != crawler.UserTriggered || c.request.Reads()
}

// CouldBind reports whether a robots.txt that is not known yet could apply to
// agent i. It returns false for HTTP libraries, programs, webhooks and probes
// that the group for `*` does not apply to, and for a request that is no
// crawling. A group could name them, but this is rare, so they are let through
// until the robots.txt is known, unless an earlier file named them.
func (c *Client) CouldBind(i int) bool {
	applies := true
	switch class := c.Agents()[i].Class; {
	case c.rules.wasNamed(c.Agents()[i].Crawler):
	case class == crawler.Person || class == crawler.Webhook || class == crawler.Probe:
		applies = false
	case class == crawler.SelfDeclared:
		applies = c.rules.settings.Strict || !c.request.IsNoCrawling(&c.Agents()[i])
	case class == crawler.Library || class == crawler.Program:
		applies = c.rules.settings.holds(class)
	case class == crawler.UserTriggered:
		applies = c.request.Reads()
	}
	return applies && !c.IsExempt(i)
}

// decidedBy records the group and the rule that decided.
func (d *Decision) decidedBy(p *Rules, w *pathVerdict) {
	d.Group, d.Limits, d.PerAddr, d.Rule, d.Reading = w.group, w.limits, w.perAddr, w.rule, w.reading
	if w.rule.Line > 0 {
		d.from(p, w.rule.Line)
	}
}

// pass lets agent i through, for a reason; w is nil if no group applies to it. If a
// group applies to the agent that d is about, d stays about that agent, unless it
// has no Limits and a group applies to this agent too. The other one of the two goes
// to d.Others. pass reports whether d is now about this agent.
func (c *Client) pass(d *Decision, i int, why Reason, w *pathVerdict) bool {
	s := Subject{Agent: c.Agents()[i], Claim: c.claims[i]}
	s.Bound = c.isBound(&s.Agent, why)
	if w != nil {
		s.Group, s.Limits, s.PerAddr = w.group, w.limits, w.perAddr
	}
	var before Subject
	switch {
	case d.Reason == Person: // the first agent
	case d.Reason.hasGroup() && !(why.hasGroup() && d.Limits == nil):
		d.add(&s)
		return false
	default:
		before = d.Subject
		*d = Decision{Others: d.Others}
	}
	d.Reason, d.Subject = why, s
	if w != nil {
		d.decidedBy(c.rules, w)
	}
	d.add(&before)
	return true
}

// add adds a crawler to d.Others, if it has Limits or is Bound, d does not have it already,
// and there is room.
func (d *Decision) add(s *Subject) {
	if (s.Limits != nil || s.Bound) && len(d.Others) < maxNamed-1 && !d.names(&s.Agent) {
		if d.Others == nil {
			d.Others = make([]Subject, 0, maxNamed-1)
		}
		d.Others = append(d.Others, *s)
	}
}

// hasGroup reports whether a group applies to a request that was let through
// for this reason.
func (r Reason) hasGroup() bool { return r == Allowed || r == Graced }
