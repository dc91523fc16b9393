package enforce

import (
	"context"
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

// take asks the limiter for one request. The result of verification chooses the
// budgets: A crawler that is verified, or that nothing can verify, uses its own
// budget. An unverified client uses a budget for its address and a budget that
// all unverified claims to be that crawler share, so that it can't use up the
// crawler's own. Impostors that are not denied share one budget.
//
// The request also uses the budgets of the limits in held. If one of them refuses
// it, over is its line. With isOwn unset, the request uses no budget of its crawler.
func (e *Engine) take(ctx context.Context, r *Request, d *Decision, isOwn bool, held uint8) (res throttle.Result, over *bound) {
	uses := r.uses[:0]
	if held != 0 {
		list := useLists.Get().(*[throttle.MaxUses]throttle.Use)
		defer useLists.Put(list)
		uses = list[:0]
	}
	var own throttle.Key
	if isOwn {
		own = e.budget(r, &d.Agent, d.Limits, 0)
		uses = e.ownUses(uses, r, d, own)
	}
	before := len(uses)
	if uses = e.limitUses(uses, r, d, held); len(uses) == 0 {
		return throttle.Result{OK: true}, nil
	}
	wait := e.settings.Wait
	if r.HasBody || d.Monitored {
		wait = 0
	}
	res = e.waiters.Take(ctx, e.limiter, r.Time, uses, wait)
	switch {
	case !res.OK && res.Use >= before:
		over = e.rateOf(held, res.Use-before)
	case res.OK && isOwn && d.Claim.State == verify.Unverified:
		e.memory.readers.mark(debtKey(own, d), r.Time)
	}
	return res, over
}

// ownUses appends the budgets of its crawler that a request uses.
func (e *Engine) ownUses(uses []throttle.Use, r *Request, d *Decision, own throttle.Key) []throttle.Use {
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
	return uses
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
