package counters

import (
	"cmp"
	"hash/maphash"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// defaultRoom is the default of SetRoom.
const defaultRoom = 16 << 20

// staleDays is after how many days without a request a host loses its counters.
const staleDays = 31

// waiting is a host whose requests are counted under its pattern for lack of room.
type waiting struct {
	first, last atomic.Int32 // days since 1970 in UTC on which it had requests
	site        atomic.Pointer[Site]
}

func dayOf(t time.Time) int32 { return int32(t.Unix() / (24 * 60 * 60)) }

func (m minute) day() int32 { return int32(m.step(monthSpan)) }

// SetRoom sets how many octets the counters of hosts may take. What does not fit is
// counted under the pattern that the host matches.
func (c *Counters) SetRoom(octets int64) { c.room.Store(octets) }

// HostOctets returns how many octets the counters of hosts take.
func (c *Counters) HostOctets() int64 { return c.octets.Load() }

// takeRoom takes room for counters of a host.
func (c *Counters) takeRoom(octets int64) bool {
	if c.octets.Load() > c.room.Load()/16*15 {
		return false
	}
	c.octets.Add(octets)
	return true
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
	if !IsHostName(name) {
		return s
	}
	c, hash := s.counters, s.hashHost(name)
	today := dayOf(now)
	first, waited := today, c.waiting.Get(hash)
	if waited != nil {
		first = min(first, waited.first.Load())
	}
	if c.octets.Load() < c.room.Load()/8*7 {
		h := (*Site)(nil)
		if first < today {
			h = s.addHost(ofHost, hash, name, first)
		}
		if h == nil {
			h = s.addHost(invented, hash, name, first)
		}
		if h != nil {
			c.waiting.Remove(hash)
			return h
		}
	}
	if waited == nil || waited.last.Load() != today {
		s.wait(hash, first, today)
	}
	return s
}

// findHost returns the counters of a host, nil if it has none.
func (s *Site) findHost(name string) *Site {
	return s.counters.hosts.find(s.hashHost(name), func(h *Site) bool { return h.pattern == s && h.name == name })
}

func (s *Site) hashHost(name string) uint64 { return maphash.String(s.counters.seed, name) ^ s.salt }

// addHost adds counters of a host of the site, and returns nil if there is no room.
func (s *Site) addHost(of kind, hash uint64, name string, first int32) *Site {
	return s.counters.hosts.add(hash, of, func(h *Site) bool { return h.pattern == s && h.name == name }, func() *Site {
		s.counters.octets.Add(hostSize)
		return &Site{
			counters: s.counters, name: strings.Clone(name), salt: rand.Uint64(), pattern: s, people: make([]shard, 1),
			first: first, last: minute(first) * rings[monthSpan].step, known: of == ofHost,
		}
	})
}

// wait notes that a host without room had a request.
func (s *Site) wait(hash uint64, first, last int32) {
	s.counters.waiting.Add(hash, func(w *waiting) int64 {
		if w.last.Load() < last-staleDays {
			return math.MinInt64
		}
		return -int64(w.first.Load()) // those of today may be made up
	}, func(w *waiting) { w.first.Store(first); w.site.Store(s) }).last.Store(last)
}

// Hosts returns the number of hosts of the sites in a scope that have counters, and of
// those that had requests today or yesterday and have none for lack of room.
func (c *Counters) Hosts(scope statusapi.Scope) (counted, more int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := range c.hosts.nodes() {
		if n.value.in(scope) {
			counted++
		}
	}
	for w := range c.waiting.All() {
		if w.last.Load() >= c.at.day()-1 && scope.Site(w.site.Load().name) {
			more++
		}
	}
	return counted, more
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
		if !s.open {
			continue
		}
		if h := s.findHost(name); h != nil && has(h) {
			return true
		}
	}
	return false
}

// Waits reports whether requests to a host are counted under a pattern for lack of room.
func (c *Counters) Waits(pattern, host string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sites[pattern]
	return s != nil && c.waiting.Get(s.hashHost(host)) != nil
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

// allSites returns the counters of all sites, and of their hosts. The caller holds mu.
func (c *Counters) allSites() iter.Seq[*Site] {
	return concat(slices.Values(c.retiredHosts), maps.Values(c.sites), c.hosts.values())
}

// evictHosts removes hosts that may not keep their counters: see addRetired.
func (c *Counters) evictHosts() {
	remove := func(n *node[Site]) {
		c.hosts.remove(n)
		n.value.gone = true
		c.retiredHosts = append(c.retiredHosts, n.value)
	}
	for n := range c.hosts.nodes() {
		switch h := n.value; {
		case !h.known && h.last.day() > h.first:
			h.known = c.hosts.move(n, ofHost)
		case c.at.day()-h.last.day() > staleDays:
			remove(n)
		}
	}
	fresh := c.hosts.evict(invented, func(h *Site) [2]int64 {
		n := h.counts(hourSpan)
		return [2]int64{int64(n.Requests + n.People), int64(h.last)}
	})
	for _, h := range fresh {
		h.gone = true
		h.pattern.wait(h.pattern.hashHost(h.name), h.first, h.last.day())
	}
	c.retiredHosts = append(c.retiredHosts, fresh...)
	room, taken := c.room.Load(), c.measureHosts()
	if taken <= room {
		return
	}
	nodes := slices.Collect(c.hosts.nodes())
	slices.SortFunc(nodes, func(a, b *node[Site]) int {
		return cmp.Or(cmp.Compare(b.kind, a.kind), cmp.Compare(a.value.last, b.value.last))
	})
	for _, n := range nodes {
		if taken <= room/16*15 {
			break
		}
		remove(n)
		taken -= n.value.octets
	}
}

// measureHosts sets the octets of each host and of all, and returns those of the hosts that
// are not evicted: the others take memory for a minute.
func (c *Counters) measureHosts() (kept int64) {
	for s := range c.allSites() {
		s.octets = hostSize + s.visitors.octets() + s.searchRefused.octets()
		for _, h := range s.reasons.all() {
			s.octets += h.octets()
		}
		for row := range s.crawlers() {
			s.octets += crawlerSize
			for i := range row.past {
				s.octets += row.past[i].octets()
			}
		}
	}
	for n := range c.lines.nodes() {
		n.value.site.octets += lineSize + n.value.refused.octets()
	}
	all := int64(0)
	for s := range c.allSites() {
		if s.pattern == nil {
			continue
		}
		if all += s.octets; !s.gone {
			kept += s.octets
		}
	}
	c.octets.Store(all)
	return kept
}
