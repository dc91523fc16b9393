package throttle

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
	"unsafe"
)

// maxShards is how many locks a large Memory has.
const maxShards = 256

// Memory is the embedded engine. It holds the budgets of at most as many keys
// as it was made for, in 61 bytes each, grows as they come, and starts no
// goroutine. Its methods are safe for concurrent use, and Take allocates
// nothing but when it grows.
//
// Where a new key finds no room, the key that would be free soonest is
// forgotten, Disposable keys before others. That takes constant time, as the
// choice is among the 16 keys of two buckets rather than among all: the one
// forgotten is the soonest of 16 drawn at random, so it is among the later
// half of all keys in fewer than 1 of 60,000 cases. That happens when a table
// is about four fifths full; of as many keys as it was made for it holds 97 %.
//
// A key's identity in memory is 63 of the Key's 128 bits and whether it is
// Disposable.
type Memory struct {
	seed   uint64
	shift  uint // of a hash, to its shard
	shards []shard
}

// shard is a part of the table with a lock of its own, on a cache line of its
// own.
type shard struct {
	mu sync.Mutex
	table
	_ [128 - (8+unsafe.Sizeof(table{}))%128]byte
}

// NewMemory returns an engine for at most maxEntries keys, rounded up to
// whole buckets; at least 16.
func NewMemory(maxEntries int) *Memory {
	maxEntries = max(maxEntries, 2*bucketSize)
	shards, shift := 1, uint(64)
	for shards < maxShards && maxEntries/(shards*2) >= 64*bucketSize {
		shards, shift = shards*2, shift-1
	}
	m := &Memory{seed: rand.Uint64(), shift: shift, shards: make([]shard, shards)}
	perShard := (maxEntries + shards*bucketSize - 1) / (shards * bucketSize)
	for i := range m.shards {
		m.shards[i].table.limit = perShard
		m.shards[i].table.seed = m.seed
	}
	return m
}

// Take implements Limiter. It does not use ctx.
func (m *Memory) Take(_ context.Context, now time.Time, k Key, t *Terms, maxWait time.Duration) Result {
	if t == nil {
		return Result{OK: true}
	}
	at := now.UnixMicro()
	if t.n == 0 {
		a := t.fresh(at)
		r, _ := t.decide(at, &a, maxWait)
		return r
	}
	s, tag, h := m.shard(k)
	s.mu.Lock()
	r := s.take(at, tag, h, t, maxWait)
	s.mu.Unlock()
	return r
}

// shard returns where k is, its tag and its hash.
func (m *Memory) shard(k Key) (s *shard, tag, h uint64) {
	tag = tagOf(k)
	h = hashTag(tag, m.seed)
	return &m.shards[h>>m.shift], tag, h // a shift by 64 is 0
}

// recall returns what is known of k's budget under t, and whether anything is.
func (m *Memory) recall(now int64, k Key, t *Terms) (arrivals, bool) {
	s, tag, h := m.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	place, found := s.find(tag, h)
	if !found {
		return t.fresh(now), false
	}
	var a arrivals
	place.load(t, &a)
	if a.sig != t.sig {
		t.adopt(&a)
	}
	if t.rewind(now, &a) {
		return t.fresh(now), false
	}
	return a, true
}

// learn adds what was heard of k's budget under t to what is known. Budgets
// only become smaller: of two arrival times the later one counts.
func (m *Memory) learn(now int64, k Key, t *Terms, heard *arrivals) {
	s, tag, h := m.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	place, found := s.find(tag, h)
	if !found {
		place = s.insert(tag, h, now)
	} else {
		var a arrivals
		place.load(t, &a)
		if a.sig != t.sig {
			t.adopt(&a)
		}
		if !t.rewind(now, &a) {
			heard.merge(&a, t)
		}
	}
	place.store(t, heard)
}

// take answers a request for the key with the given tag and hash.
func (t *table) take(now int64, tag, h uint64, terms *Terms, maxWait time.Duration) Result {
	var a arrivals
	place, found := t.find(tag, h)
	if found {
		place.load(terms, &a)
	} else {
		a = terms.fresh(now)
	}
	r, dirty := terms.decide(now, &a, maxWait)
	if !dirty {
		return r
	}
	if !found {
		place = t.insert(tag, h, now)
	}
	place.store(terms, &a)
	return r
}

// Close implements Limiter. A Memory holds nothing but memory.
func (m *Memory) Close() error { return nil }

// MemoryStats is the state of a Memory.
type MemoryStats struct {
	// Entries is the number of keys held, those included that are free again
	// and have not been replaced.
	Entries int

	// Bytes is the size of the tables.
	Bytes int

	// Evictions counts the keys that were forgotten while they were not free.
	Evictions uint64
}

// Stats returns the state of m. It locks one shard after the other.
func (m *Memory) Stats() MemoryStats {
	var s MemoryStats
	for i := range m.shards {
		sh := &m.shards[i]
		sh.mu.Lock()
		s.Entries += sh.used
		s.Bytes += len(sh.heads)*int(unsafe.Sizeof(head{})) + len(sh.entries)*int(unsafe.Sizeof(entry{}))
		s.Evictions += sh.evictions
		sh.mu.Unlock()
	}
	return s
}
