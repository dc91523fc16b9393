package enforce

import (
	"hash/maphash"
	"net/netip"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// visitorKey identifies a crawler at an origin, for Visits.
type visitorKey struct {
	hash     uint64
	invented bool // clients can invent any number of such visitors
}

// visitorSeed is a random seed for the hashes of visitors, so that clients
// can't choose names that displace a certain visitor.
var visitorSeed = maphash.MakeSeed()

// hashFactor is 2^64 divided by the golden ratio. Multiplied with the first of
// two hashes before they are combined, it makes their order count.
const hashFactor = 0x9e3779b97f4a7c15

// visitor returns the visitor for an agent at the origin of a request. All
// addresses of a crawler are one visitor; for software that anyone can run,
// each address is one.
func (e *Engine) visitor(r *Request, a *crawler.Agent) visitorKey {
	o := &r.Origin
	origin := maphash.String(visitorSeed, o.Host) + uint64(o.Port)<<8 + uint64(len(o.Scheme))
	v := visitorKey{origin*hashFactor ^ maphash.String(visitorSeed, agentName(a)), r.Invented || a.Crawler == nil}
	if a.RunByAnyone() {
		return v.at(clientAddr(r))
	}
	return v
}

// visitorOf is visitor for an agent with a result of verification.
func (e *Engine) visitorOf(r *Request, a *crawler.Agent, claim verify.Result) visitorKey {
	v := e.visitor(r, a)
	if claim.State == verify.Unverified {
		return v.claimant(clientAddr(r))
	}
	return v
}

// at returns the visitor for v at one client address: IPv4 /32 or IPv6 /64.
func (v visitorKey) at(addr netip.Addr) visitorKey {
	return visitorKey{throttle.Key{v.hash}.Client(addr)[0], true}
}

// claimant returns the visitor for an unverified client that claims to be v.
func (v visitorKey) claimant(addr netip.Addr) visitorKey {
	c := v.at(addr)
	c.hash ^= hashFactor
	return c
}

// clientAddr returns the address of a request's client, or the zero Addr if it
// is not known.
func clientAddr(r *Request) (addr netip.Addr) {
	if r.Client != "" { // for "", ParseAddr would allocate an error
		addr, _ = netip.ParseAddr(r.Client)
	}
	return addr
}
