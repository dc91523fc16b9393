package enforce

import (
	"context"
	"slices"
	"sync"
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

// useLists has lists of uses that are free for use, for requests with limits.
var useLists = sync.Pool{New: func() any { return new([throttle.MaxUses]throttle.Use) }}

// take uses budget for a request that is let through, which may be held for wait,
// and throttles it if there is none left: its crawler's own, and those of the limits
// in d.held.
func (e *Engine) take(ctx context.Context, r *Request, d *Decision, wait time.Duration) {
	if d.Action != Pass {
		return
	}
	var own throttle.Key
	uses, isOwn := r.uses[:0], e.isOwn(r, d)
	if d.held != 0 {
		list := useLists.Get().(*[throttle.MaxUses]throttle.Use)
		defer useLists.Put(list)
		uses = list[:0]
	}
	if isOwn {
		uses, own = e.ownUses(uses, r, d)
	}
	if uses = e.limitUses(uses, r, d); len(uses) == 0 {
		return
	}
	res := e.waiters.Take(ctx, e.limiter, r.Time, uses, wait)
	if d.Delay, d.used = res.Delay, res.OK; !res.OK {
		if line := e.boundOf(uses[res.Use].Limits); line != nil {
			d.exceed(line, res.RetryAfter)
		} else {
			d.throttle(res)
		}
	} else if isOwn && d.Claim.State == verify.Unverified {
		e.memory.readers.mark(debtKey(own, d), r.Time)
	}
}

// isOwn reports whether a request uses the budget of its crawler: no earlier
// handler has applied the same Limits.
func (e *Engine) isOwn(r *Request, d *Decision) bool {
	return d.Limits != nil && !slices.ContainsFunc(r.Taken[modeOf(d.Monitored)], d.Limits.Same)
}

// ownUses appends the budgets of its crawler that a request uses, and returns the
// key of the crawler's own budget. The result of verification chooses the budgets:
// A crawler that is verified, or that nothing can verify, uses its own budget. An
// unverified client uses a budget for its address and a budget that all unverified
// claims to be that crawler share, so that it can't use up the crawler's own.
// Impostors that are not denied share one budget.
func (e *Engine) ownUses(uses []throttle.Use, r *Request, d *Decision) (_ []throttle.Use, own throttle.Key) {
	own = e.budget(r, &d.Agent, d.Limits, 0)
	uses = append(uses, throttle.Use{Key: own, Limits: d.Limits})
	switch d.Claim.State {
	case verify.Impostor:
		uses[0].Key = e.budget(r, &d.Agent, d.Limits, seedImpostor)
	case verify.Unverified:
		uses[0].Key = e.claimBudget(r, d).In(own)
		uses = append(uses, throttle.Use{Key: e.budget(r, &d.Agent, d.Limits, seedPool).In(own), Limits: d.Rules.pools[d.Limits]})
	case verify.Verified:
		if e.memory.readers.seen(debtKey(own, d), r.Time, debtPeriod) {
			// Its earlier requests, before it was verified, count too.
			uses = append(uses, throttle.Use{Key: e.claimBudget(r, d).In(own), Limits: d.Limits})
		}
	}
	return uses, own
}

// claimBudget is the key of the budget of one client address (IPv4 /32 or IPv6
// /64) with an unverified claim.
func (e *Engine) claimBudget(r *Request, d *Decision) throttle.Key {
	return e.budget(r, &d.Agent, d.Limits, seedUnverified).Client(d.addr)
}

// debtKey is the key, in Memory.readers, of a client address that was let through
// before the crawler with the budget own was verified.
func debtKey(own throttle.Key, d *Decision) uint64 { return own.Client(d.addr)[0] ^ seedDebt }

// poolLimits returns the limits that g sets for all unverified claims to be one
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
