package claim

import (
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"
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

	// Proof is the Proof of the host that serves the request. If it is nil, no client is an Impostor.
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

// Set notes that a crawler was verified by its address. p may be nil.
func (p *Proof) Set(now time.Time) {
	// Storing an equal value would make all CPU cores fetch the cache line again.
	if s := now.Unix(); p != nil && p.last.Load() != s {
		p.last.Store(s)
	}
}

// Holds reports whether a crawler was verified by its address in the 24 hours
// before now. It does not if p is nil.
func (p *Proof) Holds(now time.Time) bool {
	return p != nil && p.last.Load() != 0 && now.Sub(time.Unix(p.last.Load(), 0)).Abs() <= proofPeriod
}

// Last returns when that was, in seconds since 1970; 0 for never.
func (p *Proof) Last() int64 { return p.last.Load() }

// Message is the part of a request that a signature can cover.
type Message struct {
	Method     string
	Scheme     string // http or https, as the client used
	Host       string // the Host field or :authority, as sent
	RequestURI string // path and query as the client sent them
	Header     http.Header
	HasBody    bool // the request has content, or may have
}
