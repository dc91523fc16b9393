package enforce

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Engine decides on requests; see Decide. The caller logs the decision and
// answers the request. An Engine is safe for concurrent use. Once the rules of
// an origin are loaded, a decision takes no lock that all requests share, and allocates
// nothing, unless a request names several crawlers whose limits hold it together.
type Engine struct {
	pacer
	origins *origins.Table
	now     func() time.Time // for fetches and budgets that are given back

	edition *origins.History // in a Replay: what is in force in place of origins
}

// NewEngine returns an engine that enforces the robots.txt files of source
// under settings. Close the engine when it is no longer used. The caller closes
// limiter and source, which must not be nil. memory can be shared by several engines; if
// it is nil, the engine has one of its own. An error says what is wrong with settings.
func NewEngine(
	settings judge.Settings, source origins.Source, limiter throttle.Limiter, memory *Memory, cfg origins.Config,
) (*Engine, error) {
	compiled, err := settings.Compile()
	if err != nil {
		return nil, err
	}
	if memory == nil {
		memory = NewMemory(smallMemory, smallMemory)
	}
	cfg.Histories = memory.histories
	e := &Engine{
		pacer:   newPacer(compiled, limiter, memory, cfg.Handler),
		origins: origins.New(source, compiled, cfg), now: cfg.Now,
	}
	if e.now == nil {
		e.now = time.Now
	}
	return e, nil
}

// With returns an engine whose settings are changed, such as the registry. It
// shares e's budgets and held requests, and begins with the files that e has
// fetched. For another registry, change must also replace Verification. From then
// on, each of the two engines fetches for itself; the new one calls fetched, which
// may be nil, in place of Config.Fetched. e can still be used, but no longer tries
// failed fetches again without a request. Closing one of the two engines closes
// both.
func (e *Engine) With(change func(*judge.Settings), fetched func(origins.FetchEvent)) (*Engine, error) {
	settings := e.settings.Settings
	change(&settings)
	compiled, err := settings.Compile()
	if err != nil {
		return nil, err
	}
	q := *e
	q.settings, q.origins = compiled, e.origins.With(compiled, fetched)
	return &q, nil
}

// Origins returns the rules in force of all origins.
func (e *Engine) Origins() *origins.Table { return e.origins }

// Registry returns the crawlers that the engine knows.
func (e *Engine) Registry() *crawler.Registry { return e.settings.Registry }

// Close stops the fetches that are under way. It always returns nil.
func (e *Engine) Close() error {
	e.origins.Close()
	return nil
}

// Decide decides on a request and writes the decision to d: Resolve, Identify, Judge
// and Pace, one after the other.
//
// For a request of a crawler, Decide can wait:
//
//   - for the rules of the origin: see Resolve
//   - for a limiter that other servers share: as long as that limiter says
//
// If ctx ends during the latter, the limiter decides without the other servers.
func (e *Engine) Decide(ctx context.Context, r *judge.Request, d *judge.Decision) {
	var c judge.Client
	e.Identify(&c, r, e.Resolve(ctx, r))
	c.Judge(d)
	e.Pace(ctx, r, d, nil)
}

// Resolve returns the rules in force for the origin of a request. They are never nil:
// until a file was fetched, their Outcome is Pending.
//
// Only this step waits for a robots.txt: at most five seconds if it was never
// fetched, or if the fetch has been due for more than 24 hours; at most one second if
// the fetch is due. A request for /robots.txt, of any client, can wait for the rules
// too, if it is answered with Rules.Text. No other request of a person waits, and
// none of a client that robots.txt can't apply to. If the rules are not fetched in
// time, or ctx ends, those that were fetched before apply.
func (e *Engine) Resolve(ctx context.Context, r *judge.Request) *judge.Rules {
	switch {
	case e.edition != nil:
		return e.edition.Current
	case judge.IsRobotsTxt(r.Target):
		return e.resolveRobotsTxt(ctx, r)
	}
	rules, pending, outdated := e.origins.Lookup(r)
	if rules != nil && !outdated {
		return rules
	}
	if e.mayWait(r, pending) {
		rules = e.origins.Wait(ctx, r)
	}
	return cmp.Or(rules, pending)
}

// Identify finds the crawlers that the User-Agent fields of a request name, or that a
// signature proves, and verifies that the client is one of them. It writes them to c,
// with what the engine remembers about them, and notes the visit, for grace periods.
// rules are those of the same engine for the request. It does not wait.
func (e *Engine) Identify(c *judge.Client, r *judge.Request, rules *judge.Rules) {
	c.Begin(r, rules)
	for c.Next() {
		e.recall(c, r, rules)
		e.noteVisit(c, r)
	}
}

// resolveRobotsTxt returns the rules in force for a request for /robots.txt,
// which every client may read. A GET also starts a fetch, so that the engine
// soon enforces the file that the client saw. If the answer is Rules.Text, the
// client waits for that fetch, so that it does not get an earlier file, or one
// without the site's own rules. See Origins.Wait.
func (e *Engine) resolveRobotsTxt(ctx context.Context, r *judge.Request) *judge.Rules {
	if r.Method == "" || r.Method == http.MethodGet {
		e.origins.Refetch(r)
	}
	rules := cmp.Or(e.origins.Peek(r), e.origins.Pending())
	if e.origins.Published(rules) && !e.settings.ModeOf(r).MonitorsAll() {
		rules = cmp.Or(e.origins.Wait(ctx, r), rules)
	}
	return rules
}

// mayWait reports whether a request may wait for the rules: a robots.txt could
// apply to the client, and the path is not exempt. pending are the rules without
// the file. They identify the client by the registry's tokens, and by those of a
// file that was evicted.
func (e *Engine) mayWait(r *judge.Request, pending *judge.Rules) bool {
	if pending.Exempts(r.Target) {
		return false
	}
	var c judge.Client
	c.BeginUnverified(r, pending)
	for c.Next() {
		for i := range c.Agents() {
			if c.CouldBind(i) {
				return true
			}
		}
	}
	return false
}

// Pace applies the rate limits and Visit-time to a request that Judge let through, and the
// budgets of steps, all together: a request that one of them refuses uses none. In a Replay,
// Replay.Pace does this later.
func (e *Engine) Pace(ctx context.Context, r *judge.Request, d *judge.Decision, more []Use) {
	if d.Paced() && e.edition == nil {
		e.take(ctx, r, d, more)
	}
}

// GiveBack gives back the budget that a request has used which is refused after Pace, unless
// later requests have been let through since. Call it with the values that Pace got.
func (e *Engine) GiveBack(r *judge.Request, d *judge.Decision, more []Use) {
	if d.Used {
		e.giveBack(r, d, more, e.now())
	}
	d.Used = false
}

// Agent returns the crawler with a name or product token: see Compiled.Agent.
func (e *Engine) Agent(name string, rules *judge.Rules) crawler.Agent {
	return e.settings.Agent(name, rules)
}

// EndGrace ends the grace period of all crawlers at an origin. From then on, only
// the version in force applies. If o is the zero Origin, or if the source serves
// all origins, EndGrace does so at all origins. It returns how many origins had
// earlier versions; a source that serves all origins counts as one. It is safe
// for concurrent use.
func (e *Engine) EndGrace(o judge.Origin) int { return e.origins.EndGrace(o) }
