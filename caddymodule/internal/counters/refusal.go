package counters

import (
	"cmp"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/logquota"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
	"github.com/caddy-robots/caddy-robots/internal/visible"
)

// Limits for the refusals that are kept.
const (
	maxRefusals = statusapi.MaxRecent
	maxText     = 512 // octets of a path, a User-Agent or a host
)

// keepRates are for one crawler at one host, and for all crawlers there together.
var keepRates = logquota.Rates{Each: 2 * time.Second, EachBurst: 10, All: 50 * time.Millisecond, AllBurst: 100}

// refusals keeps refusals, the newest last. If there is no room, it forgets one at the host
// with most of them, among a few that it looks at.
type refusals struct {
	gates *logquota.Gates

	mu    sync.Mutex
	seq   uint64 // of the last refusal
	kept  []*statusapi.Refusal
	hosts map[string]int // how many are kept
}

// looked is at how many refusals put looks for one to forget.
const looked = 16

// put keeps a refusal.
func (r *refusals) put(f *statusapi.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) == maxRefusals {
		most := rand.IntN(maxRefusals)
		for range looked {
			i := rand.IntN(maxRefusals)
			if cmp.Or(cmp.Compare(r.hosts[r.kept[i].Host], r.hosts[r.kept[most].Host]), most-i) > 0 { // a tie is for the older one
				most = i
			}
		}
		forgotten := r.kept[most].Host
		if r.hosts[forgotten]--; r.hosts[forgotten] == 0 {
			delete(r.hosts, forgotten)
		}
		r.kept = slices.Delete(r.kept, most, most+1)
	}
	r.seq++
	f.Seq = r.seq
	r.kept = append(r.kept, f)
	r.hosts[f.Host]++
}

// keep keeps a refusal of a crawler, unless a limit for refusals is reached.
func (s *Site) keep(name string, d *judge.Decision, r *Request) {
	kept := &s.counters.refusals
	omitted, ok := kept.gates.Pass(r.Time.UnixNano(), logquota.Event{Place: r.Origin.Host, Name: name}, &keepRates)
	if !ok {
		return
	}
	addr, _ := netip.ParseAddr(r.Client)
	f := &statusapi.Refusal{
		Time: r.Time.UTC(), Site: s.configured(), Host: text(r.Origin.Host), Method: text(r.Method), Addr: addr, Client: network(addr),
		UserAgent: text(strings.Join(r.UserAgents[:min(len(r.UserAgents), 4)], ", ")),
		Decision:  verdict.Of(d), Busy: d.Agent.Class != d.Agent.SentClass(),
		RetryAfter: int((d.RetryAfter + time.Second - 1) / time.Second), Omitted: omitted,
	}
	f.Crawler, f.Group, f.Rule, f.Version = text(f.Crawler), text(f.Group), text(f.Rule), text(f.Version)
	if !d.Layer.Info().Secret {
		f.Path = text(pathOf(r.Target))
	}
	kept.put(f)
}

// Kept returns the refusals after a Seq that are kept for the sites and hosts of a
// scope, newest first. The caller must not change them.
func (c *Counters) Kept(scope statusapi.Scope, after uint64) (list []*statusapi.Refusal) {
	r := &c.refusals
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range slices.Backward(r.kept) {
		if f.Seq > after && scope.Host(f.Site, f.Host) {
			list = append(list, f)
		}
	}
	return list
}

// pathOf returns the path of a request target, without scheme, userinfo, host
// and query.
func pathOf(target string) string {
	path, _, _ := strings.Cut(target, "?")
	path, _, _ = strings.Cut(path, "#")
	if strings.HasPrefix(path, "/") {
		return path
	}
	if _, rest, absolute := strings.Cut(path, "://"); absolute {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			return rest[i:]
		}
		return "/"
	}
	return path
}

// text returns a copy of the first maxText octets of a text from a client, as valid
// UTF-8.
func text(s string) string {
	return strings.ToValidUTF8(strings.Clone(s[:min(len(s), maxText)]), "\uFFFD")
}

// network returns the network of an IP address, "" without one.
func network(addr netip.Addr) string {
	if !addr.IsValid() {
		return ""
	}
	return visible.Network(addr).String()
}
