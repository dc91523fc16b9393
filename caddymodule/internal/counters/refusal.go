package counters

import (
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/enforce"
)

// Limits for the refusals that are kept.
const (
	maxRefusals = status.MaxRecent
	maxText     = 512 // octets of a path, a User-Agent or a host

	// For one crawler at one site: one refusal in keepEvery, and keepBurst more at
	// once.
	keepEvery = 2 * time.Second
	keepBurst = 10
	// The same for all crawlers together.
	keepAllEvery = 10 * time.Millisecond
	keepAllBurst = 200
)

// Refusal is a request that was refused, or would have been refused in monitor
// mode. It has no query and no full address. If the path is hidden, it has no path
// either.
type Refusal struct {
	Seq        uint64 // counts up from 1
	Time       time.Time
	Site       string
	Host       string
	Method     string
	Path       string
	Client     string
	UserAgent  string
	Crawler    string
	Class      string
	Purpose    string
	Verified   string
	Action     enforce.Action
	Monitor    bool
	Reason     enforce.Reason
	Group      string
	Rule       string
	Layer      enforce.Layer
	Line       int
	File       string // that has Line
	RetryAfter time.Duration
	Omitted    int64 // refusals of the same crawler at the same site, since the one kept before, that were not kept
}

// refusals keeps the last refusals in a ring buffer, without a lock.
type refusals struct {
	all  gate
	seq  atomic.Uint64 // of the last refusal
	ring [maxRefusals]atomic.Pointer[Refusal]
}

// keep keeps a refusal, unless a limit for refusals is reached.
func (c *Crawler) keep(d *enforce.Decision, r *Request) {
	now := r.Time.UnixNano()
	omitted, ok := c.gate.pass(now, keepEvery, keepBurst)
	if !ok {
		return
	}
	kept := &c.site.counters.refusals
	if _, ok := kept.all.pass(now, keepAllEvery, keepAllBurst); !ok {
		c.gate.missed.Add(omitted + 1)
		return
	}
	f := &Refusal{
		Time: r.Time, Site: c.site.name, Host: text(r.Origin.Host), Method: text(r.Method), Client: network(r.Client),
		UserAgent: text(strings.Join(r.UserAgents[:min(len(r.UserAgents), 4)], ", ")),
		Crawler:   text(d.Name()), Class: d.Agent.Class.String(), Purpose: c.purpose, Verified: d.Claim.State.String(),
		Action: d.Action, Monitor: r.Monitor, Reason: d.Reason, Layer: d.Layer, Line: d.Line, File: d.File(),
		Group: text(d.GroupToken()), RetryAfter: d.RetryAfter, Omitted: omitted,
	}
	if d.Reason != enforce.Hidden {
		f.Path, f.Rule = text(pathOf(r.Target)), text(d.RuleText())
	}
	f.Seq = kept.seq.Add(1)
	kept.ring[f.Seq%maxRefusals].Store(f)
}

// since returns the refusals with a higher Seq than seq, newest first, and the
// highest Seq of all refusals.
func (k *refusals) since(seq uint64) (list []*Refusal, last uint64) {
	last = k.seq.Load()
	for i := range k.ring {
		if f := k.ring[i].Load(); f != nil && f.Seq > seq {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *Refusal) int {
		if a.Seq > b.Seq {
			return -1
		}
		return 1
	})
	return list, last
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

// network returns the network of an IP address: IPv4 /24, IPv6 /48. It returns "" for
// other text.
func network(addr string) string {
	a, err := netip.ParseAddr(addr)
	if err != nil {
		return ""
	}
	a = a.Unmap().WithZone("")
	bits := 24
	if a.Is6() {
		bits = 48
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return ""
	}
	return p.String()
}
