package enforce

import (
	"hash/maphash"
	"net/netip"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// visitorKey identifies a crawler at an origin, for Memory.visits.
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

// newVisitor returns the visitor for an agent at the origin of a request. All
// addresses of a crawler are one visitor; for software that anyone can run,
// each address is one.
func newVisitor(r *judge.Request, a *crawler.Agent) visitorKey {
	o := &r.Origin
	origin := maphash.String(visitorSeed, o.Host) + uint64(o.Port)<<8 + uint64(len(o.Scheme))
	v := visitorKey{origin*hashFactor ^ maphash.String(visitorSeed, a.Name()), r.Invented || a.Crawler == nil}
	if a.RunByAnyone() {
		return v.at(r.Addr())
	}
	return v
}

// at returns the visitor for v at one client address: IPv4 /32 or IPv6 /64.
func (v visitorKey) at(addr netip.Addr) visitorKey {
	return visitorKey{throttle.Key{v.hash}.Client(addr)[0], true}
}

// claimant returns the visitor for a client that claims to be v, and is not
// verified.
func (v visitorKey) claimant(addr netip.Addr) visitorKey {
	c := v.at(addr)
	c.hash ^= hashFactor
	return c
}
