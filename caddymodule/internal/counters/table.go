package counters

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"
)

// table has rows by their hashes, in buckets, which are linked lists. It is safe for concurrent
// use. Lookups take no lock. It is no Table of package table, where a new key displaces another
// one and its value is lost: counts must go on in the totals.
type table struct {
	buckets [1 << 14]atomic.Pointer[row] // most have few

	mu   sync.Mutex // for changes
	rows []*row     // all of them, in the order in which they were added: a walk of 70,000 is faster in it
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
	t.rows = append(t.rows, added)
	of.n.Add(1)
	return added
}

// remove removes the rows for which gone returns true. They keep their links, so that a lookup
// that has reached one can go on.
func (t *table) remove(gone func(*row) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := make([]*row, 0, len(t.rows)) // walks of the former list go on
	for _, r := range t.rows {
		if !gone(r) {
			kept = append(kept, r)
			continue
		}
		link := t.bucket(r.hash)
		for at := link.Load(); at != r; at = link.Load() {
			link = &at.next
		}
		link.Store(r.next.Load())
		r.of.n.Add(-1)
	}
	t.rows = kept
}

// all returns the rows. One that is added or removed meanwhile is not among them, or is.
func (t *table) all() iter.Seq[*row] {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Values(t.rows)
}
