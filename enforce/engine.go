package enforce

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

const (
	// maxUserAgents is how many User-Agent fields of a request are read.
	maxUserAgents = 4
	// maxHeld is how many requests are held at once until their time comes.
	maxHeld = 1000
	// cachedIdentities is how many User-Agents the process remembers: some 4 MB
	// when all are people's.
	cachedIdentities = 1 << 16
)

// identities is the cache of all engines: sites see the same User-Agents, and
// there may be many sites.
var identities = sync.OnceValue(func() *crawler.Cache { return crawler.NewCache(cachedIdentities) })

// noUserAgent stands for the User-Agent fields of a request that has none.
var noUserAgent = []string{""}

// Engine decides. It is safe for concurrent use, and a decision on a policy
// that is at hand allocates nothing and takes no lock that all requests share.
type Engine struct {
	rules    *compiledRules
	policies *Policies
	limiter  throttle.Limiter
	waiters  *throttle.Waiters
	cache    *crawler.Cache
	views    sync.Pool // of *robots.Views
}

// NewEngine returns an engine that enforces what source says, under rules.
// The limiter is the caller's to close; Close ends the rest. The error names
// what is wrong with the rules.
func NewEngine(rules Rules, source Source, limiter throttle.Limiter, cfg PoliciesConfig) (*Engine, error) {
	compiled, err := rules.compile()
	if err != nil {
		return nil, err
	}
	return &Engine{
		rules:    compiled,
		policies: NewPolicies(source, compiled.compile, cfg),
		limiter:  limiter,
		waiters:  throttle.NewWaiters(maxHeld),
		cache:    identities(),
		views:    sync.Pool{New: func() any { return new(robots.Views) }},
	}, nil
}

// With returns an engine that knows the crawlers of another registry and is
// else as e is: it has the same budgets, holds the same requests, and has the
// policies that e has in force from its first request on. What it reads it
// tells its own observer. Requests may go on through e meanwhile. Closing one
// of them closes both.
func (e *Engine) With(registry *crawler.Registry, observer Observer) (*Engine, error) {
	rules := e.rules.Rules
	rules.Registry = registry
	compiled, err := rules.compile()
	if err != nil {
		return nil, err
	}
	return &Engine{
		rules:    compiled,
		policies: e.policies.with(compiled.compile, observer),
		limiter:  e.limiter,
		waiters:  e.waiters,
		cache:    identities(),
		views:    sync.Pool{New: func() any { return new(robots.Views) }},
	}, nil
}

// Policies returns the policies that the engine enforces.
func (e *Engine) Policies() *Policies { return e.policies }

// Registry returns the crawlers that the engine knows.
func (e *Engine) Registry() *crawler.Registry { return e.rules.Registry }

// Matcher returns what tells crawlers of an origin apart: the registry and the
// tokens of the origin's robots.txt, as far as that was read.
func (e *Engine) Matcher(ctx context.Context, origin Origin, now time.Time) *crawler.Matcher {
	if policy := e.policies.Get(ctx, origin, now); policy != nil {
		return policy.matcher
	}
	return e.rules.base
}

// Close ends what the engine does behind requests, and refuses the requests
// that it holds.
func (e *Engine) Close() error {
	return errors.Join(e.waiters.Close(), e.policies.Close())
}

// Decide says what is to be done with a request and writes it to d. For a
// person it never waits. For the first crawler of an origin it waits for the
// policy, for a limiter that is shared with other servers, and for its time
// to come where the operator has it held, all within bounds that ctx may
// narrow.
func (e *Engine) Decide(ctx context.Context, r *Request, d *Decision) {
	*d = Decision{}
	policy := e.policies.Peek(ctx, r.Origin, r.Time)
	agents := r.UserAgents
	if len(agents) == 0 {
		agents = noUserAgent
	}
	j := judgement{engine: e, request: r, policy: policy, decision: d}
	for _, ua := range agents[:min(len(agents), maxUserAgents)] {
		if j.userAgent(ctx, ua); d.Action == Deny {
			break
		}
	}
	if j.views != nil {
		e.views.Put(j.views)
	}
	d.Policy = j.policy
	if d.Action == Pass && d.Terms != nil && !r.Paced {
		e.throttle(ctx, r, d)
	}
}

// judgement is a decision in the making.
type judgement struct {
	engine   *Engine
	request  *Request
	policy   *Policy
	views    *robots.Views
	decision *Decision
}

// userAgent judges the crawlers that one User-Agent names, until one of them
// is denied.
func (j *judgement) userAgent(ctx context.Context, ua string) {
	var id crawler.Identity
	matcher := j.engine.rules.base
	if j.policy != nil {
		matcher = j.policy.matcher
	}
	j.engine.cache.Identify(matcher, ua, &id)
	if id.Class() == crawler.Person {
		return
	}
	if j.views == nil && !j.begin(ctx) {
		j.pass(id.At(0), NoPolicy)
		return
	}
	if j.policy.matcher != matcher {
		j.engine.cache.Identify(j.policy.matcher, ua, &id)
	}
	for i := range id.Len() {
		if j.agent(id.At(i)); j.decision.Action == Deny {
			return
		}
	}
}

// begin gets what a crawler is judged by: a policy, for which it may wait,
// and the views of the path. It reports whether there is a policy.
func (j *judgement) begin(ctx context.Context) bool {
	r := j.request
	if policy := j.engine.policies.Get(ctx, r.Origin, r.Time); policy != nil {
		j.policy = policy
	}
	if j.policy == nil {
		return false
	}
	if isRobotsTxt(r.Target) {
		j.engine.policies.Reread(ctx, r.Origin, r.Time)
	}
	j.views = j.engine.views.Get().(*robots.Views)
	j.views.Reset(r.Target, j.engine.rules.Views)
	return true
}

// agent judges one crawler.
func (j *judgement) agent(a *crawler.Agent) {
	if j.engine.rules.isExempt(a) {
		j.pass(a, Exempt)
		return
	}
	if j.engine.rules.exemptPaths.MatchViews(j.views).Allowed {
		j.pass(a, ExemptPath)
		return
	}
	if j.policy.denyAll {
		*j.decision = Decision{Action: Deny, Reason: Unavailable, Agent: *a}
		return
	}
	plan := j.policy.plan(a)
	if plan.group == nil {
		reason := Unbound
		if j.policy.state != Loaded {
			reason = NoPolicy
		}
		j.pass(a, reason)
		return
	}
	v := plan.group.MatchViews(j.views)
	if !v.Allowed {
		*j.decision = Decision{Action: Deny, Reason: Disallowed, Agent: *a, Group: plan.group, Rule: v.Rule, Line: v.Line()}
		return
	}
	if j.pass(a, Allowed) {
		d := j.decision
		d.Group, d.Terms, d.Rule, d.Line = plan.group, plan.terms, v.Rule, v.Line()
	}
}

// pass lets an agent through, for a reason, unless another one that robots.txt
// binds was let through already. It reports whether the decision is now about
// this agent.
func (j *judgement) pass(a *crawler.Agent, why Reason) bool {
	d := j.decision
	if d.Reason == Allowed && (why != Allowed || d.Terms != nil) {
		return false
	}
	*d = Decision{Reason: why, Agent: *a}
	return true
}

// throttle asks the limiter for a request that the path rules let through.
func (e *Engine) throttle(ctx context.Context, r *Request, d *Decision) {
	res, err := e.waiters.Take(ctx, e.limiter, r.Time, e.budget(r, &d.Agent), d.Terms, e.rules.Wait)
	d.Delay = res.Delay
	switch {
	case res.OK && err == nil:
		return
	case res.OK: // the client is gone, or nobody is held any longer
		d.RetryAfter = res.Delay
	default:
		d.RetryAfter = res.RetryAfter
	}
	d.Action, d.Line = Throttle, res.Line
	switch res.Reason {
	case throttle.RequestRate:
		d.Reason = RequestRate
	case throttle.VisitTime:
		d.Reason = VisitTime
	default:
		d.Reason = CrawlDelay
	}
}

// isRobotsTxt reports whether a target is that of the robots.txt itself.
func isRobotsTxt(target string) bool {
	return strings.HasPrefix(target, "/robots.txt") && (len(target) == len("/robots.txt") || target[len("/robots.txt")] == '?')
}
