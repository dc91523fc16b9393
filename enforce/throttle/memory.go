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
func (m *Memory) Take(_ context.Context, now time.Time, k Key, t *Limits, maxWait time.Duration) Result {
	if t == nil {
		return Result{OK: true}
	}
	at := now.UnixMicro()
	if t.n == 0 {
		a := t.fresh(at)
		r, _ := t.decide(at, &a, maxWait)
		return r
	}
	s, tag, h := m.lock(k)
	r := s.take(at, tag, h, t, maxWait)
	s.mu.Unlock()
	if r.Delay == 0 {
		return r // without the copy that heldBy makes
	}
	return r.heldBy(m, at, k, t)
}

// giveBack implements giver.
func (m *Memory) giveBack(now int64, t *turn) bool {
	s, tag, h := m.lock(t.key)
	defer s.mu.Unlock()
	place, found := s.find(tag, h)
	if !found {
		return false
	}
	var a arrivals
	place.load(t.limits, &a)
	if !t.limits.giveBack(now, t.at, &a) {
		return false
	}
	place.store(t.limits, &a)
	return true
}

// lock locks and returns the shard of k, with k's tag and hash.
func (m *Memory) lock(k Key) (s *shard, tag, h uint64) {
	tag = tagOf(k)
	h = hashTag(tag, m.seed)
	for {
		s = m.shards.Load().of(h)
		if s.mu.Lock(); !s.retired {
			return s, tag, h
		}
		s.mu.Unlock() // Resize has made other shards
	}
}

// lookUp returns the state of k's budget under t, and whether the Memory has
// one.
func (m *Memory) lookUp(now int64, k Key, t *Limits) (arrivals, bool) {
	s, tag, h := m.lock(k)
	defer s.mu.Unlock()
	place, found := s.find(tag, h)
	if !found {
		return t.fresh(now), false
	}
	var a arrivals
	place.load(t, &a)
	if a.sig != t.sig {
		p := t.part.Load()
		a.alone = p != nil && p.limits.sig == a.sig
		t.convert(&a)
	}
	if t.rewind(now, &a) {
		return t.fresh(now), false
	}
	return a, true
}

// update merges remote, the state of k's budget under t in the server, into the
// Memory. A budget only becomes smaller, so of two arrival times the later one
// counts, unless a request was given back.
func (m *Memory) update(now int64, k Key, t *Limits, remote *arrivals, back bool) {
	s, tag, h := m.lock(k)
	defer s.mu.Unlock()
	place, found := s.find(tag, h)
	if !found {
		place = s.insert(tag, h, now)
	} else if !back {
		var a arrivals
		place.load(t, &a)
		if a.sig != t.sig {
			t.convert(&a)
		}
		if !t.rewind(now, &a) {
			remote.merge(&a, t)
		}
	}
	place.store(t, remote)
}

// take decides on a request for the key with a tag and hash.
func (t *table) take(now int64, tag, h uint64, l *Limits, maxWait time.Duration) Result {
	var a arrivals
	place, found := t.find(tag, h)
	if found {
		place.load(l, &a)
	} else {
		a = l.fresh(now)
	}
	r, dirty := l.decide(now, &a, maxWait)
	if !dirty {
		return r
	}
	if !found {
		place = t.insert(tag, h, now)
	}
	place.store(l, &a)
	return r
}

// takeAlone decides on a request by the limits t as one of n processes that each
// decide alone since a time. After that time, the first request of each key is
// accepted only after a random part of the interval, so that not all processes
// accept one at the same time.
func (m *Memory) takeAlone(now time.Time, k Key, t *Limits, n int, since int64, maxWait time.Duration) Result {
	part := t.dividedBy(n)
	if part == t {
		return m.Take(context.Background(), now, k, t, maxWait)
	}
	at := now.UnixMicro()
	s, tag, h := m.lock(k)
	s.stagger(at, tag, h, t, part, since)
	r := s.take(at, tag, h, part, maxWait)
	s.mu.Unlock()
	return r.heldBy(m, at, k, part)
}

// stagger sets the arrival times of a key that part, the limits of one process,
// has not been applied to since a time. What is used of the limits l at that
// moment remains known.
func (t *table) stagger(now int64, tag, h uint64, l, part *Limits, since int64) {
	a := l.fresh(now)
	place, found := t.find(tag, h)
	if !found {
		place = t.insert(tag, h, now)
	} else {
		place.load(l, &a)
		if a.sig == part.sig && a.last >= since {
			return
		}
		if a.sig != l.sig {
			l.convert(&a)
		}
		l.rewind(now, &a)
	}
	b := arrivals{last: now, sig: part.sig}
	random := float64(mix(tag^t.seed+uint64(now), 0xd1342543de82ef95)>>11) / (1 << 53)
	gone := now - since
	for i := range part.limits[:part.n] {
		p := &part.limits[i]
		b.used = max(b.used, float32(a.tat[i]-now)/float32(p.interval))
		free := max(0, a.tat[i]-l.limits[i].tolerance-now)
		wait := int64(random * float64(p.interval-free))
		if since > 0 && wait > gone { // counted from the beginning of the outage
			wait -= gone
		}
		b.tat[i] = now + free + wait + p.tolerance
	}
	place.store(part, &b)
}
