package counters

import (
	"cmp"
	"iter"
	"math"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

	// For one crawler at one host: one refusal in keepEvery, and keepBurst more at
	// once.
	keepEvery = 2 * time.Second
	keepBurst = 10
	// The same for all crawlers at a host together.
	keepAllEvery = 50 * time.Millisecond
	keepAllBurst = 100
)

// refusals keeps refusals. If there is no room, it forgets the oldest of the crawler with
// most of them, at the host with most of them. It takes a lock for what it keeps, which
// is little.
type refusals struct {
	gates *logquota.Gates
	seq   atomic.Uint64 // of the last refusal
	kept  [maxRefusals]atomic.Pointer[statusapi.Refusal]

	mu    sync.Mutex                // of changes
	hosts map[string]map[string]int // how many are kept, by host; by the crawler's name and a space, and "" for all of the host
}

// put keeps a refusal.
func (r *refusals) put(f *statusapi.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hosts == nil {
		r.hosts = make(map[string]map[string]int)
	}
	f.Seq = r.seq.Add(1)
	at := int(f.Seq) - 1 // free until all are used
	if at >= maxRefusals {
		at = r.oldest(f)
		old := r.kept[at].Load()
		names := r.hosts[old.Host]
		if names[""]--; names[""] == 0 {
			delete(r.hosts, old.Host)
		} else if names[old.Crawler+" "]--; names[old.Crawler+" "] == 0 {
			delete(names, old.Crawler+" ")
		}
	}
	if r.hosts[f.Host] == nil {
		r.hosts[f.Host] = make(map[string]int)
	}
	r.hosts[f.Host][""]++
	r.hosts[f.Host][f.Crawler+" "]++
	r.kept[at].Store(f)
}

// oldest returns the place of the refusal that is forgotten for f: that of the host and
// crawler of f, unless others have more. The caller holds mu.
func (r *refusals) oldest(f *statusapi.Refusal) (at int) {
	host, most, name := f.Host, r.hosts[f.Host][""], ""
	for h, names := range r.hosts {
		if n := names[""]; n > most {
			host, most = h, n
		}
	}
	for n, count := range r.hosts[host] {
		if n != "" && count > r.hosts[host][name] || name == "" && n != "" {
			name = n
		}
	}
	first := uint64(math.MaxUint64)
	for i := range r.kept {
		if k := r.kept[i].Load(); k.Seq < first && k.Host == host && len(k.Crawler)+1 == len(name) && k.Crawler == name[:len(name)-1] {
			at, first = i, k.Seq
		}
	}
	return at
}

// keep keeps a refusal, unless a limit for refusals is reached.
func (c *Crawler) keep(d *judge.Decision, r *Request) {
	now := r.Time.UnixNano()
	kept := &c.site.counters.refusals
	omitted, ok := kept.gates.Pass(now, r.Origin.Host, c.name, 0, keepEvery, keepBurst, keepAllEvery, keepAllBurst)
	if !ok {
		return
	}
	addr, _ := netip.ParseAddr(r.Client)
	f := &statusapi.Refusal{
		Time: r.Time.UTC(), Site: c.site.configured(), Host: text(r.Origin.Host), Method: text(r.Method), Addr: addr, Client: network(addr),
		UserAgent: text(strings.Join(r.UserAgents[:min(len(r.UserAgents), 4)], ", ")),
		Decision:  verdict.Of(d), Busy: d.Agent.Class != d.Agent.SentClass(),
		RetryAfter: int((d.RetryAfter + time.Second - 1) / time.Second), Omitted: omitted,
	}
	f.Crawler, f.Group, f.Rule, f.Version = text(f.Crawler), text(f.Group), text(f.Rule), text(f.Version)
	if d.Reason != judge.Hidden {
		f.Path = text(pathOf(r.Target))
	}
	kept.put(f)
}

// Kept returns the refusals after a Seq that are kept for the sites and hosts of a
// scope, newest first. The caller must not change them.
func (c *Counters) Kept(scope statusapi.Scope, after uint64) iter.Seq[*statusapi.Refusal] {
	return func(yield func(*statusapi.Refusal) bool) {
		var list []*statusapi.Refusal
		for i := range c.refusals.kept {
			if f := c.refusals.kept[i].Load(); f != nil && f.Seq > after && scope.Host(f.Site, f.Host) {
				list = append(list, f)
			}
		}
		slices.SortFunc(list, func(x, y *statusapi.Refusal) int { return cmp.Compare(y.Seq, x.Seq) })
		for _, f := range list {
			if !yield(f) {
				return
			}
		}
	}
}

// Refusals returns the newest refusals that Kept returns.
func (c *Counters) Refusals(scope statusapi.Scope, query statusapi.RecentQuery) *statusapi.Recent {
	limit, last := cmp.Or(query.Limit, statusapi.DefaultLimit), c.refusals.seq.Load()
	recent := &statusapi.Recent{Refusals: []statusapi.Refusal{}}
	for f := range c.Kept(scope, query.After) {
		recent.Last = max(recent.Last, f.Seq)
		if recent.Refusals = append(recent.Refusals, *f); len(recent.Refusals) >= limit {
			break
		}
	}
	if scope.All() {
		recent.Last = last
	}
	recent.Last = max(recent.Last, query.After)
	return recent
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
