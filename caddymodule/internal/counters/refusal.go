package counters

import (
	"cmp"
	"iter"
	"net/netip"
	"strings"
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

	// For one crawler at one site: one refusal in keepEvery, and keepBurst more at
	// once.
	keepEvery = 2 * time.Second
	keepBurst = 10
	// The same for all crawlers together.
	keepAllEvery = 10 * time.Millisecond
	keepAllBurst = 200
)

// refusals keeps the last refusals in a ring buffer, without a lock.
type refusals struct {
	all  logquota.Gate
	seq  atomic.Uint64 // of the last refusal
	ring [maxRefusals]atomic.Pointer[statusapi.Refusal]
}

// keep keeps a refusal, unless a limit for refusals is reached.
func (c *Crawler) keep(d *judge.Decision, r *Request) {
	now := r.Time.UnixNano()
	omitted, ok := c.gate.Pass(now, keepEvery, keepBurst)
	if !ok {
		return
	}
	kept := &c.site.counters.refusals
	if _, ok := kept.all.Pass(now, keepAllEvery, keepAllBurst); !ok {
		c.gate.Reject(omitted)
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
	f.Seq = kept.seq.Add(1)
	kept.ring[f.Seq%maxRefusals].Store(f)
}

// Kept returns the refusals after a Seq that are kept for the sites and hosts of a
// scope, newest first. The caller must not change them.
func (c *Counters) Kept(scope statusapi.Scope, after uint64) iter.Seq[*statusapi.Refusal] {
	return func(yield func(*statusapi.Refusal) bool) {
		last := c.refusals.seq.Load()
		for seq := last; seq > max(after, last-min(last, maxRefusals)); seq-- {
			f := c.refusals.ring[seq%maxRefusals].Load()
			if f != nil && f.Seq == seq && scope.Host(f.Site, f.Host) && !yield(f) {
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
