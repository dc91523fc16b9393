package throttle

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
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

// NewMemory returns a Memory for at most maxEntries keys, rounded up to whole
// buckets of 8, and at least 16.
func NewMemory(maxEntries int) *Memory {
	m := &Memory{seed: rand.Uint64()}
	m.shards.Store(newShards(maxEntries, m.seed))
	return m
}

// Resize changes the number of keys that m holds to maxEntries, rounded as by
// NewMemory. Budgets stay. If more keys than that are in use, m forgets some as
// it does for a new key.
//
// Take can be called meanwhile: it waits at most until the shard of its key is
// copied, which is 1/256 of a large table. If the number is the same as before,
// Resize does nothing.
func (m *Memory) Resize(now time.Time, maxEntries int) {
	m.resizing.Lock()
	defer m.resizing.Unlock()
	old := m.shards.Load()
	next := newShards(maxEntries, m.seed)
	if next.limit() == old.limit() {
		return
	}
	for i := range next.list {
		next.list[i].from = old
	}
	m.shards.Store(next)
	for i := range next.list {
		s := &next.list[i]
		s.mu.Lock()
		s.fill(i, next, second(now.UnixMicro()))
		s.mu.Unlock()
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
	s, tag, h := m.lock(k, at)
	r := s.take(at, tag, h, t, maxWait)
	s.mu.Unlock()
	return r
}

// lock locks and returns the shard of k, with k's tag and hash.
func (m *Memory) lock(k Key, now int64) (s *shard, tag, h uint64) {
	tag = tagOf(k)
	h = hashTag(tag, m.seed)
	return m.shards.Load().lock(m, h, now), tag, h
}

// lookUp returns the state of k's budget under t, and whether the Memory has
// one.
func (m *Memory) lookUp(now int64, k Key, t *Limits) (arrivals, bool) {
	s, tag, h := m.lock(k, now)
	defer s.mu.Unlock()
	place, found := s.find(tag, h)
	if !found {
		return t.fresh(now), false
	}
	var a arrivals
	place.load(t, &a)
	if a.sig != t.sig {
		t.convert(&a)
	}
	if t.rewind(now, &a) {
		return t.fresh(now), false
	}
	return a, true
}

// update merges remote, the state of k's budget under t in the server, into the
// Memory. A budget only becomes smaller, so of two arrival times the later one
// counts.
func (m *Memory) update(now int64, k Key, t *Limits, remote *arrivals) {
	s, tag, h := m.lock(k, now)
	defer s.mu.Unlock()
	place, found := s.find(tag, h)
	if !found {
		place = s.insert(tag, h, now)
	} else {
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
func (t *table) take(now int64, tag, h uint64, terms *Limits, maxWait time.Duration) Result {
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

// Close implements Limiter. It does nothing, and always returns nil.
func (m *Memory) Close() error { return nil }
