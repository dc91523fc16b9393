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
// and throttles it if there is none left: for each of its crawlers the crawler's own,
// and those of the limits in pacing.held.
func (e *Engine) take(ctx context.Context, r *Request, d *Decision, wait time.Duration) {
	if d.Action != Pass {
		return
	}
	list := r.uses[:0]
	if d.held != 0 || len(d.others) > 0 {
		room := useLists.Get().(*[throttle.MaxUses]throttle.Use)
		defer useLists.Put(room)
		list = room[:0]
	}
	uses, of := e.uses(list, r, d)
	if len(uses) == 0 {
		return
	}
	res := e.waiters.Take(ctx, e.limiter, r.Time, uses, wait)
	if d.Delay, d.used = res.Delay, res.OK; !res.OK {
		d.blame(int(of[res.Use]))
		if line := e.boundOf(uses[res.Use].Limits); line != nil {
			d.exceed(line, res.RetryAfter)
		} else {
			d.throttle(res)
		}
		return
	}
	for i := range d.crawlers() {
		d.swap(i)
		if d.Claim.State == verify.Unverified && d.Limits != nil {
			e.memory.readers.mark(debtKey(e.budget(r, &d.Agent, 0), d), r.Time)
		}
		d.swap(i)
	}
}

// uses appends the budgets that a request uses: first the crawlers' own, then those
// of the limits. of[i] is the crawler of d that uses budget i.
func (e *Engine) uses(list []throttle.Use, r *Request, d *Decision) (_ []throttle.Use, of [throttle.MaxUses]uint8) {
	if len(d.others) == 0 {
		if d.Limits != nil {
			list = e.ownUses(list, r, d)
		}
		return e.limitUses(list, r, d), of
	}
	for _, isOwn := range [...]bool{true, false} {
		for i := range d.crawlers() {
			from := len(list)
			d.swap(i)
			if !isOwn {
				list = e.limitUses(list, r, d)
			} else if d.Limits != nil {
				list = e.ownUses(list, r, d)
			}
			d.swap(i)
			for ; from < len(list); from++ {
				of[from] = uint8(i)
			}
		}
	}
	return list, of
}

// use appends a budget, unless the list has it or is full.
func use(list []throttle.Use, key throttle.Key, limits *throttle.Limits) []throttle.Use {
	if len(list) == throttle.MaxUses || slices.ContainsFunc(list, func(u throttle.Use) bool { return u.Key == key }) {
		return list
	}
	return append(list, throttle.Use{Key: key, Limits: limits})
}

// ownUses appends the budgets of the crawler that d is about. The result of
// verification chooses them: A crawler that is verified, or that nothing can verify,
// uses its own budget. An unverified client uses a budget for its address and a budget
// that all unverified claims to be that crawler share, so that it can't use up the
// crawler's own. Impostors that are not denied share one budget.
func (e *Engine) ownUses(uses []throttle.Use, r *Request, d *Decision) []throttle.Use {
	own := e.budget(r, &d.Agent, 0)
	switch d.Claim.State {
	case verify.Impostor:
		own = e.budget(r, &d.Agent, seedImpostor)
	case verify.Unverified:
		uses = use(uses, e.claimBudget(r, d).In(own), d.Limits)
		return use(uses, e.budget(r, &d.Agent, seedPool).In(own), d.Rules.pools[d.Limits])
	}
	uses = use(uses, own, d.Limits)
	if d.Claim.State == verify.Verified && e.memory.readers.seen(debtKey(own, d), r.Time, debtPeriod) {
		// Its earlier requests, before it was verified, count too.
		uses = use(uses, e.claimBudget(r, d).In(own), d.Limits)
	}
	return uses
}

// claimBudget is the key of the budget of one client address (IPv4 /32 or IPv6
// /64) with an unverified claim.
func (e *Engine) claimBudget(r *Request, d *Decision) throttle.Key {
	return e.budget(r, &d.Agent, seedUnverified).Client(d.addr)
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
