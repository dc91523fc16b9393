package verify

import (
	"hash/maphash"
	"math"
	"net/netip"
	"sync"
	"time"
)

// Lifetimes of DNS answers.
const (
	confirmedLifetime = 24 * time.Hour
	refutedLifetime   = time.Hour
	failedLifetime    = 5 * time.Minute

	// A confirmed address is looked up again when less than confirmedRefresh of its lifetime is left, so that it stays verified during an
	// outage of DNS.
	confirmedRefresh = 6 * time.Hour
)

// Sizes of the cache. In all shards together it has room for 16,384 confirmed addresses, 65,536 refuted ones and 16,384 with a failed lookup,
// at 24 bytes each.
const (
	shardCount     = 64
	ways           = 8
	confirmedSlots = 256 // of a shard, a multiple of ways, a power of two
	refutedSlots   = 1024
	failedSlots    = 256
)

// answer is the result of a DNS lookup of an address.
type answer uint8

const (
	noAnswer  answer = iota // the cache has none
	confirmed               // it belongs to the crawler
	refuted                 // it does not
	failed                  // DNS gave no usable answer
)

// slotKey identifies an entry: an address and the suffix set with which it was checked.
type slotKey struct {
	addr [16]byte
	set  uint32
}

func makeKey(set uint32, addr netip.Addr) slotKey { return slotKey{addr.As16(), set} }

type slot struct {
	key     slotKey
	expires uint32 // seconds since 1970; 0: free
}

// partition is a hash table of fixed size. A hash determines the group of slots for a key. If the group is full, a new entry replaces the one
// that expires first.
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
	oldest := &group[hash>>29%ways] // which one is replaced if several expire at the same time
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

// cache stores DNS answers. Each kind of answer has its own partition, so that no number of refuted or failed addresses can displace a
// confirmed one. It is safe for concurrent use.
type cache struct {
	seed   maphash.Seed
	shards [shardCount]cacheShard
}

type cacheShard struct {
	mu      sync.Mutex
	parts   [failed + 1]partition // by answer; allocated when first used
	pending map[slotKey]struct{}  // lookups that are queued or running; the queues bound their number
	_       [16]byte
}

func newCache() *cache { return &cache{seed: maphash.MakeSeed()} }

func (c *cache) shard(key slotKey) (*cacheShard, uint64) {
	hash := maphash.Bytes(c.seed, key.addr[:]) ^ uint64(key.set)*0x9e3779b97f4a7c15
	return &c.shards[hash%shardCount], hash
}

// get returns the cached answer, and whether the address should be looked up again.
func (c *cache) get(key slotKey, now time.Time) (a answer, refresh bool) {
	s, hash := c.shard(key)
	seconds := stamp(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := confirmed; a <= failed; a++ {
		if expires, ok := s.parts[a].get(hash, key, seconds); ok {
			if a == confirmed && expires-seconds < uint32(confirmedRefresh/time.Second) {
				_, recent := s.parts[failed].get(hash, key, seconds)
				return confirmed, !recent
			}
			return a, false
		}
	}
	return noAnswer, true
}

// reserve marks a lookup as queued. It returns false if one of the same key is queued or running.
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

// release removes the mark of reserve.
func (c *cache) release(key slotKey) {
	s, _ := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, key)
}

// put stores the answer of a lookup. A failed lookup does not replace another answer.
func (c *cache) put(key slotKey, a answer, now time.Time) {
	s, hash := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	size, lifetime := failedSlots, failedLifetime
	switch a {
	case confirmed:
		size, lifetime = confirmedSlots, confirmedLifetime
	case refuted:
		size, lifetime = refutedSlots, refutedLifetime
	}
	if s.parts[a] == nil {
		s.parts[a] = make(partition, size)
	}
	s.parts[a].put(hash, key, stamp(now.Add(lifetime)))
	if a != failed {
		for other := confirmed; other <= failed; other++ {
			if other != a {
				s.parts[other].remove(hash, key)
			}
		}
	}
}

// counts returns the number of stored addresses by answer, and the number of lookups that are queued or running.
func (c *cache) counts(now time.Time) (n [failed + 1]int, pending int) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for a := confirmed; a <= failed; a++ {
			n[a] += s.parts[a].count(stamp(now))
		}
		pending += len(s.pending)
		s.mu.Unlock()
	}
	return n, pending
}

// stamp returns t in seconds since 1970, limited to 1 … math.MaxUint32, the range of slot.expires.
func stamp(t time.Time) uint32 { return uint32(min(max(t.Unix(), 1), math.MaxUint32)) }
