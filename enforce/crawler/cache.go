package crawler

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// Cache stores the identity of each User-Agent. It holds a fixed number of
// entries, takes no locks and keeps no reference to a request's memory. It is
// safe for concurrent use. Several matchers can share it: a result of one
// matcher is never used for another.
type Cache struct {
	seed1, seed2 maphash.Seed
	mask         uint64
	entries      []atomic.Pointer[entry] // sets of cacheWays entries; the lower bits of a hash choose the set
}

const (
	cacheWays     = 4
	maxCacheEntry = 1 << 24
)

// entry is the result for one User-Agent. It is found by two hashes of 64 bits instead of the text. Their seeds are secret, so clients can't
// make up two User-Agents with the same hashes.
type entry struct {
	hash1, hash2 uint64
	matcher      uint64
	agents       []Agent
}

// NewCache returns a cache for the given number of User-Agents, rounded up to a power of two: at least 4, at most 16,777,216. An entry takes
// about 60 bytes, and about 80 more for each crawler that the User-Agent names. Each User-Agent has four places, chosen by its hash. If all four
// are in use, the new entry replaces one of them at random.
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
		hash1 = ^hash1 // a longer User-Agent has another result than its first MaxUserAgent octets
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
			if a.Crawler == nil && a.Class != Named || a.Class == Scraper {
				a.Token = strings.Clone(a.Token) // it can share memory with the request
			}
			e.agents[i] = a
		}
		copy(id.agents[:], e.agents)
	}
	set[way(set, hash2)].Store(e)
}

// way returns the index of the entry to replace in a set: an empty one, else one at random.
func way(set []atomic.Pointer[entry], random uint64) int {
	for i := range set {
		if set[i].Load() == nil {
			return i
		}
	}
	return int(random >> 32 % cacheWays)
}
