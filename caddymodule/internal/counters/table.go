package counters

import (
	"iter"
	"sync"
	"sync/atomic"
)

// table has rows by their hashes, in buckets, which are linked lists. It is safe for concurrent
// use. Lookups take no lock. It is no Table of package table, where a new key displaces another
// one and its value is lost: counts must go on in the totals.
type table struct {
	buckets [1 << 14]atomic.Pointer[row] // most have few

	mu sync.Mutex // for changes
}

// limit is a number of rows, and the largest one.
type limit struct{ n, max atomic.Int64 }

func (l *limit) isFull() bool { return l.n.Load() >= l.max.Load() }

func (t *table) bucket(hash uint64) *atomic.Pointer[row] {
	return &t.buckets[hash%uint64(len(t.buckets))]
}

// find returns the row with a hash, nil if there is none.
func (t *table) find(hash uint64) *row {
	for r := t.bucket(hash).Load(); r != nil; r = r.next.Load() {
		if r.hash == hash {
			return r
		}
	}
	return nil
}

// add returns the row with a hash. If there is none, it adds the one that begin sets up. If
// there is no room either, it returns nil.
func (t *table) add(hash uint64, of *limit, begin func(*row)) *row {
	if of.isFull() { // requests with invented names must not wait for each other
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if found := t.find(hash); found != nil || of.isFull() {
		return found
	}
	added := &row{hash: hash, of: of}
	begin(added)
	first := t.bucket(hash)
	added.next.Store(first.Load())
	first.Store(added)
	of.n.Add(1)
	return added
}

// remove removes the rows for which gone returns true. They keep their links, so that a lookup
// that has reached one can go on.
func (t *table) remove(gone func(*row) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.buckets {
		link := &t.buckets[i]
		for r := link.Load(); r != nil; r = link.Load() {
			if !gone(r) {
				link = &r.next
				continue
			}
			link.Store(r.next.Load())
			r.of.n.Add(-1)
		}
	}
}

// all returns the rows. One that is added or removed meanwhile may or may not be among them.
func (t *table) all() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for i := range t.buckets {
			for r := t.buckets[i].Load(); r != nil; r = r.next.Load() {
				if !yield(r) {
					return
				}
			}
		}
	}
}
