package enforce

import (
	"net/netip"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// Visitor names a crawler at an origin, for Visits.
type Visitor struct {
	hash uint64
	many bool // one of many that anybody can make up
}

// Seeds that keep visitors apart from each other and from budgets.
const (
	seedVisitor  = 61
	seedClaimant = 71
)

// visitor names an agent at the origin of a request: across its addresses, or
// at one where it is software that anyone runs.
func (e *Engine) visitor(r *Request, a *crawler.Agent) Visitor {
	v := Visitor{hash(seedVisitor, r.Origin, agentName(a)), r.Invented || a.Crawler == nil}
	if a.RunByAnyone() {
		return v.at(clientAddr(r))
	}
	return v
}

// visitorOf is visitor for an agent about whom verification says claim.
func (e *Engine) visitorOf(r *Request, a *crawler.Agent, claim verify.Result) Visitor {
	if v := e.visitor(r, a); claim.State != verify.Unverified {
		return v
	} else {
		return v.claimant(clientAddr(r))
	}
}

// at names v at one client address: IPv4 /32 or IPv6 /64.
func (v Visitor) at(addr netip.Addr) Visitor {
	return Visitor{throttle.Key{v.hash}.Client(addr)[0], true}
}

// claimant names a client that claims to be v and is not verified.
func (v Visitor) claimant(addr netip.Addr) Visitor {
	c := v.at(addr)
	c.hash ^= seedClaimant
	return c
}

// clientAddr returns the address of a request's client, the zero Addr if it is
// not known.
func clientAddr(r *Request) (addr netip.Addr) {
	if r.Client != "" { // whose error would be allocated
		addr, _ = netip.ParseAddr(r.Client)
	}
	return addr
}
