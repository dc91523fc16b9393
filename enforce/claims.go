package enforce

import (
	"net/netip"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// debtPeriod is how long a verified crawler's requests also use the budget of
// its address, if the engine let a request from that address through before it
// verified the crawler.
const debtPeriod = time.Hour

// ownUses appends the budgets of a subject's own. The result of verification chooses
// them: A crawler that is verified, or that nothing can verify, uses its own budget. An
// unverified client uses a budget for its address and a budget that all unverified
// claims to be that crawler share, so that it can't use up the crawler's own. Impostors
// that are not denied share one budget. With Subject.PerAddr, verification changes
// nothing: the budget of an address is nobody else's.
func (p *pacer) ownUses(uses []throttle.Use, r *judge.Request, d *judge.Decision, s *judge.Subject) []throttle.Use {
	own := p.budget(r, s, 0)
	switch {
	case s.PerAddr:
		return use(uses, own, s.Limits)
	case s.Claim.State == claim.Impostor:
		own = p.budget(r, s, seedImpostor)
	case s.Claim.State == claim.Unverified:
		uses = use(uses, p.claimBudget(r, d, s).In(own), s.Limits)
		return use(uses, p.budget(r, s, seedPool).In(own), d.Rules.PoolLimits(s.Limits))
	}
	uses = use(uses, own, s.Limits)
	if s.Claim.State == claim.Verified && p.memory.claims.seen(debtKey(own, d.Addr), r.Time, debtPeriod) {
		// Its earlier requests, before it was verified, count too.
		uses = use(uses, p.claimBudget(r, d, s).In(own), s.Limits)
	}
	return uses
}

// claimBudget is the key of the budget of one client address (IPv4 /32 or IPv6
// /64) with an unverified claim.
func (p *pacer) claimBudget(r *judge.Request, d *judge.Decision, s *judge.Subject) throttle.Key {
	return p.budget(r, s, seedUnverified).Client(d.Addr)
}

// debtKey is the key, in Memory.claims, of a client address that was let through
// before the crawler with the budget own was verified.
func debtKey(own throttle.Key, addr netip.Addr) uint64 { return own.Client(addr)[0] ^ seedDebt }
