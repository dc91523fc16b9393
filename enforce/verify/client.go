package verify

import (
	"maps"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gaissmai/bart"
)

// proofPeriod is how long one verified address proves that a server sees the real addresses of its clients.
const proofPeriod = 24 * time.Hour

// Client is where a request comes from, as the server sees it.
type Client struct {
	Addr netip.Addr

	// Ambiguous marks an address that is one of several in a forwarding field,
	// which the client may have written itself. Such an address neither
	// verifies nor refutes a claim.
	Ambiguous bool

	// Proof is the Proof of the place that serves the request, usually one per
	// site. Without one no client is an Impostor.
	Proof *Proof
}

// Proof records when a crawler was last verified by its address. If none ever
// was, the server may see the addresses of a CDN instead of its clients', so no
// claim may be refuted by them. In the zero value, no crawler was verified. It
// is safe for concurrent use.
type Proof struct {
	last atomic.Int64 // seconds since 1970
}

func (p *Proof) set(now time.Time) {
	// Storing a value that is there already would make all cores fetch the cache line again.
	if s := now.Unix(); p != nil && p.last.Load() < s {
		p.last.Store(s)
	}
}

// Holds reports whether a crawler was verified by its address in the 24 hours
// before now.
func (p *Proof) Holds(now time.Time) bool {
	if p == nil {
		return false
	}
	last := p.last.Load()
	return last != 0 && now.Sub(time.Unix(last, 0)) <= proofPeriod
}

// maxPlaces bounds the places of a Verifier. Further ones share a Proof.
const maxPlaces = 10_000

// place has the proofs of one place: of requests that came directly, and of those through a trusted proxy.
type place [2]Proof

// Proof returns the Proof of the host or host pattern that serves a request.
// Each has its own, because sites of one server may be behind different
// proxies. The Verifier returns the same Proof each time. Only the first call
// for a host takes a lock.
func (c *Checker) Proof(host string, proxied bool) *Proof {
	i := 0
	if proxied {
		i = 1
	}
	if p := (*c.verifier.places.Load())[host]; p != nil {
		return &p[i]
	}
	return &c.verifier.addPlace(host)[i]
}

func (v *Verifier) addPlace(host string) *place {
	v.mu.Lock()
	defer v.mu.Unlock()
	known := *v.places.Load()
	if len(known) >= maxPlaces {
		host = ""
	}
	if p := known[host]; p != nil {
		return p
	}
	p, all := new(place), maps.Clone(known)
	all[strings.Clone(host)] = p
	v.places.Store(&all)
	return p
}

// specials are the addresses that no crawler on the internet has: unspecified, private, shared (CGNAT), loopback, link-local, multicast
// and reserved ones (IANA special-purpose address registries). Blocks for documentation are not among them.
var specials = newTable("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
	"224.0.0.0/3", "::/8", "fc00::/7", "fe80::/9", "ff00::/8")

func newTable(prefixes ...string) *bart.Lite {
	table := new(bart.Lite)
	for _, p := range prefixes {
		table.Insert(netip.MustParsePrefix(p))
	}
	return table
}

// special reports whether addr, which is not IPv4 in IPv6 form, is in one of specials. Every request with a claim asks, so it does not look
// into the table.
func special(addr netip.Addr) bool {
	if !addr.IsValid() {
		return true
	}
	if !addr.Is4() {
		b := addr.As16()
		return b[0] == 0 || b[0]&0xfe == 0xfc || b[0] == 0xfe && b[1]&0x80 != 0 || b[0] == 0xff
	}
	b := addr.As4()
	switch b[0] {
	case 0, 10, 127:
		return true
	case 100:
		return b[1]&0xc0 == 64
	case 169:
		return b[1] == 254
	case 172:
		return b[1]&0xf0 == 16
	case 192:
		return b[1] == 168
	}
	return b[0] >= 224
}
