package counters

import (
	"cmp"
	"iter"
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
)

// keepRates are for one crawler at one host, and for all crawlers there together.
var keepRates = logquota.Rates{Each: 2 * time.Second, EachBurst: 10, All: 50 * time.Millisecond, AllBurst: 100}

// refusals keeps refusals. If there is no room, it forgets the oldest of the crawler with
// most of them, at the host with most of them. It takes a lock for what it keeps, which
// is little, and for a constant time.
type refusals struct {
	gates *logquota.Gates
	seq   atomic.Uint64 // of the last refusal
	kept  [maxRefusals]atomic.Pointer[statusapi.Refusal]

	mu     sync.Mutex // of changes
	hosts  ranking
	groups map[groupKey]*group // of hosts and of crawlers
}

// put keeps a refusal.
func (r *refusals) put(f *statusapi.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.Seq = r.seq.Add(1)
	at := int(f.Seq) - 1 // free until all are used
	if at >= maxRefusals {
		at = r.forget(f)
	}
	host := r.group(&r.hosts, groupKey{host: f.Host})
	crawler := r.group(&host.crawlers, groupKey{f.Host, f.Crawler, true})
	r.hosts.grow(host)
	host.crawlers.grow(crawler)
	crawler.kept = append(crawler.kept, at)
	r.kept[at].Store(f)
}

// forget frees the place of a refusal for f: that of the host and crawler of f, unless
// others have more. The caller holds mu.
func (r *refusals) forget(f *statusapi.Refusal) (at int) {
	host := r.largest(&r.hosts, groupKey{host: f.Host})
	crawler := r.largest(&host.crawlers, groupKey{host.key.host, f.Crawler, true})
	at, crawler.kept = crawler.kept[0], crawler.kept[1:]
	if host.crawlers.shrink(crawler); crawler.n == 0 {
		delete(r.groups, crawler.key)
	}
	if r.hosts.shrink(host); host.n == 0 {
		delete(r.groups, host.key)
	}
	return at
}

// group returns a group of a ranking, and adds it if there is none.
func (r *refusals) group(of *ranking, key groupKey) *group {
	g := r.groups[key]
	if g == nil {
		g = &group{key: key, at: len(of.groups)}
		of.groups, r.groups[key] = append(of.groups, g), g
	}
	return g
}

// largest returns the largest group of a ranking: that with a key, if no other is larger.
func (r *refusals) largest(of *ranking, key groupKey) *group {
	if g := r.groups[key]; g != nil && g.n == of.groups[0].n {
		return g
	}
	return of.groups[0]
}

// group has the refusals of a host, or of one crawler at a host.
type group struct {
	key      groupKey
	n, at    int     // how many there are; place in the ranking
	crawlers ranking // of a host
	kept     []int   // of a crawler: places in refusals.kept, of the oldest first
}

type groupKey struct {
	host, crawler string
	isCrawler     bool
}

// ranking has groups, the largest first. When one grows or shrinks by 1, it changes places
// with the first or the last of the same size.
type ranking struct {
	groups []*group
	above  []uint16 // how many groups have more than 0, 1, 2 and so on
}

func (r *ranking) grow(g *group) {
	if g.n == len(r.above) {
		r.above = append(r.above, 0)
	}
	r.swap(g, r.above[g.n])
	r.above[g.n]++
	g.n++
}

// shrink removes g if it has no more.
func (r *ranking) shrink(g *group) {
	g.n--
	r.above[g.n]--
	r.swap(g, r.above[g.n])
	if r.above[g.n] == 0 {
		r.above = r.above[:g.n]
	}
	if last := len(r.groups) - 1; g.n == 0 { // so it is the last one
		r.groups[last], r.groups = nil, r.groups[:last]
	}
}

func (r *ranking) swap(g *group, at uint16) {
	other := r.groups[at]
	r.groups[g.at], r.groups[at] = other, g
	g.at, other.at = int(at), g.at
}

// keep keeps a refusal, unless a limit for refusals is reached.
func (c *Crawler) keep(d *judge.Decision, r *Request) {
	now := r.Time.UnixNano()
	kept := &c.site.counters.refusals
	omitted, _, ok := kept.gates.Pass(now, logquota.Event{Place: r.Origin.Host, Name: c.name}, &keepRates)
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
	if !d.Layer.Info().Secret {
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
