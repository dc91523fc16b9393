package enforce

import (
	"context"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/robots"
)

// poolFactor multiplies a crawler's own rate and burst. The product is the
// limit for all unverified claims to be that crawler together.
const poolFactor = 10

// debtPeriod is how long a verified crawler's requests also use the budget of
// its address, if the engine let a request from that address through before it
// verified the crawler.
const debtPeriod = time.Hour

// take asks the limiter for one request. The result of verification chooses the
// budgets: A crawler that is verified, or that nothing can verify, uses its own
// budget. An unverified client uses a budget for its address and a budget that
// all unverified claims to be that crawler share, so that it can't use up the
// crawler's own. Impostors that are not denied share one budget.
func (e *Engine) take(ctx context.Context, r *Request, d *Decision) throttle.Result {
	own := budgetOf{e.budget(r, &d.Agent, d.Limits, 0), d.Limits}
	switch d.Claim.State {
	case verify.Impostor:
		own.key = e.budget(r, &d.Agent, d.Limits, seedImpostor)
	case verify.Unverified:
		client := e.clientBudget(r, d)
		pool := budgetOf{e.budget(r, &d.Agent, d.Limits, seedPool), d.Rules.pools[d.Limits]}
		res := e.takeBoth(ctx, r, d, client, pool)
		if res.OK {
			e.memory.readers.mark(debtKey(own.key, d), r.Time)
		}
		return res
	case verify.Verified:
		if e.memory.readers.seen(debtKey(own.key, d), r.Time, debtPeriod) {
			// Its earlier requests, before it was verified, count too.
			return e.takeBoth(ctx, r, d, own, e.clientBudget(r, d))
		}
	}
	return e.waiters.Take(ctx, e.limiter, r.Time, own.key, own.limits, e.wait(r, d))
}

// wait returns how long a request may be held.
func (e *Engine) wait(r *Request, d *Decision) time.Duration {
	if r.HasBody || d.Monitored {
		return 0
	}
	return e.settings.Wait
}

// budgetOf is a budget and its limits.
type budgetOf struct {
	key    throttle.Key
	limits *throttle.Limits
}

// clientBudget is the budget of one client address (IPv4 /32 or IPv6 /64) with
// an unverified claim.
func (e *Engine) clientBudget(r *Request, d *Decision) budgetOf {
	return budgetOf{e.budget(r, &d.Agent, d.Limits, seedUnverified).Client(d.addr), d.Limits}
}

// takeBoth asks for a request that uses two budgets. If the second budget
// refuses the request, the first one has been used nevertheless. RetryAfter is
// then the time until both are free.
func (e *Engine) takeBoth(ctx context.Context, r *Request, d *Decision, first, second budgetOf) throttle.Result {
	res := e.waiters.Take(ctx, e.limiter, r.Time, first.key, first.limits, e.wait(r, d))
	if !res.OK {
		return res
	}
	other := e.limiter.Take(ctx, r.Time, second.key, second.limits, 0)
	if other.OK {
		return res
	}
	if again := e.limiter.Take(ctx, r.Time, first.key, first.limits, 0); !again.OK {
		other.RetryAfter = max(other.RetryAfter, again.RetryAfter)
	}
	return other
}

// debtKey is the key, in Memory.readers, of a client address that was let through
// before the crawler with the budget own was verified.
func debtKey(own throttle.Key, d *Decision) uint64 { return own.Client(d.addr)[0] ^ seedDebt }

// poolTerms returns the limits that g sets for all unverified claims to be one
// crawler together; nil if g sets none.
func (r *compiledSettings) poolLimits(g *robots.Group) *throttle.Limits {
	delay, _ := g.CrawlDelay()
	delay.Delay = min(delay.Delay, r.MaxDelay) / poolFactor
	rates := append([]robots.RequestRate(nil), g.RequestRates()...)
	for i := range rates {
		rates[i].Requests *= poolFactor
	}
	return throttle.Compile(throttle.Grant{
		Delay: delay, Rates: rates, Visits: g.VisitTimes(), MaxDelay: r.MaxDelay, Burst: max(r.Burst, 1) * poolFactor,
	})
}
