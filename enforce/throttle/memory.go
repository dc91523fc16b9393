package throttle

import (
	"cmp"
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
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
		old.list[i].copyTo(func(h uint64) *table { return &next.of(h).table }, at)
	}
	m.shards.Store(next)
}

// Take implements Limiter. It does not use ctx.
func (m *Memory) Take(_ context.Context, now time.Time, uses []Use) Result {
	return m.take(now.UnixMicro(), uses)
}

func (m *Memory) take(at int64, uses []Use) Result {
	if len(uses) != 1 || uses[0].Limits == nil {
		return m.takeAll(at, uses, false)
	}
	t := uses[0].Limits // one use, as nearly always, takes a third of the time of takeAll
	if len(t.limits) == 0 {
		return t.first(at)
	}
	tag := tagOf(&uses[0].Key)
	s, h := m.lock(tag)
	r := s.take(at, tag, h, t)
	s.mu.Unlock()
	return r
}

// take decides on a request for the key with a tag and hash.
func (t *table) take(now int64, tag, h uint64, l *Limits) Result {
	var a State
	place, found, rewound := t.load(now, tag, h, l, &a)
	r := l.earliest(now, &a).result(now)
	if isUsed := r.OK && l.use(now, &a); !isUsed && !rewound {
		return r
	}
	if !found {
		place = t.insert(tag, h, now)
	}
	place.store(l, &a)
	return r
}

// takeAll decides on a request that uses several budgets. If peeks is true, it uses none.
func (m *Memory) takeAll(now int64, uses []Use, peeks bool) Result {
	var all [MaxUses]budget
	list := m.lockAll(uses, all[:0])
	for i := range list {
		list[i].load(now)
	}
	r := decide(now, list)
	for i := range list {
		b := &list[i]
		b.dirty = r.OK && !peeks && b.limits.use(now, &b.State) || b.dirty
	}
	store(now, list)
	unlock(list)
	return r
}

// GiveBack implements Limiter.
func (m *Memory) GiveBack(now, at time.Time, uses []Use) bool {
	var all [MaxUses]budget
	list := m.lockAll(uses, all[:0])
	defer unlock(list)
	for i := range list {
		b := &list[i]
		if place, found := b.find(); found {
			place.load(b.limits, &b.State)
			b.dirty = b.sig == b.limits.sig
		}
		if b.shard != nil && !b.limits.giveBack(now.UnixMicro(), at.UnixMicro(), &b.State) {
			return false
		}
	}
	store(now.UnixMicro(), list)
	return true
}

// lock locks and returns the shard of the key with a tag, and the key's hash.
func (m *Memory) lock(tag uint64) (s *shard, h uint64) {
	h = hashTag(tag, m.seed)
	for {
		s = m.shards.Load().of(h)
		if s.mu.Lock(); !s.retired {
			return s, h
		}
		s.mu.Unlock() // Resize has made other shards
	}
}

// lockAll appends to list the budgets of the uses with Limits, and locks their
// shards, in the same order in all goroutines.
func (m *Memory) lockAll(uses []Use, list []budget) []budget {
	for i := range min(len(uses), MaxUses) {
		if u := &uses[i]; u.Limits != nil {
			tag := tagOf(&u.Key)
			list = append(list, budget{limits: u.Limits, use: i, tag: tag, hash: hashTag(tag, m.seed)})
		}
	}
	slices.SortFunc(list, func(a, b budget) int { return cmp.Compare(a.hash, b.hash) })
	for {
		var last *shard
		all, retired := m.shards.Load(), false
		for i := range list {
			b := &list[i]
			if len(b.limits.limits) == 0 {
				continue
			}
			if b.shard = all.of(b.hash); b.shard != last {
				last = b.shard
				last.mu.Lock()
				retired = retired || last.retired
			}
		}
		if !retired {
			return list
		}
		unlock(list)
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

// load sets a to the state of a key's budget under l, and returns the key's slot.
// It reports whether there is one, and whether its state comes from a clock that
// was set back since.
func (t *table) load(now int64, tag, h uint64, l *Limits, a *State) (place slot, found, rewound bool) {
	if place, found = t.find(tag, h); !found {
		*a = l.fresh(now)
		return place, false, false
	}
	place.load(l, a)
	if a.sig != l.sig {
		l.convert(a)
	}
	return place, true, l.rewind(now, a)
}

// Peek returns what Take would return, but uses no budget.
func (m *Memory) Peek(now time.Time, uses ...Use) Result {
	return m.takeAll(now.UnixMicro(), uses, true)
}

// Forget implements Limiter. The error is always nil.
func (m *Memory) Forget(_ context.Context, now time.Time, k Key) error {
	tag := tagOf(&k)
	s, h := m.lock(tag)
	defer s.mu.Unlock()
	if place, found := s.find(tag, h); found {
		place.head.marks &^= 0xff << (8 * place.index)
		s.used--
	}
	return nil
}
