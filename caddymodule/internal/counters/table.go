package counters

import (
	"iter"
	"sync/atomic"
)

// node is a link of a chain in a table.
type node[T any] struct {
	hash  uint64
	value *T
	next  atomic.Pointer[node[T]]
}

// table is a hash table of bounded size. Finding and adding take no lock;
// remove is called by one goroutine at a time.
type table[T any] struct {
	buckets []atomic.Pointer[node[T]] // a power of two of chains
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

// add adds the value that create makes, unless there is one that is the same or
// no room. It returns the one that the table has then; nil where there is no
// room.
func (t *table[T]) add(hash uint64, same func(*T) bool, create func() *T) *T {
	if t.n.Add(1) > t.max {
		t.n.Add(-1)
		return nil
	}
	b := t.bucket(hash)
	var made *node[T]
	for {
		head := b.Load()
		for n := head; n != nil; n = n.next.Load() {
			if n.hash == hash && same(n.value) {
				t.n.Add(-1)
				return n.value
			}
		}
		if made == nil {
			made = &node[T]{hash: hash, value: create()}
		}
		made.next.Store(head)
		if b.CompareAndSwap(head, made) {
			return made.value
		}
	}
}

// remove takes a value out. Those who are at it go on to the ones behind it.
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
		link = t.bucket(hash) // another one was added before it
	}
}

// all returns the values, also some that come or go meanwhile.
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
