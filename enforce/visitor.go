package enforce

import (
	"hash/maphash"
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

// visitorSeed is that of all visitors' hashes, so that nobody can choose names
// that drive out a certain one.
var visitorSeed = maphash.MakeSeed()

// oddFactor has the order of what is hashed together count: 2^64 divided by the
// golden ratio.
const oddFactor = 0x9e3779b97f4a7c15

// visitor names an agent at the origin of a request: across its addresses, or
// at one where it is software that anyone runs.
func (e *Engine) visitor(r *Request, a *crawler.Agent) Visitor {
	o := &r.Origin
	origin := maphash.String(visitorSeed, o.Host) + uint64(o.Port)<<8 + uint64(len(o.Scheme))
	v := Visitor{origin*oddFactor ^ maphash.String(visitorSeed, agentName(a)), r.Invented || a.Crawler == nil}
	if a.RunByAnyone() {
		return v.at(clientAddr(r))
	}
	return v
}

// visitorOf is visitor for an agent about whom verification says claim.
func (e *Engine) visitorOf(r *Request, a *crawler.Agent, claim verify.Result) Visitor {
	v := e.visitor(r, a)
	if claim.State == verify.Unverified {
		return v.claimant(clientAddr(r))
	}
	return v
}

// at names v at one client address: IPv4 /32 or IPv6 /64.
func (v Visitor) at(addr netip.Addr) Visitor {
	return Visitor{throttle.Key{v.hash}.Client(addr)[0], true}
}

// claimant names a client that claims to be v and is not verified.
func (v Visitor) claimant(addr netip.Addr) Visitor {
	c := v.at(addr)
	c.hash ^= oddFactor
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
