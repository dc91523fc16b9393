package throttle

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Memory is a Limiter that keeps budgets in the memory of this process. It
// takes 61 octets for each key, and grows up to the number of keys that it was
// made for. It starts no goroutine. Its methods are safe for concurrent use.
// Take allocates only when the Memory grows.
//
// A budget is unused again when its crawler has waited so long that it may send
// as many requests at once as with a new one. If there is no room for a new key,
// a Memory forgets another key: a Disposable key if it can and, among these, the
// one with the budget that is unused soonest. It chooses among 16 keys, not among
// all, so that the choice takes constant time. So it can forget keys before it is
// full: the first one when about four fifths of the room are taken. A Memory that
// gets exactly as many keys as it was made for keeps 97 % of them.
//
// A Memory stores 63 of the 128 bits of a Key, and whether it is Disposable.
// Two keys that do not differ in these share a budget.
type Memory struct {
	seed     uint64
	shards   atomic.Pointer[shards]
	resizing sync.Mutex
}

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
	retired bool // its keys were copied to other shards
	_       [128 - (16+unsafe.Sizeof(table{}))%128]byte
}

// NewMemory returns a Memory for at most maxEntries keys, rounded up to whole
// buckets of 8, and at least 16.
func NewMemory(maxEntries int) *Memory {
	m := &Memory{seed: rand.Uint64()}
	m.shards.Store(newShards(maxEntries, m.seed))
	return m
}

func newShards(maxEntries int, seed uint64) *shards {
	maxEntries = max(maxEntries, 2*bucketSize)
	n := 1
	for n < maxShards && maxEntries/(n*2) >= 64*bucketSize {
		n *= 2
	}
	s := &shards{shift: uint(64 - bits.TrailingZeros(uint(n))), list: make([]shard, n)}
	for i := range s.list {
		s.list[i].seed, s.list[i].limit = seed, (maxEntries+n*bucketSize-1)/(n*bucketSize)
	}
	return s
}

// limit returns the largest number of buckets of all shards.
func (s *shards) limit() int { return len(s.list) * s.list[0].limit }

// of returns the shard of a key with the hash h.
func (s *shards) of(h uint64) *shard { return &s.list[h>>s.shift] } // a shift by 64 is 0

// Resize changes the number of keys that m holds to maxEntries, rounded as by
// NewMemory. Budgets stay. If more keys than that are in use, m forgets some as
// it does for a new key. Take waits until all keys are copied, which takes some
// tenths of a second for a million. If the number is the same as before, Resize
// does nothing.
func (m *Memory) Resize(now time.Time, maxEntries int) {
	m.resizing.Lock()
	defer m.resizing.Unlock()
	old, next := m.shards.Load(), newShards(maxEntries, m.seed)
	if next.limit() == old.limit() {
		return
	}
	used, at := 0, second(now.UnixMicro())
	for i := range old.list {
		s := &old.list[i]
		s.mu.Lock()
		defer s.mu.Unlock()
		s.retired = true
		used += s.used
	}
	for i := range next.list {
		next.list[i].resize(used*5/4/bucketSize/len(next.list)+1, at)
	}
	for i := range old.list {
		old.list[i].copyTo(next, at)
	}
	m.shards.Store(next)
}

// copyTo copies the keys that are in use to the shards of another size.
func (t *table) copyTo(next *shards, now uint32) {
	for i := range t.heads {
		for j := range bucketSize {
			if t.cost(i, j, now) <= reusable {
				continue
			}
			to := next.of(hashTag(t.entries[i*bucketSize+j].tag, t.seed))
			for !to.move(t, i, j, now) {
				to.grow(now)
			}
		}
	}
}

// Take implements Limiter. It does not use ctx.
func (m *Memory) Take(_ context.Context, now time.Time, uses []Use, maxWait time.Duration) Result {
	return m.takeAlone(now.UnixMicro(), uses, 1, 0, maxWait)
}

// takeAlone decides on a request as one of n processes that each decide alone
// since a time; see stagger.
func (m *Memory) takeAlone(now int64, uses []Use, n int, since int64, maxWait time.Duration) Result {
	if len(uses) == 1 {
		var one [1]budget
		return m.decide(now, uses, one[:0], n, since, maxWait)
	}
	var all [MaxUses]budget
	return m.decide(now, uses, all[:0], n, since, maxWait)
}

// decide is takeAlone, with room for the budgets.
func (m *Memory) decide(now int64, uses []Use, list []budget, n int, since int64, maxWait time.Duration) (r Result) {
	list = m.lock(uses, list)
	for i := range list {
		b := &list[i]
		if part := b.limits.dividedBy(n); part != b.limits {
			b.stagger(now, since, m.seed, part)
		} else {
			b.load(now)
		}
	}
	v := earliest(now, list)
	if v.wait(now) > max(0, min(maxWait, MaxWait)) {
		r = v.refusal(now)
	} else {
		r = v.acceptance(now)
		for i := range list {
			b := &list[i]
			b.dirty = b.limits.use(v.at, &b.arrivals) || b.dirty
		}
	}
	store(now, list)
	unlock(list)
	if r.Delay > 0 {
		r.turn = newTurn(m, now, r, uses, list)
	}
	return r
}

// giveBack implements giver.
func (m *Memory) giveBack(now int64, t *turn) bool {
	var all [MaxUses]budget
	list := m.lock(t.uses, all[:0])
	defer unlock(list)
	for i := range list {
		b := &list[i]
		if b.shard == nil {
			continue
		}
		if b.slot, b.known = b.shard.find(b.tag, b.hash); b.known {
			b.slot.load(b.limits, &b.arrivals)
			b.dirty = b.sig == b.limits.sig
		}
		if !b.limits.giveBack(now, t.at, &b.arrivals) {
			return false
		}
	}
	store(now, list)
	return true
}

// lock appends to list the budgets of the uses with Limits, and locks their
// shards, in the same order in all goroutines.
func (m *Memory) lock(uses []Use, list []budget) []budget {
	for i := range min(len(uses), MaxUses) {
		u := &uses[i]
		if u.Limits == nil {
			continue
		}
		list = list[:len(list)+1]
		j := len(list) - 1
		b := &list[j]
		b.limits, b.use, b.tag = u.Limits, i, tagOf(u.Key)
		b.hash = hashTag(b.tag, m.seed)
		for ; j > 0 && list[j-1].hash > list[j].hash; j-- {
			list[j-1], list[j] = list[j], list[j-1]
		}
	}
	m.relock(list)
	return list
}

// relock locks the shards of budgets that are in the order of their hashes.
func (m *Memory) relock(list []budget) {
	for {
		var last *shard
		all, retired := m.shards.Load(), false
		for i := range list {
			b := &list[i]
			if b.limits.n == 0 {
				continue
			}
			if b.shard = all.of(b.hash); b.shard != last {
				last = b.shard
				last.mu.Lock()
				retired = retired || last.retired
			}
		}
		if !retired {
			return
		}
		unlock(list) // Resize has made other shards
	}
}

// unlock unlocks the shards of budgets.
func unlock(list []budget) {
	var last *shard
	for i := range list {
		if s := list[i].shard; s != nil && s != last {
			last = s
			s.mu.Unlock()
		}
	}
}

// lookUp sets the states of the budgets of uses, as far as the Memory has them,
// and appends the budgets to list.
func (m *Memory) lookUp(now int64, uses []Use, list []budget) []budget {
	list = m.lock(uses, list)
	for i := range list {
		b := &list[i]
		if b.load(now); b.dirty {
			b.arrivals, b.known, b.dirty = b.limits.fresh(now), false, false
		}
	}
	unlock(list)
	return list
}

// update merges the budgets of list, which have the states in the server, into
// the Memory. A budget only becomes smaller, so of two arrival times the later
// one counts, unless a request was given back.
func (m *Memory) update(now int64, list []budget, back bool) {
	m.relock(list)
	for i := range list {
		b := &list[i]
		here := *b
		here.load(now)
		if here.known && !here.dirty && !back {
			b.merge(&here.arrivals, b.limits)
		}
		b.slot, b.known, b.dirty = here.slot, here.known, b.shard != nil
	}
	store(now, list)
	unlock(list)
}
