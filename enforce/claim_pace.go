package enforce

import (
	"cmp"
	"context"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/robots"
)

// poolFactor is how many times the crawler's own rate, and burst, all unverified
// claims to be that crawler have together.
const poolFactor = 10

// debtPeriod is how long after a request of an unverified client that turned
// out to be the crawler its address is still held to the pace it was let
// through with.
const debtPeriod = time.Hour

// take asks the limiter for a request, from the budgets of what verification
// says about the sender: a crawler that is verified, or that can't be, has its
// own. An unverified client draws on one for its address and on one for all
// claims to be that crawler, so that it uses up no other budget. Impostors that
// are not denied share one.
func (e *Engine) take(ctx context.Context, r *Request, d *Decision) (throttle.Result, error) {
	own := budgetOf{e.budget(r, &d.Agent, 0), d.Terms}
	switch d.Claim.State {
	case verify.Impostor:
		own.key = e.budget(r, &d.Agent, seedImpostor)
	case verify.Unverified:
		client := e.clientBudget(r, d)
		pool := budgetOf{e.budget(r, &d.Agent, seedPool), d.Policy.pools[d.Terms]}
		res, err := e.takeBoth(ctx, r, client, pool)
		if res.OK && err == nil {
			e.readers.Mark(debtKey(own.key, d), r.Time)
		}
		return res, err
	case verify.Verified:
		if e.readers.Seen(debtKey(own.key, d), r.Time, debtPeriod) {
			// It was let through before it was verified: that counts.
			return e.takeBoth(ctx, r, own, e.clientBudget(r, d))
		}
	}
	return e.waiters.Take(ctx, e.limiter, r.Time, own.key, own.terms, e.rules.Wait)
}

// budgetOf is a budget and its terms.
type budgetOf struct {
	key   throttle.Key
	terms *throttle.Terms
}

// clientBudget is the budget of a client that is not verified to be the
// crawler that it says it is: by address, IPv4 /32 or IPv6 /64.
func (e *Engine) clientBudget(r *Request, d *Decision) budgetOf {
	return budgetOf{e.budget(r, &d.Agent, seedUnproved).Client(d.addr), d.Terms}
}

// takeBoth asks for a request that draws on two budgets. Where the second one
// refuses it, the first one is used all the same: then the answer says when
// both are free.
func (e *Engine) takeBoth(ctx context.Context, r *Request, first, second budgetOf) (throttle.Result, error) {
	res, err := e.waiters.Take(ctx, e.limiter, r.Time, first.key, first.terms, e.rules.Wait)
	if !res.OK || err != nil {
		return res, err
	}
	other := e.limiter.Take(ctx, r.Time, second.key, second.terms, 0)
	if other.OK {
		return res, nil
	}
	if again := e.limiter.Take(ctx, r.Time, first.key, first.terms, 0); !again.OK {
		other.RetryAfter = max(other.RetryAfter, again.RetryAfter)
	}
	return other, nil
}

// debtKey names a client of a crawler's own budget among what happened lately.
func debtKey(own throttle.Key, d *Decision) uint64 { return own.Client(d.addr)[0] ^ seedDebt }

// poolTerms is the pace that a group allows all unverified claims to be one
// crawler together; nil where it limits nothing.
func (r *compiledRules) poolTerms(g *robots.Group) *throttle.Terms {
	delay, _ := g.CrawlDelay()
	delay.Delay = min(delay.Delay, cmp.Or(r.MaxDelay, throttle.DefaultMaxDelay)) / poolFactor
	rates := append([]robots.RequestRate(nil), g.RequestRates()...)
	for i := range rates {
		rates[i].Requests *= poolFactor
	}
	return throttle.Compile(
		throttle.Grant{Delay: delay, Rates: rates, Visits: g.VisitTimes()},
		throttle.Options{MaxDelay: r.MaxDelay, Burst: max(r.Burst, 1) * poolFactor},
	)
}
