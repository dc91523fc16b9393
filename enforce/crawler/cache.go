package crawler

import (
	"hash/maphash"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/table"
)

// Cache stores the identity of each User-Agent. It holds a fixed number of
// entries, takes no locks for a User-Agent that it has, and keeps no reference to
// a request's memory. It is safe for concurrent use. Several matchers can share
// it: a result of one matcher is never used for another.
type Cache struct {
	seeds   [2]maphash.Seed
	results *table.Table[result]
}

const maxCacheEntries = 1 << 24

// result is the identity of one User-Agent. The User-Agent is compared by two
// hashes of 64 bits: the key in the table, and this one. Their seeds are secret, so
// clients can't make up two User-Agents with the same hashes.
type result struct {
	hash, matcher uint64
	agents        []Agent
}

// NewCache returns a cache for the given number of User-Agents, at most
// 16,777,216. An entry takes about 65 bytes, and about 80 more for each crawler
// that the User-Agent names. Each User-Agent has seven places, chosen by its hash.
// If all are in use, the new entry replaces one of them at random.
func NewCache(entries int) *Cache {
	return &Cache{[2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, table.New[result](min(entries, maxCacheEntries))}
}

// Identify is like [Matcher.Identify], but uses a cached result if there is
// one.
func (c *Cache) Identify(m *Matcher, ua string, id *Identity) {
	text := cut(ua)
	key, hash := maphash.String(c.seeds[0], text)^m.id*0x9e3779b97f4a7c15, maphash.String(c.seeds[1], text)
	if len(ua) > MaxUserAgent {
		key = ^key // a longer User-Agent has another result than its first MaxUserAgent octets
	}
	if r := c.results.Get(key); r != nil && r.hash == hash && r.matcher == m.id {
		id.n = copy(id.agents[:], r.agents)
		return
	}
	m.Identify(ua, id)
	worth := func(r *result) int64 { return int64(r.hash ^ hash) } // random
	c.results.Add(key, worth, func(r *result) { *r = result{hash, m.id, id.clone()} })
}

// clone returns a copy of the agents that shares no memory with a request, and
// makes id use its texts.
func (id *Identity) clone() []Agent {
	if id.n == 0 {
		return nil
	}
	agents := make([]Agent, id.n)
	for i, a := range id.Agents() {
		if a.Crawler == nil && a.Class != Named || a.Class == Scraper {
			a.Token = strings.Clone(a.Token) // it can share memory with the request
		}
		agents[i] = a
	}
	copy(id.agents[:], agents)
	return agents
}
