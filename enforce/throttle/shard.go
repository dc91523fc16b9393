package throttle

import (
	"math/bits"
	"sync"
	"unsafe"
)

// maxShards is how many locks a large Memory has.
const maxShards = 256

// shards are the parts of a Memory's table. The shard of a key depends on the
// key's hash.
type shards struct {
	shift uint // shifts a hash to the index of its shard
	list  []shard
}

// shard is a part of the table. It has its own lock, and shares no cache line
// with another shard.
type shard struct {
	mu sync.Mutex
	table
	from    *shards // earlier shards from which the keys of this shard were not copied yet; nil if there are none
	retired bool    // its keys were copied to other shards
	_       [128 - (24+unsafe.Sizeof(table{}))%128]byte
}

// newShards returns shards for at most maxEntries keys, rounded up to whole
// buckets, and at least 16.
func newShards(maxEntries int, seed uint64) *shards {
	maxEntries = max(maxEntries, 2*bucketSize)
	n := 1
	for n < maxShards && maxEntries/(n*2) >= 64*bucketSize {
		n *= 2
	}
	s := &shards{shift: uint(64 - bits.TrailingZeros(uint(n))), list: make([]shard, n)}
	perShard := (maxEntries + n*bucketSize - 1) / (n * bucketSize)
	for i := range s.list {
		s.list[i].table.limit = perShard
		s.list[i].table.seed = seed
	}
	return s
}

// limit returns the largest number of buckets of all shards.
func (s *shards) limit() int { return len(s.list) * s.list[0].limit }

// lock locks and returns the shard in m of a key with the hash h. s are the
// shards of m, or were before a Resize at the same time.
func (s *shards) lock(m *Memory, h uint64, now int64) *shard {
	for {
		i := h >> s.shift // a shift by 64 is 0
		part := &s.list[i]
		part.mu.Lock()
		if part.from != nil {
			part.fill(int(i), s, second(now))
		}
		if !part.retired {
			return part
		}
		part.mu.Unlock()
		s = m.shards.Load()
	}
}

// fill copies the keys of s, the shard with index i in all, from the earlier
// shards. The caller holds the lock of s.
//
// It marks an earlier shard as retired, so that calls for its keys go to the
// new shards. To prevent deadlocks, the lock of a new shard is always taken
// before that of an earlier one.
func (s *shard) fill(i int, all *shards, now uint32) {
	if s.from == nil {
		return
	}
	old := s.from
	s.from = nil
	first := i * len(old.list) / len(all.list)
	last := first + max(1, len(old.list)/len(all.list))
	for j := first; j < last; j++ {
		part := &old.list[j]
		part.mu.Lock()
		part.retired = true
		s.copyFrom(&part.table, i, all.shift, now)
		part.mu.Unlock()
	}
}

// copyFrom copies the keys of old that are in use and that belong to the shard
// with an index.
func (t *table) copyFrom(old *table, index int, shift uint, now uint32) {
	belongs := func(i, j int) bool {
		return old.cost(i, j, now) > reusable && int(hashTag(old.entries[i*bucketSize+j].tag, t.seed)>>shift) == index
	}
	keys := t.used
	for i := range old.heads {
		for j := range bucketSize {
			if belongs(i, j) {
				keys++
			}
		}
	}
	if size := keys*5/4/bucketSize + 1; keys > 0 && size > len(t.heads) && len(t.heads) < t.limit {
		t.growTo(size, now)
	}
	for i := range old.heads {
		for j := range bucketSize {
			for belongs(i, j) && !t.move(old, i, j, now) {
				t.grow(now)
			}
		}
	}
}
