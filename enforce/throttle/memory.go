package throttle

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Memory is the embedded engine. It holds the budgets of at most as many keys
// as it was made for, in 61 bytes each, grows as they come, and starts no
// goroutine. Its methods are safe for concurrent use, and Take allocates
// nothing but when it grows.
//
// If there is no room for a new key, the key that would be free soonest is
// forgotten, Disposable keys before others. That takes constant time, as the
// choice is among the 16 keys of two buckets rather than among all: the one
// forgotten is the soonest of 16 drawn at random, so it is among the later half
// of all keys in fewer than 1 of 60,000 cases. That happens when a table is
// about four fifths full; of as many keys as it was made for it holds 97 %.
//
// A key's identity in memory is 63 of the Key's 128 bits and whether it is
// Disposable.
type Memory struct {
	seed     uint64
	shards   atomic.Pointer[shards]
	resizing sync.Mutex
}

// NewMemory returns an engine for at most maxEntries keys, rounded up to
// whole buckets; at least 16.
func NewMemory(maxEntries int) *Memory {
	m := &Memory{seed: rand.Uint64()}
	m.shards.Store(newShards(maxEntries, m.seed))
	return m
}

// Resize makes m hold at most maxEntries keys from now on, rounded as by
// NewMemory. Budgets are kept. If more keys than that are in use, those that
// would be free soonest are forgotten, Disposable keys before others.
//
// Requests go on meanwhile: one waits at most while the shard of its key is
// copied, which is a 256th of a large table. Where the number is the same,
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
	s, tag, h := m.lock(k, at)
	r := s.take(at, tag, h, t, maxWait)
	s.mu.Unlock()
	return r
}

// lock returns the shard of k, locked, with k's tag and hash.
func (m *Memory) lock(k Key, now int64) (s *shard, tag, h uint64) {
	tag = tagOf(k)
	h = hashTag(tag, m.seed)
	return m.shards.Load().lock(m, h, now), tag, h
}

// recall returns what is known of k's budget under t, and whether anything is.
func (m *Memory) recall(now int64, k Key, t *Terms) (arrivals, bool) {
	s, tag, h := m.lock(k, now)
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
	s, tag, h := m.lock(k, now)
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
