package crawler

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// Cache remembers who sent which User-Agent. It holds a fixed number of entries, takes no locks and keeps nothing of a request's
// memory. It is safe for concurrent use, by several matchers at once: what one matcher found never answers for another.
type Cache struct {
	seed1, seed2 maphash.Seed
	mask         uint64
	ways         []atomic.Pointer[entry] // sets of cacheWays entries
}

const cacheWays = 4

// entry is one remembered User-Agent: two hashes of 64 bits with seeds of their own stand for it, so that nobody can make two meet.
type entry struct {
	hash1, hash2 uint64
	matcher      uint64
	agents       []Agent
}

// NewCache returns a cache for at least that many User-Agents, rounded up to a power of two. An entry takes about 60 octets, and
// some 70 more for each crawler that it names.
func NewCache(entries int) *Cache {
	sets := 1
	for sets*cacheWays < entries && sets < 1<<24 {
		sets *= 2
	}
	return &Cache{
		seed1: maphash.MakeSeed(),
		seed2: maphash.MakeSeed(),
		mask:  uint64(sets - 1),
		ways:  make([]atomic.Pointer[entry], sets*cacheWays),
	}
}

// Identify is [Matcher.Identify], answered from the cache where it can be.
func (c *Cache) Identify(m *Matcher, ua string, id *Identity) {
	if len(ua) > MaxUserAgent {
		ua = cut(ua)
	}
	hash1 := maphash.String(c.seed1, ua)
	hash2 := maphash.String(c.seed2, ua)
	base := ((hash1 ^ m.id*0x9e3779b97f4a7c15) & c.mask) * cacheWays
	set := c.ways[base : base+cacheWays : base+cacheWays]
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
			if a.Class == SelfDeclared || a.Class == Library && a.Crawler == nil {
				a.Token = strings.Clone(a.Token) // a part of the request
			}
			e.agents[i] = a
		}
		copy(id.agents[:], e.agents)
	}
	way := int(hash2 >> 32 % cacheWays)
	for i := range set {
		if set[i].Load() == nil {
			way = i
			break
		}
	}
	set[way].Store(e)
}
