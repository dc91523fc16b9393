package enforce

import (
	"context"
	"net/http"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

const (
	// maxUserAgents is how many User-Agent fields of a request are read. A
	// request with more is a robot's.
	maxUserAgents = 16
	// MaxHeld is how many requests are held at once until their time comes.
	MaxHeld = 1000
)

// Engine decides. It takes a request through four steps, in this order:
//
//	Resolve   the origin's policy; the only step that may wait for a robots.txt
//	Identify  who sent the request, by its User-Agent fields
//	Judge     what the policy says to them about the path; pure
//	Pace      whether a request that is let through comes too soon
//
// The caller records the decision and answers the request. An Engine is safe
// for concurrent use. If the policy is loaded, a decision allocates nothing and
// takes no lock that all requests share.
type Engine struct {
	rules    *compiledRules
	policies *Policies
	limiter  throttle.Limiter
	waiters  *throttle.Waiters
	readers  *Recent
	visits   *Visits

	past []Version // of a Replay, which has no policies: earlier versions of the file
}

// NewEngine returns an engine that enforces what source says, under rules. The
// caller closes the limiter; Engine.Close closes everything else. The error
// says what is wrong with the rules.
func NewEngine(rules Rules, source Source, limiter throttle.Limiter, cfg Config) (*Engine, error) {
	compiled, err := rules.compile()
	if err != nil {
		return nil, err
	}
	if cfg.Readers == nil {
		cfg.Readers = NewRecent(smallRecent)
	}
	if cfg.Waiters == nil {
		cfg.Waiters = throttle.NewWaiters(MaxHeld)
	}
	if cfg.Visits == nil {
		cfg.Visits = NewVisits(smallRecent)
	}
	return &Engine{
		rules:    compiled,
		policies: NewPolicies(source, compiled, cfg),
		limiter:  limiter,
		waiters:  cfg.Waiters,
		readers:  cfg.Readers,
		visits:   cfg.Visits,
	}, nil
}

// With returns an engine with another registry that shares e's budgets, held
// requests and policies. The checker must be made for that registry; nil means
// that claims are not verified. Reads of the new engine are reported to
// observer. e can still be used. Closing one of the two engines closes both.
func (e *Engine) With(registry *crawler.Registry, checker *verify.Checker, observer Observer) (*Engine, error) {
	rules := e.rules.Rules
	rules.Registry = registry
	return e.with(rules, checker, observer)
}

// WithMode is like With, but keeps the registry and changes Rules.Monitor and
// Rules.Wait.
func (e *Engine) WithMode(monitor bool, wait time.Duration, checker *verify.Checker, observer Observer) (*Engine, error) {
	rules := e.rules.Rules
	rules.Monitor, rules.Wait = monitor, wait
	return e.with(rules, checker, observer)
}

// with returns an engine under other rules that shares the rest with e.
func (e *Engine) with(rules Rules, checker *verify.Checker, observer Observer) (*Engine, error) {
	if rules.Verification != nil {
		rules.Verification = &Verification{checker, rules.Verification.IgnoreImpostors}
	}
	compiled, err := rules.compile()
	if err != nil {
		return nil, err
	}
	q := *e
	q.rules, q.policies = compiled, e.policies.with(compiled, observer)
	return &q, nil
}

// Policies returns the policies that the engine enforces.
func (e *Engine) Policies() *Policies { return e.policies }

// Registry returns the crawlers that the engine knows.
func (e *Engine) Registry() *crawler.Registry { return e.rules.Registry }

// Close stops the reads under way. Requests that are held keep waiting for
// their time.
func (e *Engine) Close() error { return e.policies.Close() }

// Decide decides on a request and writes the decision to d.
//
// A request of a person, or of a client that no rule can bind, never waits. A
// request of a crawler can wait for three things: the policy of an origin that
// was never read (five seconds at most), a limiter that is shared with other
// servers and, with Rules.Wait, its time in the budget. The end of ctx ends
// every wait.
func (e *Engine) Decide(ctx context.Context, r *Request, d *Decision) {
	*d = Decision{}
	if IsRobotsTxt(r.Target) {
		e.robotsTxt(r, d)
		return
	}
	policy := e.resolve(ctx, r)
	policy.check(r, e, nil, d)
	if d.Action == Pass && d.Terms != nil {
		e.pace(ctx, r, d)
	}
}

// robotsTxt decides on a request for the robots.txt itself, which is let
// through whoever asks. Such a request has the file read again, so that what
// is enforced is what the client saw.
func (e *Engine) robotsTxt(r *Request, d *Decision) {
	if r.Method == "" || r.Method == http.MethodGet {
		e.policies.Reread(r)
	}
	policy := e.policies.Peek(r)
	if policy == nil {
		policy = e.policies.pending
	}
	e.passRobotsTxt(policy, r, d)
}

// passRobotsTxt lets a request for the robots.txt through, and remembers who
// read it.
func (e *Engine) passRobotsTxt(policy *Policy, r *Request, d *Decision) {
	var s senders
	for s.begin(policy, r); s.next(); {
		agents := s.agents()
		e.see(r, agents, s.evidence())
		for i := range agents {
			a := &agents[i]
			d.pass(a, s.evidence().claim(i), ExemptPath)
			e.readers.Mark(readerKey(r.Origin, a), r.Time)
			if a.Class == crawler.Program && e.rules.Programs == ProgramsSeen && r.ask().reads() {
				e.readers.Mark(programKey(r, a), r.Time)
			}
		}
	}
	d.Policy = policy
}
