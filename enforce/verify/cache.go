package verify

import (
	"hash/maphash"
	"math"
	"net/netip"
	"sync"
	"time"
)

// Lifetimes of answers of DNS.
const (
	yesLifetime  = 24 * time.Hour
	noLifetime   = time.Hour
	failLifetime = 5 * time.Minute

	// yesRefresh is the rest of its life from which on a yes is looked up again, so that an outage of DNS makes nobody unverified.
	yesRefresh = 6 * time.Hour
)

// Sizes of the cache: 64 shards hold 16,384 confirmed addresses, 65,536 refuted ones and 16,384 whose lookup failed, 24 octets each.
const (
	shardCount = 64
	ways       = 8
	yesSlots   = 256 // of a shard, a multiple of ways, a power of two
	noSlots    = 1024
	failSlots  = 256
)

// answer is what DNS said about an address.
type answer uint8

const (
	unknown answer = iota
	yes
	no
	failed
)

// slotKey names an entry: an address and what it was checked against.
type slotKey struct {
	addr [16]byte
	set  uint32
}

func makeKey(set uint32, addr netip.Addr) slotKey { return slotKey{addr.As16(), set} }

type slot struct {
	key     slotKey
	expires uint32 // seconds since 1970; 0: free
}

// partition is a table of fixed size. Each key has its place in one group of slots, where the entry that expires first gives way.
type partition []slot

func (p partition) group(hash uint64) []slot {
	at := int(hash>>32) & (len(p)/ways - 1) * ways
	return p[at : at+ways : at+ways]
}

func (p partition) get(hash uint64, key slotKey, now uint32) (expires uint32, ok bool) {
	if p == nil {
		return 0, false
	}
	group := p.group(hash)
	for i := range group {
		if s := &group[i]; s.expires > now && s.key == key {
			return s.expires, true
		}
	}
	return 0, false
}

func (p partition) put(hash uint64, key slotKey, expires uint32) {
	group := p.group(hash)
	oldest := &group[hash>>29%ways] // of several that expire at the same time
	for i := range group {
		s := &group[i]
		if s.key == key && s.expires != 0 {
			s.expires = expires
			return
		}
		if s.expires < oldest.expires {
			oldest = s
		}
	}
	*oldest = slot{key, expires}
}

func (p partition) remove(hash uint64, key slotKey) {
	if p == nil {
		return
	}
	group := p.group(hash)
	for i := range group {
		if group[i].key == key {
			group[i] = slot{}
		}
	}
}

func (p partition) count(now uint32) (n int) {
	for i := range p {
		if p[i].expires > now {
			n++
		}
	}
	return n
}

// cache holds the answers of DNS, each kind in a partition of its own: no number of refuted or failed addresses can push out a
// confirmed one. It is safe for concurrent use.
type cache struct {
	seed   maphash.Seed
	shards [shardCount]cacheShard
}

type cacheShard struct {
	mu      sync.Mutex
	parts   [failed + 1]partition // by answer; made when first used
	pending map[slotKey]struct{}  // lookups queued or under way, bounded by the queues
	_       [16]byte
}

func newCache() *cache { return &cache{seed: maphash.MakeSeed()} }

func (c *cache) shard(key slotKey) (*cacheShard, uint64) {
	hash := maphash.Bytes(c.seed, key.addr[:]) ^ uint64(key.set)*0x9e3779b97f4a7c15
	return &c.shards[hash%shardCount], hash
}

// get returns what is known, and whether it is time to look up again.
func (c *cache) get(key slotKey, now time.Time) (a answer, again bool) {
	s, hash := c.shard(key)
	seconds := stamp(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := yes; a <= failed; a++ {
		if expires, ok := s.parts[a].get(hash, key, seconds); ok {
			if a == yes && expires-seconds < uint32(yesRefresh/time.Second) {
				_, recent := s.parts[failed].get(hash, key, seconds)
				return yes, !recent
			}
			return a, false
		}
	}
	return unknown, true
}

// reserve marks a lookup as under way. It returns false where one is already.
func (c *cache) reserve(key slotKey) bool {
	s, _ := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.pending[key]; ok {
		return false
	}
	if s.pending == nil {
		s.pending = make(map[slotKey]struct{})
	}
	s.pending[key] = struct{}{}
	return true
}

func (c *cache) release(key slotKey) {
	s, _ := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, key)
}

// put keeps the answer of a lookup. A failure replaces neither a yes nor a no.
func (c *cache) put(key slotKey, a answer, now time.Time) {
	s, hash := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	size, lifetime := failSlots, failLifetime
	switch a {
	case yes:
		size, lifetime = yesSlots, yesLifetime
	case no:
		size, lifetime = noSlots, noLifetime
	}
	if s.parts[a] == nil {
		s.parts[a] = make(partition, size)
	}
	s.parts[a].put(hash, key, stamp(now.Add(lifetime)))
	if a != failed {
		for other := yes; other <= failed; other++ {
			if other != a {
				s.parts[other].remove(hash, key)
			}
		}
	}
}

// counts returns how many confirmed, refuted and failed addresses are held, and how many lookups are queued or under way.
func (c *cache) counts(now time.Time) (n [failed + 1]int, pending int) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for a := yes; a <= failed; a++ {
			n[a] += s.parts[a].count(stamp(now))
		}
		pending += len(s.pending)
		s.mu.Unlock()
	}
	return n, pending
}

// stamp returns t in seconds since 1970, within what an entry holds.
func stamp(t time.Time) uint32 { return uint32(min(max(t.Unix(), 1), math.MaxUint32)) }
