package counters

import (
	"iter"
	"sync/atomic"
)

// node is an entry in a bucket, which is a linked list.
type node[T any] struct {
	hash  uint64
	value *T
	next  atomic.Pointer[node[T]]
}

// table is a hash table of bounded size. Lookups and add take no lock and are safe
// for concurrent use. Only one goroutine at a time may call remove.
type table[T any] struct {
	buckets []atomic.Pointer[node[T]] // their number is a power of two
	n       atomic.Int64
	max     int64
}

// newTable returns a table for at most max entries.
func newTable[T any](max int) *table[T] {
	n := 1
	for n < max {
		n *= 2
	}
	return &table[T]{buckets: make([]atomic.Pointer[node[T]], n), max: int64(max)}
}

func (t *table[T]) bucket(hash uint64) *atomic.Pointer[node[T]] {
	return &t.buckets[hash&uint64(len(t.buckets)-1)]
}

// add returns the value for which same returns true. If there is none, it adds the
// one that create returns. If there is no room either, it returns nil.
func (t *table[T]) add(hash uint64, same func(*T) bool, create func() *T) *T {
	if t.n.Add(1) > t.max {
		t.n.Add(-1)
		return nil
	}
	b := t.bucket(hash)
	var created *node[T]
	for {
		head := b.Load()
		for n := head; n != nil; n = n.next.Load() {
			if n.hash == hash && same(n.value) {
				t.n.Add(-1)
				return n.value
			}
		}
		if created == nil {
			created = &node[T]{hash: hash, value: create()}
		}
		created.next.Store(head)
		if b.CompareAndSwap(head, created) {
			return created.value
		}
	}
}

// remove removes a value. The removed node keeps its link to the next one, so that
// a lookup that has reached it can go on.
func (t *table[T]) remove(hash uint64, value *T) {
	link := t.bucket(hash)
	for n := link.Load(); n != nil; n = link.Load() {
		if n.value != value {
			link = &n.next
			continue
		}
		if link.CompareAndSwap(n, n.next.Load()) {
			t.n.Add(-1)
			return
		}
		link = t.bucket(hash) // another node was added at the front: search again
	}
}

// all returns the values and their hashes. A value that is added or removed during
// the iteration may or may not be among them.
func (t *table[T]) all() iter.Seq2[uint64, *T] {
	return func(yield func(uint64, *T) bool) {
		for i := range t.buckets {
			for n := t.buckets[i].Load(); n != nil; n = n.next.Load() {
				if !yield(n.hash, n.value) {
					return
				}
			}
		}
	}
}

// len returns the number of values.
func (t *table[T]) len() int { return int(t.n.Load()) }
