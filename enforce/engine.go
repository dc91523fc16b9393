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
	// client that sends more counts as a crawler.
	maxUserAgents = 16
	// MaxHeld is how many requests an engine holds at once, by default, until
	// their time comes. See Settings.Wait.
	MaxHeld = 1000
)

// Engine decides on requests. Engine.Decide has four steps, in this order:
//
//  1. Find the policy of the origin. Only this step may wait for a robots.txt.
//  2. Find the crawlers that the User-Agent fields name, and verify their
//     claims.
//  3. Match the path with the rules that apply to these crawlers.
//  4. Apply the rate limits and Visit-time to a request that is let through.
//
// The caller logs the decision and answers the request. An Engine is safe for
// concurrent use. Once the policy is loaded, a decision allocates nothing and
// takes no lock that all requests share.
type Engine struct {
	settings *compiledSettings
	origins  *Origins
	limiter  throttle.Limiter
	waiters  *throttle.Waiters
	readers  *Recent
	visits   *Visits

	past []Version // earlier versions of the file, in a Replay; a Replay has no policies
}

// NewEngine returns an engine that enforces the robots.txt files of source
// under rules. Close the engine when it is no longer used. The caller closes
// limiter and source, which must not be nil. An error says what is wrong with
// rules.
func NewEngine(settings Settings, source Source, limiter throttle.Limiter, cfg Config) (*Engine, error) {
	compiled, err := settings.compile()
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
		settings: compiled,
		origins:  newOrigins(source, compiled, cfg),
		limiter:  limiter,
		waiters:  cfg.Waiters,
		readers:  cfg.Readers,
		visits:   cfg.Visits,
	}, nil
}

// With returns an engine that identifies crawlers by registry. It shares e's
// budgets and held requests, and begins with the files that e has read. checker
// must be made for registry; with nil, the new engine does not verify claims.
// From then on, each of the two engines reads for itself; the new one reports
// its reads to observer, which may be nil. e can still be used, but no longer
// tries failed reads again without a request. Closing one of the two engines
// closes both.
func (e *Engine) With(registry *crawler.Registry, checker *verify.Checker, observer Observer) (*Engine, error) {
	settings := e.settings.Settings
	settings.Registry = registry
	return e.with(settings, checker, observer)
}

// WithMode is like With. It keeps the registry, and sets Settings.Monitor and
// Settings.Wait instead.
func (e *Engine) WithMode(monitor bool, wait time.Duration, checker *verify.Checker, observer Observer) (*Engine, error) {
	settings := e.settings.Settings
	settings.Monitor, settings.Wait = monitor, wait
	return e.with(settings, checker, observer)
}

// with returns an engine with other rules. The two engines share the rest.
func (e *Engine) with(settings Settings, checker *verify.Checker, observer Observer) (*Engine, error) {
	if settings.Verification != nil {
		settings.Verification = &Verification{checker, settings.Verification.IgnoreImpostors}
	}
	compiled, err := settings.compile()
	if err != nil {
		return nil, err
	}
	q := *e
	q.settings, q.origins = compiled, e.origins.with(compiled, observer)
	return &q, nil
}

// Origins returns the policies of all origins.
func (e *Engine) Origins() *Origins { return e.origins }

// Registry returns the crawlers that the engine knows.
func (e *Engine) Registry() *crawler.Registry { return e.settings.Registry }

// Close stops the reads that are under way. Held requests go on waiting until
// the rate limits allow them. It always returns nil.
func (e *Engine) Close() error { return e.origins.Close() }

// Decide decides on a request and writes the decision to d.
//
// For a request of a crawler, Decide can wait:
//
//   - for the policy of the origin: at most five seconds if it was never read,
//     or if its read has been due for more than 24 hours; at most one second
//     if its read is due
//   - for a limiter that other servers share: see throttle.FleetConfig.Deadline
//   - with Settings.Wait, until the rate limits allow the request
//
// A request for /robots.txt, of any client, can wait for the policy too, if it
// is answered with Rules.Text. No other request of a person waits, and none of
// a client that robots.txt can't apply to.
//
// If the policy is not read in time, or ctx ends, the policy that was read
// before applies; if there is none, the reason is RulesPending. If ctx ends
// during one of the other waits, the limiter decides without the other servers,
// and a held request is throttled, although it has used budget.
func (e *Engine) Decide(ctx context.Context, r *Request, d *Decision) {
	*d = Decision{}
	if IsRobotsTxt(r.Target) {
		e.robotsTxt(ctx, r, d)
		return
	}
	rules := e.resolve(ctx, r)
	rules.check(r, e, nil, d)
	if d.Action == Pass && d.Limits != nil {
		e.pace(ctx, r, d)
	}
}

// robotsTxt decides on a request for /robots.txt, which every client may fetch.
// A GET also starts a new read of the source, so that the engine soon enforces
// the file that the client saw. If the answer is Rules.Text, the client waits
// for that read, so that it does not get an earlier file. See Origins.Wait.
func (e *Engine) robotsTxt(ctx context.Context, r *Request, d *Decision) {
	if r.Method == "" || r.Method == http.MethodGet {
		e.origins.Refetch(r)
	}
	rules := e.origins.Peek(r)
	switch {
	case rules == nil:
		rules = e.origins.pending
	case e.origins.published(rules):
		rules = e.origins.Wait(ctx, r)
	}
	e.passRobotsTxt(rules, r, d)
}

// passRobotsTxt lets a request for /robots.txt through, and remembers which
// crawlers read it.
func (e *Engine) passRobotsTxt(rules *Rules, r *Request, d *Decision) {
	var s senders
	for s.begin(rules, r); s.next(); {
		agents := s.agents()
		e.see(r, agents, s.evidence())
		for i := range agents {
			a := &agents[i]
			d.pass(a, s.evidence().claim(i), ExemptPath)
			e.readers.Mark(readerKey(r.Origin, a), r.Time)
			if a.Class == crawler.Program && e.settings.Programs == ProgramsSeen && r.info().reads() {
				e.readers.Mark(programKey(r, a), r.Time)
			}
		}
	}
	d.Rules = rules
}
