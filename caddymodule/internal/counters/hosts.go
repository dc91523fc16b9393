package counters

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// defaultRoom is the default of SetRoom.
const defaultRoom = 16 << 20

// staleDays is after how many days without a request a host loses its counters.
const staleDays = 31

func dayOf(t time.Time) int32 { return int32(t.Unix() / (24 * 60 * 60)) }

func (m minute) day() int32 { return int32(m.step(monthSpan)) }

// SetRoom sets how many octets the counters of hosts may take. What does not fit is
// counted under the pattern that the host matches.
func (c *Counters) SetRoom(octets int64) {
	c.room.Store(octets)
	c.rows.max[ofHost].Store(octets / rowSize)
}

// HostOctets returns how many octets the counters of hosts take, but for those of names that
// clients make up.
func (c *Counters) HostOctets() int64 {
	return c.rows.n[ofHost].Load()*rowSize + int64(c.hosts.len())*hostSize
}

// IsHostName reports whether a name in lower case consists of labels of letters, digits
// and inner hyphens.
func IsHostName(name string) bool {
	before := byte('.')
	for i := range len(name) {
		b := name[i]
		switch {
		case 'a' <= b && b <= 'z', '0' <= b && b <= '9', b == '-' && before != '.', b == '.' && before != '.' && before != '-':
		default:
			return false
		}
		before = b
	}
	return before != '.' && before != '-' && len(name) <= 253
}

// Host returns the counters of a host of the site that no other site names, and adds them
// if there are none. It returns s if the name is no host name, or if there is no room.
//
// Clients can make up hosts. So those that had requests on one day only share a tenth of the
// room, where those with the fewest requests make room for others; a host that had
// requests on two days keeps its counters until it had none for a month, or the counters
// of all take too much memory.
func (s *Site) Host(name string, now time.Time) *Site {
	if h := s.findHost(name); h != nil {
		return h
	}
	if c := s.counters; IsHostName(name) && c.HostOctets() < c.room.Load()/8*7 {
		return cmp.Or(s.addHost(invented, name, dayOf(now)), s)
	}
	return s
}

// findHost returns the counters of a host, nil if it has none.
func (s *Site) findHost(name string) *Site {
	return s.counters.hosts.find(s.hashHost(name), func(h *Site) bool { return h.pattern == s && h.name == name })
}

func (s *Site) hashHost(name string) uint64 { return maphash.String(s.counters.seed, name) ^ s.salt }

// addHost adds counters of a host of the site, and returns nil if there is no room.
func (s *Site) addHost(of kind, name string, first int32) *Site {
	return s.counters.hosts.add(s.hashHost(name), of, func(h *Site) bool { return h.pattern == s && h.name == name }, func(h *Site) {
		h.begin(s.counters, strings.Clone(name), s)
		h.first, h.last, h.known = first, minute(first)*parts[monthSpan].step, of == ofHost
	})
}

// Hosts returns the hosts of the sites in a scope that have counters.
func (c *Counters) Hosts(scope statusapi.Scope) (names []string) {
	for h := range c.hosts.values() {
		if h.in(scope) {
			names = append(names, h.name)
		}
	}
	return names
}

// HasHost reports whether a host that only a pattern names has counters.
func (c *Counters) HasHost(name string) bool {
	return c.anyHost(name, func(*Site) bool { return true })
}

// KnowsHost reports whether a host that only a pattern names had requests on two days.
func (c *Counters) KnowsHost(name string) bool {
	return c.anyHost(name, func(h *Site) bool { return h.known })
}

func (c *Counters) anyHost(name string, has func(*Site) bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sites {
		if h := s.findHost(name); h != nil && has(h) {
			return true
		}
	}
	return false
}

// in reports whether a scope has the site, or the pattern that it matches.
func (s *Site) in(scope statusapi.Scope) bool { return scope.Host(s.configured(), s.name) }

// configured returns the name of the site in the configuration.
func (s *Site) configured() string { return cmp.Or(s.patternName(), s.name) }

// patternName returns the pattern that a host matches, "" for a site.
func (s *Site) patternName() string {
	if s.pattern != nil {
		return s.pattern.name
	}
	return ""
}

// evictHosts removes hosts that may not keep their counters. Their patterns have their counts.
func (c *Counters) evictHosts() {
	evicted := false
	remove := func(h *Site) {
		h.gone, evicted = true, true
		c.retired = append(c.retired, h.visitors)
	}
	for n := range c.hosts.nodes() {
		switch h := &n.value; {
		case !h.known && h.last.day() > h.first:
			h.known = c.hosts.move(n, ofHost)
		case c.at.day()-h.last.day() > staleDays:
			c.hosts.remove(n)
			remove(h)
		}
	}
	requests := make(map[*Site]int64)
	if c.hosts.n[invented].Load() > maxNew*3/4 || c.isFull() {
		for r := range c.all() {
			requests[r.crawler.site] += int64(r.in(hourSpan))
		}
	}
	for _, h := range c.hosts.evict(invented, func(h *Site) [2]int64 { return [2]int64{requests[h], int64(h.last)} }) {
		remove(h)
	}
	if c.isFull() { // the new ones first
		nodes := slices.SortedFunc(c.hosts.nodes(), func(a, b *node[Site]) int {
			return cmp.Or(cmp.Compare(b.kind, a.kind), cmp.Compare(a.value.last, b.value.last))
		})
		for _, n := range nodes[:(len(nodes)+3)/4] {
			c.hosts.remove(n)
			remove(&n.value)
		}
	}
	if !evicted {
		return
	}
	for n := range c.rows.nodes() {
		if n.value.crawler.site.gone {
			c.rows.remove(n)
			c.retire(&n.value)
		}
	}
}

// isFull reports whether the counters of hosts take most of their room.
func (c *Counters) isFull() bool { return c.HostOctets() > c.room.Load()/4*3 }
