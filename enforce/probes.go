package enforce

import (
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// Limits for a client that is a probe by its User-Agent. Anyone can send that
// User-Agent, so a probe from the internet may request only a few paths.
const (
	MaxProbePaths    = 16 // different paths in an hour, from one address
	MaxVerifiedPaths = 64 // of a probe that verification confirms
	maxProbes        = 1 << 12
	probePeriod      = time.Hour
)

// probeClient has the paths that the probes at an address on the internet
// requested since a time.
type probeClient struct {
	mu    sync.Mutex
	since time.Time
	paths []uint32 // hashes
}

// holdProbe notes the request of agent i, if it is a probe by its User-Agent to
// which no group applies. If it requests too many different paths, it becomes a
// self-declared robot. A client with a private address may request any number.
// Names are counted together, because a client can invent them.
func (m *Memory) holdProbe(c *judge.Client, r *judge.Request, rules *judge.Rules, i int) {
	a := &c.Agents()[i]
	if a.Class != crawler.Probe || c.IsExempt(i) || rules.Group(a) != nil {
		return
	}
	addr := netaddr.Unmap(r.Addr())
	if addr.IsValid() && verify.IsSpecial(addr) && (r.Caller == nil || !r.Caller.HidesClient()) {
		return
	}
	limit := MaxProbePaths
	if c.Claim(i) == verify.Verified {
		limit = MaxVerifiedPaths
	}
	if !m.probes.Add(siteClient(seedProbe, r, addr), (*probeClient).begin, nil).request(hashTarget(r.Target), r.Time, limit) {
		a.Class = crawler.SelfDeclared
	}
}

// siteClient returns the key of a client address at the site of a request.
func siteClient(seed uint8, r *judge.Request, addr netip.Addr) uint64 {
	site := judge.Origin{Host: r.Origin.Host}
	if r.Invented {
		site.Host = r.Site // otherwise each host that the client invents would allow more
	}
	key, _ := hash(seed, site, "")
	return visitorKey{hash: key}.at(addr).hash
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

// hashTarget returns a hash of a request target, without the values of the query
// that a probe can change in each request.
func hashTarget(target string) uint32 {
	path, query, _ := strings.Cut(target, "?")
	var d xxhash.Digest
	d.Reset()
	_, _ = d.WriteString(path)
	for query != "" {
		var field string
		field, query, _ = strings.Cut(query, "&")
		if at := strings.IndexByte(field, '=') + 1; isCacheBuster(field[at:]) {
			field = field[:at]
		}
		_, _ = d.WriteString("&")
		_, _ = d.WriteString(field)
	}
	return uint32(d.Sum64())
}

// isCacheBuster reports whether a value is a time in s, ms, µs or ns, a random
// number in hexadecimal digits, or a UUID.
func isCacheBuster(value string) bool {
	const digits, hexadecimal = "0123456789", "0123456789abcdefABCDEF"
	switch {
	case value == "":
		return false
	case strings.Trim(value, digits) == "":
		return 10 <= len(value) && len(value) <= 20 && value[0] != '0'
	case len(value) == 36 && value[8] == '-' && value[13] == '-' && value[18] == '-' && value[23] == '-':
		return strings.Count(value, "-") == 4 && strings.Trim(value, hexadecimal+"-") == ""
	}
	return len(value) >= 16 && strings.Trim(value, hexadecimal) == ""
}
