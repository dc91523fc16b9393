package counters

import (
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// Bounds of the refusals that are kept.
const (
	MaxRefusals = 1000
	maxText     = 512 // octets of a path, a User-Agent or a host

	// Of one crawler at one site.
	keepEvery = 2 * time.Second
	keepBurst = 10
	// Of all.
	keepAllEvery = 10 * time.Millisecond
	keepAllBurst = 200
)

// Refusal is a request that was refused, or would have been in monitor mode.
// It has no query, no whole address, and not the path of a hidden one.
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
	RetryAfter time.Duration
	Omitted    int64 // refusals of the same crawler at the same site since the one before
}

// refusals keeps the last refusals. Keeping one takes no lock.
type refusals struct {
	all  gate
	seq  atomic.Uint64
	ring [MaxRefusals]atomic.Pointer[Refusal]
}

// keep keeps a refusal, unless too many of the same crawler or of all were kept
// lately.
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
		Action: d.Action, Monitor: r.Monitor, Reason: d.Reason, Layer: d.Layer, Line: d.Line,
		Group: text(d.GroupToken()), RetryAfter: d.RetryAfter, Omitted: omitted,
	}
	if d.Reason != enforce.Hidden {
		f.Path, f.Rule = text(pathOf(r.Target)), text(d.RuleText())
	}
	f.Seq = kept.seq.Add(1)
	kept.ring[f.Seq%MaxRefusals].Store(f)
}

// since returns the refusals that are kept and come after seq, newest first,
// and the number of the newest one of all.
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

// text returns a copy of what a client sent, clipped, as valid UTF-8.
func text(s string) string {
	return strings.ToValidUTF8(strings.Clone(s[:min(len(s), maxText)]), "\uFFFD")
}

// network returns the network of an address: IPv4 /24, IPv6 /48.
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
