package enforce

import (
	"net/http"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/robots"
)

// pendingRetry is the Retry-After for a crawler while no policy could be read
// yet.
const pendingRetry = 5 * time.Second

// views holds the views of paths that are being judged.
var views = sync.Pool{New: func() any { return new(robots.Views) }}

// viewsOf returns the views of a target. Put them back into views.
func (r *compiledRules) viewsOf(target string) *robots.Views {
	v := views.Get().(*robots.Views)
	v.Reset(target, r.Views)
	return v
}

// Check identifies the sender of a request by each User-Agent field, judges all
// crawlers that are named, until one of them is denied, and writes the decision
// to d. It does what Engine.Decide does, but never waits and ignores the pace.
func (p *Policy) Check(r *Request, d *Decision) {
	p.check(r, nil, nil, d)
}

// CheckBefore is Check for a crawler that read an earlier version of the file,
// which p replaced at the time of the request, and has not read p's yet. Both
// policies are under the same Rules.
func (p *Policy) CheckBefore(r *Request, before *Policy, d *Decision) {
	now := r.Time.UnixNano()
	p.check(r, nil, []Version{{policy: before, until: now}}, d)
}

// check is like Check, but takes from e which crawlers have read the
// robots.txt, and which versions of it there were. Without e, nobody has read
// it, and every crawler may know the earlier versions that are given.
func (p *Policy) check(r *Request, e *Engine, before []Version, d *Decision) {
	*d = Decision{}
	var v *robots.Views
	var s senders
	for s.begin(p, r); s.next() && d.Action == Pass; {
		if v == nil {
			v = p.rules.viewsOf(r.Target)
		}
		ask := r.ask()
		ask.Evidence = s.evidence()
		if e != nil {
			ask.ReadRobots = p.rules.Programs == ProgramsSeen && hasRead(e.readers, r, &s.id)
			before = e.earlier(r, s.agents())
		}
		if before != nil {
			var earlier Earlier
			earlier.fill(before, &s, e)
			ask.Earlier = &earlier
		} else if e != nil {
			e.see(r, s.agents(), ask.Evidence)
		}
		p.Judge(s.agents(), &ask, v, d)
	}
	if v != nil {
		views.Put(v)
	}
	d.Policy, d.addr = p, s.store.Addr
}

// Ask holds what decides, in addition to the path, whether a rule binds a
// request.
type Ask struct {
	Method     string // "" means GET
	Authorized bool   // it has an Authorization field
	ReadRobots bool   // its sender read the robots.txt in the last 24 hours

	// Evidence is what is known about the sender in addition to the User-Agent;
	// nil if only the User-Agent counts.
	Evidence *Evidence

	// Earlier has the earlier versions of the file that the sender may follow;
	// nil if there are none.
	Earlier *Earlier
}

// reads reports whether the request only reads.
func (a Ask) reads() bool {
	return a.Method == "" || a.Method == http.MethodGet || a.Method == http.MethodHead
}

// Judge writes to d what p decides for the crawlers that a request names, about
// the path in v. It stops at the first crawler that is not let through. If all
// are let through, d is about the first one that a group binds. If an earlier
// User-Agent field of the same request has already named a crawler that a group
// binds, d stays about that one.
//
// Judge is pure: it does no I/O, takes no lock and allocates nothing. Live
// requests, commands and replayed logs all call it.
func (p *Policy) Judge(agents []crawler.Agent, ask *Ask, v *robots.Views, d *Decision) {
	for i := range agents {
		if p.judge(&agents[i], i, ask, v, d); d.Action != Pass {
			return
		}
	}
}

// judge judges one crawler, the one at place i among those that ask is about.
func (p *Policy) judge(a *crawler.Agent, i int, ask *Ask, v *robots.Views, d *Decision) {
	claim := ask.Evidence.claim(i)
	if p.rules.exemptPaths.MatchViews(v).Allowed {
		d.pass(a, claim, ExemptPath)
		return
	}
	if p.rules.isExempt(a, claim, ask.Evidence) {
		d.pass(a, claim, Exempt)
		return
	}
	if claim.State == verify.Impostor && !p.rules.Verification.IgnoreImpostors {
		*d = Decision{Action: Deny, Reason: Impostor, Agent: *a, Claim: claim}
		return
	}
	if h := p.rules.hidden.match(v); h != nil && p.rules.hides(a, ask) {
		*d = Decision{Action: Deny, Reason: Hidden, Agent: *a, Claim: claim, Layer: HiddenLayer, Line: h.Line, hidden: h}
		return
	}
	if p.state == Pending || p.denyAll {
		p.withoutRules(a, claim, ask, d)
		return
	}
	w := p.weigh(a, ask, v)
	switch {
	case w.group == nil:
		reason := Unbound
		if p.state != Loaded {
			reason = NoPolicy
		}
		d.pass(a, claim, reason)
		return
	case w.allowed:
		if d.pass(a, claim, Allowed) {
			d.decidedBy(p, &w)
		}
		return
	}
	if version := ask.Earlier.allows(i, a, ask, v); version != nil {
		if d.pass(a, claim, Graced) {
			d.decidedBy(p, &w)
			d.Version = version
		}
		return
	}
	*d = Decision{Action: Deny, Reason: Disallowed, Agent: *a, Claim: claim}
	d.decidedBy(p, &w)
	d.Terms = nil
}

// weighed is the result of a file's path rules for an agent.
type weighed struct {
	group   *robots.Group // that binds the agent; nil if none does
	terms   *throttle.Terms
	allowed bool
	rule    *robots.Rule   // that decided; nil if none matched
	reading robots.Dialect // robots.Google where only the file as read in its dialect disallows the path
}

// weigh finds the group that binds an agent, and what its rules say about the
// path.
func (p *Policy) weigh(a *crawler.Agent, ask *Ask, v *robots.Views) (w weighed) {
	plan := p.plan(a)
	if plan.group == nil || plan.byStar && !p.rules.starBinds(a, ask) {
		return w
	}
	verdict := plan.group.MatchViews(v)
	w = weighed{group: plan.group, terms: plan.terms, allowed: verdict.Allowed, rule: verdict.Rule}
	if !verdict.Allowed && plan.reads {
		if google := plan.google.MatchViews(v); google.Allowed {
			w.allowed, w.rule, w.reading = true, google.Rule, robots.Google
		}
	}
	return w
}

// decidedBy notes which line of p's file decided.
func (d *Decision) decidedBy(p *Policy, w *weighed) {
	d.Group, d.Terms, d.Rule, d.Reading = w.group, w.terms, w.rule, w.reading
	if w.rule != nil {
		d.from(p, w.rule.Line)
	}
}

// withoutRules judges a crawler while there are no rules to judge it by.
func (p *Policy) withoutRules(a *crawler.Agent, claim verify.Result, ask *Ask, d *Decision) {
	switch {
	case !p.rules.bindable(a, claim, ask):
		d.pass(a, claim, NoPolicy)
	case p.state == Pending:
		*d = Decision{Action: Throttle, Reason: PolicyPending, Agent: *a, Claim: claim, RetryAfter: pendingRetry}
	default:
		*d = Decision{Action: Deny, Reason: Unavailable, Agent: *a, Claim: claim, RetryAfter: unavailableRetry}
	}
}

// unavailableRetry is the Retry-After for a crawler while the source of the
// robots.txt fails and the operator has crawlers refused then.
const unavailableRetry = time.Minute

// pass lets an agent through, for a reason, unless d is about another one that
// robots.txt binds and that was let through already. It reports whether d is
// now about this agent.
func (d *Decision) pass(a *crawler.Agent, claim verify.Result, why Reason) bool {
	if d.Reason.bound() && (!why.bound() || d.Terms != nil) {
		return false
	}
	*d = Decision{Reason: why, Agent: *a, Claim: claim}
	return true
}

// bound reports whether a request that was let through for this reason is one
// that a group binds.
func (r Reason) bound() bool { return r == Allowed || r == Graced }

// DisallowsStar reports whether the file disallows a request target to the
// crawlers that it does not name. It does not matter who sent the request.
// Exempt paths are not disallowed.
func (p *Policy) DisallowsStar(target string) bool {
	star := p.file.Star()
	if star == nil {
		return false
	}
	v := p.rules.viewsOf(target)
	defer views.Put(v)
	return !p.rules.exemptPaths.MatchViews(v).Allowed && !star.MatchViews(v).Allowed
}
