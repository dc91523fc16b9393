package crawler

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// Cache stores the identity of each User-Agent. It holds a fixed number of
// entries, takes no locks and keeps no reference to a request's memory. It is
// safe for concurrent use, by several matchers at once: a result of one matcher
// is never used for another.
type Cache struct {
	seed1, seed2 maphash.Seed
	mask         uint64
	entries      []atomic.Pointer[entry] // sets of cacheWays entries, each set with the same lower bits of its hash
}

const (
	cacheWays     = 4
	maxCacheEntry = 1 << 24
)

// entry is one remembered User-Agent. Two hashes of 64 bits, with seeds that nobody outside this process knows, stand for it: clients
// can't make two User-Agents meet.
type entry struct {
	hash1, hash2 uint64
	matcher      uint64
	agents       []Agent
}

// NewCache returns a cache for at least that many User-Agents, rounded up to a power of two, and at most 16 million. An entry takes about
// 60 octets, and some 80 more for each crawler that it names.
func NewCache(entries int) *Cache {
	sets := 1
	for sets*cacheWays < min(entries, maxCacheEntry) {
		sets *= 2
	}
	return &Cache{
		seed1:   maphash.MakeSeed(),
		seed2:   maphash.MakeSeed(),
		mask:    uint64(sets - 1),
		entries: make([]atomic.Pointer[entry], sets*cacheWays),
	}
}

// Identify is like [Matcher.Identify], but uses a cached result if there is
// one.
func (c *Cache) Identify(m *Matcher, ua string, id *Identity) {
	key := cut(ua)
	hash1 := maphash.String(c.seed1, key)
	if len(ua) > MaxUserAgent {
		hash1 = ^hash1 // not what the part that is read says by itself
	}
	hash2 := maphash.String(c.seed2, key)
	base := ((hash1 ^ m.id*0x9e3779b97f4a7c15) & c.mask) * cacheWays
	set := c.entries[base : base+cacheWays : base+cacheWays]
	for i := range set {
		if e := set[i].Load(); e != nil && e.hash1 == hash1 && e.hash2 == hash2 && e.matcher == m.id {
			id.n = copy(id.agents[:], e.agents)
			return
		}
	}
	m.Identify(ua, id)
	e := &entry{hash1: hash1, hash2: hash2, matcher: m.id}
	if id.n > 0 {
		e.agents = make([]Agent, id.n)
		for i, a := range id.Agents() {
			if a.Crawler == nil && a.Class != Named || a.Class == Offline {
				a.Token = strings.Clone(a.Token) // it can be a part of the request
			}
			e.agents[i] = a
		}
		copy(id.agents[:], e.agents)
	}
	set[way(set, hash2)].Store(e)
}

// way chooses the entry of a set to be replaced: an empty one, else one at random.
func way(set []atomic.Pointer[entry], random uint64) int {
	for i := range set {
		if set[i].Load() == nil {
			return i
		}
	}
	return int(random >> 32 % cacheWays)
}
