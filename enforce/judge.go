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

// views has Views that are free for use.
var views = sync.Pool{New: func() any { return new(robots.Views) }}

// viewsOf returns the views of a target. The caller puts them back into views.
func (r *compiledSettings) viewsOf(target string) *robots.Views {
	v := views.Get().(*robots.Views)
	v.Reset(target, r.Views)
	return v
}

// Check identifies the crawlers that the User-Agent fields of a request name,
// judges one after the other until one is denied, and writes the decision to d.
// It is like Engine.Decide, but never waits, and ignores rate limits and
// Visit-time.
func (p *Rules) Check(r *Request, d *Decision) {
	p.check(r, nil, nil, d)
}

// CheckBefore is like Check for a request at the moment at which p replaces
// before. It assumes that the crawler has read the file of before, but not yet
// the file of p, so it can have a grace period. Both policies must be made by
// the same Rules.
func (p *Rules) CheckBefore(r *Request, before *Rules, d *Decision) {
	now := r.Time.UnixNano()
	p.check(r, nil, []Version{{rules: before, until: now}}, d)
}

// check is Check with what e knows: which crawlers have read the robots.txt,
// and which earlier versions it has. If e is nil, no crawler has read it, and
// each crawler may have a copy of the versions before.
func (p *Rules) check(r *Request, e *Engine, before []Version, d *Decision) {
	*d = Decision{}
	var v *robots.Views
	var s senders
	for s.begin(p, r); s.next() && d.Action == Pass; {
		if v == nil {
			v = p.settings.viewsOf(r.Target)
		}
		info := r.info()
		info.evidence = s.evidence()
		if e != nil {
			info.readRobots = p.settings.Programs == ProgramsSeen && hasRead(e.readers, r, &s.id)
			before = e.earlier(r, s.agents())
		}
		if before != nil {
			var earlier earlierVersions
			earlier.fill(before, &s, e)
			info.earlier = &earlier
		} else if e != nil {
			e.see(r, s.agents(), info.evidence)
		}
		p.judge(s.agents(), &info, v, d)
	}
	if v != nil {
		views.Put(v)
	}
	d.Rules, d.addr = p, s.ev.addr
}

// requestInfo has the properties of a request, other than its path and its
// User-Agent, that decide whether a rule applies to it.
type requestInfo struct {
	method     string // "" means GET
	authorized bool   // the request has an Authorization field
	readRobots bool   // the client is a program that has read the robots.txt in the last 24 hours; see ProgramsSeen

	// evidence is what is known about the client in addition to the User-Agent;
	// nil if only the User-Agent counts.
	evidence *evidence

	// earlier has the earlier versions of the file that the crawlers may
	// follow; nil if there are none.
	earlier *earlierVersions
}

// reads reports whether the method only reads.
func (info requestInfo) reads() bool {
	return info.method == "" || info.method == http.MethodGet || info.method == http.MethodHead
}

// judge decides on the path in v for the crawlers that a User-Agent field
// names, and writes the decision to d. It stops at the first crawler that is
// not let through. If all are let through, d is about a crawler that a group
// applies to, if there is one: the first that has Limits, or otherwise the last.
// The caller passes the same d for each User-Agent field of a request, so that
// this is true for all fields together.
//
// judge does no I/O, takes no lock and allocates nothing. Engine, Rules.Check
// and Replay all call it, so that they decide alike.
func (p *Rules) judge(agents []crawler.Agent, info *requestInfo, v *robots.Views, d *Decision) {
	for i := range agents {
		if p.judgeAgent(&agents[i], i, info, v, d); d.Action != Pass {
			return
		}
	}
}

// judgeAgent judges one crawler. Its index in info.evidence and info.earlier is
// i.
func (p *Rules) judgeAgent(a *crawler.Agent, i int, info *requestInfo, v *robots.Views, d *Decision) {
	claim := info.evidence.claim(i)
	if p.settings.exemptPaths.MatchViews(v).Allowed {
		d.pass(a, claim, ExemptPath)
		return
	}
	if p.settings.isExempt(a, claim, info.evidence) {
		d.pass(a, claim, Exempt)
		return
	}
	if claim.State == verify.Impostor && !p.settings.Verification.IgnoreImpostors {
		*d = Decision{Action: Deny, Reason: Impostor, Agent: *a, Claim: claim}
		return
	}
	if h := p.settings.hidden.match(v); h != nil && p.settings.hides(a, info) {
		*d = Decision{Action: Deny, Reason: Hidden, Agent: *a, Claim: claim, Layer: HiddenLayer, Line: h.Line, hidden: h}
		return
	}
	if p.state == Pending || p.denyAll {
		p.withoutRules(a, claim, info, d)
		return
	}
	w := p.judgePath(a, info, v)
	switch {
	case w.group == nil:
		reason := Unbound
		if p.state != Loaded {
			reason = NoRules
		}
		d.pass(a, claim, reason)
		return
	case w.allowed:
		if d.pass(a, claim, Allowed) {
			d.decidedBy(p, &w)
		}
		return
	}
	if version := info.earlier.allows(i, a, info, v); version != nil {
		if d.pass(a, claim, Graced) {
			d.decidedBy(p, &w)
			d.Version = version
		}
		return
	}
	*d = Decision{Action: Deny, Reason: Disallowed, Agent: *a, Claim: claim}
	d.decidedBy(p, &w)
	d.Limits = nil
}

// pathVerdict is the result of a file's path rules for an agent.
type pathVerdict struct {
	group   *robots.Group // that applies to the agent; nil if none does
	limits  *throttle.Limits
	allowed bool
	rule    *robots.Rule   // that decided; nil if none matched
	reading robots.Dialect // see Decision.Reading
}

// judgePath finds the group that applies to an agent, and matches its rules
// with the path.
func (p *Rules) judgePath(a *crawler.Agent, info *requestInfo, v *robots.Views) (w pathVerdict) {
	plan := p.plan(a)
	if plan.group == nil || plan.byStar && !p.settings.starApplies(a, info) {
		return w
	}
	verdict := plan.group.MatchViews(v)
	w = pathVerdict{group: plan.group, limits: plan.limits, allowed: verdict.Allowed, rule: verdict.Rule}
	if !verdict.Allowed && plan.reads {
		if google := plan.google.MatchViews(v); google.Allowed {
			w.allowed, w.rule, w.reading = true, google.Rule, robots.Google
		}
	}
	return w
}

// decidedBy records the group and the rule that decided.
func (d *Decision) decidedBy(p *Rules, w *pathVerdict) {
	d.Group, d.Limits, d.Rule, d.Reading = w.group, w.limits, w.rule, w.reading
	if w.rule != nil {
		d.from(p, w.rule.Line)
	}
}

// withoutRules judges a crawler while the rules are not known.
func (p *Rules) withoutRules(a *crawler.Agent, claim verify.Result, info *requestInfo, d *Decision) {
	switch {
	case !p.settings.couldApply(a, claim, info):
		d.pass(a, claim, NoRules)
	case p.state == Pending:
		*d = Decision{Action: Throttle, Reason: RulesPending, Agent: *a, Claim: claim, RetryAfter: pendingRetry}
	default:
		*d = Decision{Action: Deny, Reason: Unavailable, Agent: *a, Claim: claim, RetryAfter: unavailableRetry}
	}
}

// unavailableRetry is the Retry-After for a crawler while the source fails and
// Config.DenyFailed is set.
const unavailableRetry = time.Minute

// pass lets an agent through, for a reason. If a group applies to the agent
// that d is about, d stays about that agent, unless it has no Limits and a group
// applies to this agent too. pass reports whether d is now about this agent.
func (d *Decision) pass(a *crawler.Agent, claim verify.Result, why Reason) bool {
	if d.Reason.hasGroup() && (!why.hasGroup() || d.Limits != nil) {
		return false
	}
	*d = Decision{Reason: why, Agent: *a, Claim: claim}
	return true
}

// hasGroup reports whether a group applies to a request that was let through
// for this reason.
func (r Reason) hasGroup() bool { return r == Allowed || r == Graced }

// DisallowsStar reports whether the group for `*` disallows a request target.
// Exempt paths are not disallowed.
func (p *Rules) DisallowsStar(target string) bool {
	star := p.file.Star()
	if star == nil {
		return false
	}
	v := p.settings.viewsOf(target)
	defer views.Put(v)
	return !p.settings.exemptPaths.MatchViews(v).Allowed && !star.MatchViews(v).Allowed
}
