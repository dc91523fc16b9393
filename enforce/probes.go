package enforce

import (
	"hash/maphash"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// Limits for a client that is a probe by its User-Agent. Anyone can send that
// User-Agent, so a probe from the internet may request only a few targets.
const (
	MaxProbeTargets    = 16 // different targets (path and query) in an hour, from one address
	MaxVerifiedTargets = 64 // of a probe that verification confirms
	maxProbes          = 1 << 12
	probePeriod        = time.Hour
	// probePace is the least time between two requests of a monitor that adds a time or a
	// random number to the query: Uptime Kuma, which can do so, checks at most every 20
	// seconds. The rest is for jitter.
	probePace = 15 * time.Second
)

// probeClient has the targets that the probes at an address on the internet
// requested since a time.
type probeClient struct {
	mu      sync.Mutex
	since   time.Time
	targets []probeTarget
}

// probeTarget is a target that counts. Both hashes are keyed, so that no client can find
// two targets with the same one.
type probeTarget struct {
	hash  uint64
	path  uint64    // of the path, and the name that the probe sent
	asked time.Time // when the probe last asked for the path with another query
}

// holdProbe notes the request of agent i, if it is a probe by its User-Agent to
// which no group applies. If it requests too many different targets, it becomes a
// self-declared robot. A client with a private address may request any number.
// Names are counted together, because a client can invent them.
func (m *Memory) holdProbe(c *judge.Client, r *judge.Request, rules *judge.Rules, i int) {
	a := &c.Agents()[i]
	if a.Class != crawler.Probe || c.IsExempt(i) || rules.Group(a) != nil {
		return
	}
	addr := netaddr.Unmap(r.Addr())
	if addr.IsValid() && netaddr.IsSpecial(addr) && (r.Caller == nil || !r.Caller.HidesClient()) {
		return
	}
	limit := MaxProbeTargets
	if c.Claim(i) == claim.Verified {
		limit = MaxVerifiedTargets
	}
	path, _, _ := strings.Cut(r.Target, "?")
	target := probeTarget{
		hash: maphash.String(visitorSeed, r.Target), asked: r.Time,
		path: maphash.String(visitorSeed, path)*hashFactor ^ maphash.String(visitorSeed, a.Name()),
	}
	if !m.probes.Add(siteClient(r, addr), (*probeClient).begin, nil).request(target, limit) {
		a.Class = crawler.SelfDeclared
	}
}

// siteClient returns the key of a client address at the site of a request.
func siteClient(r *judge.Request, addr netip.Addr) uint64 {
	key, _ := judge.Origin{Host: r.SiteName()}.Hash(seedProbe, "")
	return visitorKey{hash: key}.at(addr).hash
}

// begin returns the time since which a client's targets count.
func (p *probeClient) begin() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.since.UnixNano()
}

// request notes a request, and reports whether its target is one of the first limit
// targets of the hour. One with the path of an earlier one and another query takes that
// one's place, if the same probe last asked for the path at least probePace ago.
func (p *probeClient) request(target probeTarget, limit int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if since := target.asked.Sub(p.since); since >= probePeriod || since < 0 {
		p.since, p.targets = target.asked, p.targets[:0]
	}
	before := -1 // the first one with the same path
	for i := range p.targets {
		if p.targets[i].hash == target.hash {
			return i < limit
		}
		if before < 0 && p.targets[i].path == target.path {
			before = i
		}
	}
	if before >= 0 {
		paced := target.asked.Sub(p.targets[before].asked) >= probePace
		p.targets[before].asked = target.asked
		if paced {
			p.targets[before].hash = target.hash
			return before < limit
		}
	}
	if len(p.targets) >= limit {
		return false
	}
	p.targets = append(p.targets, target)
	return true
}
