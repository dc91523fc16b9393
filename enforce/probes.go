package enforce

import (
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// Limits for a client that is a probe by its User-Agent. Anyone can send that
// User-Agent, so a probe from the internet may request only a few paths.
const (
	maxProbePaths      = 16 // different paths in an hour, from one address
	maxVerifiedPaths   = 64 // of a probe that verification confirms
	maxProbes          = 1 << 12
	probePeriod        = time.Hour
	maxChangingVersion = 8 // a query's values with as many hexadecimal digits count as equal
)

// probeClient has the paths that a probe on the internet requested since a time.
type probeClient struct {
	mu    sync.Mutex
	since time.Time
	paths []uint32 // hashes
}

// allowProbe notes the request of agent i, which is a probe by its User-Agent. It
// reports whether the client still counts as one: it has a private address, or
// it requests few different paths. A probe can add a number that changes to each
// request (a time, a random number), so such values in the query count as equal.
func (m *Memory) allowProbe(c *client, i int) bool {
	r := c.request
	addr := netaddr.Unmap(clientAddr(r))
	if addr.IsValid() && verify.IsSpecial(addr) && (r.Caller == nil || !r.Caller.HidesClient()) {
		return true
	}
	limit := maxProbePaths
	if c.claims[i].State == verify.Verified {
		limit = maxVerifiedPaths
	}
	site := Origin{Host: r.Origin.Host}
	if r.Invented {
		site.Host = r.Site // otherwise each host that the client invents would allow more paths
	}
	key, _ := hash(seedProbe, site, agentName(&c.agents()[i]))
	who := visitorKey{hash: key}.at(addr)
	return m.probes.Add(who.hash, (*probeClient).begin, nil).request(hashTarget(r.Target), r.Time, limit)
}

// begin returns the time since which a client's paths count.
func (p *probeClient) begin() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.since.UnixNano()
}

// request notes a request for a path, and reports whether it is one of the first
// limit paths of the hour.
func (p *probeClient) request(path uint32, now time.Time, limit int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if since := now.Sub(p.since); since >= probePeriod || since < 0 {
		p.since, p.paths = now, p.paths[:0]
	}
	for i, known := range p.paths {
		if known == path {
			return i < limit
		}
	}
	if len(p.paths) >= limit {
		return false
	}
	p.paths = append(p.paths, path)
	return true
}

// hashTarget returns a hash of a request target. In the query, long hexadecimal
// numbers count as equal.
func hashTarget(target string) uint32 {
	path, query, _ := strings.Cut(target, "?")
	var d xxhash.Digest
	d.Reset()
	_, _ = d.WriteString(path)
	for query != "" {
		n := len(query) - len(strings.TrimLeft(query, "0123456789abcdefABCDEF-."))
		if n < maxChangingVersion {
			n = max(n, 1)
			_, _ = d.WriteString(query[:n])
		}
		query = query[n:]
	}
	return uint32(d.Sum64())
}
