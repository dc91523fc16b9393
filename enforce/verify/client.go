package verify

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/gaissmai/bart"
)

// proofPeriod is how long a verified address proves that the server sees the real addresses of its clients.
const proofPeriod = 24 * time.Hour

// Client is the sender of a request, as the server sees it.
type Client struct {
	Addr netip.Addr // IPv4 in IPv6 form counts as IPv4; a zone is ignored

	// Ambiguous is true if Addr may not be the client's own address: it may be
	// the address of a proxy, or one that the client wrote to a forwarding field.
	// Such an address neither verifies nor refutes a claim.
	Ambiguous bool

	// Proof is the Proof of the host that serves the request (see
	// Checker.Proof). If it is nil, no client is an Impostor.
	Proof *Proof
}

// Proof records when a crawler was last verified by its address, which proves
// that the server sees the addresses of its clients. Without such a proof it may
// see the addresses of a CDN instead, so an address must not refute a claim. The
// zero value is ready to use: no crawler was verified. A Proof is safe for
// concurrent use.
type Proof struct {
	last atomic.Int64 // seconds since 1970
}

func (p *Proof) set(now time.Time) {
	// Storing an equal value would make all CPU cores fetch the cache line again.
	if s := now.Unix(); p != nil && p.last.Load() < s {
		p.last.Store(s)
	}
}

// holds reports whether a crawler was verified by its address in the 24 hours
// before now.
func (p *Proof) holds(now time.Time) bool {
	if p == nil {
		return false
	}
	last := p.last.Load()
	return last != 0 && now.Sub(time.Unix(last, 0)) <= proofPeriod
}

// maxProofs is the number of hosts that have proofs of their own.
const maxProofs = 20_000

// Proof returns the Proof of the host that a request is for.
// proxied is whether the request came through a trusted proxy. Each combination
// has its own Proof, because sites of one server may be behind different proxies.
// Checkers of one Verifier share them. If there are more than 20,000, some are
// forgotten, those with the oldest verification first.
func (c *Checker) Proof(host string, proxied bool) *Proof {
	key := maphash.String(c.verifier.lookups.cache.seed, host)
	if proxied {
		key = ^key
	}
	return c.verifier.proofs.Add(key, func(p *Proof) int64 { return p.last.Load() }, nil)
}

// specialPrefixes are the addresses that no crawler on the internet has: unspecified, private, shared (CGNAT), loopback, link-local, multicast
// and reserved addresses (IANA special-purpose address registries), but not the blocks for documentation.
var specialPrefixes = newTable("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
	"224.0.0.0/3", "::/8", "fc00::/7", "fe80::/9", "ff00::/8")

func newTable(prefixes ...string) *bart.Lite {
	table := new(bart.Lite)
	for _, p := range prefixes {
		table.Insert(netip.MustParsePrefix(p))
	}
	return table
}

// IsSpecial reports whether addr is not valid, or an address that no client on
// the internet has: private, shared (100.64.0.0/10), loopback, link-local,
// multicast, reserved or unspecified. addr must not be IPv4 in IPv6 form.
func IsSpecial(addr netip.Addr) bool {
	if !addr.Is4() {
		b := addr.As16()
		return !addr.IsValid() || b[0] == 0 || b[0]&0xfe == 0xfc || b[0] == 0xfe && b[1]&0x80 != 0 || b[0] == 0xff
	}
	b := addr.As4()
	shared := b[0] == 100 && b[1]&0xc0 == 64
	return shared || b[0] == 0 || b[0] >= 224 || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast()
}
