package counters

import (
	"cmp"
	"iter"
	"slices"
	"sync/atomic"
)

// node is an entry in a bucket, which is a linked list.
type node[T any] struct {
	hash  uint64
	value *T
	next  atomic.Pointer[node[T]]
}

// table is a hash table of bounded size. Lookups and add take no lock and are safe
// for concurrent use. Only one goroutine at a time may call evict.
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

// find returns the value for which same returns true, nil if there is none.
func (t *table[T]) find(hash uint64, same func(*T) bool) *T {
	for n := t.bucket(hash).Load(); n != nil; n = n.next.Load() {
		if n.hash == hash && same(n.value) {
			return n.value
		}
	}
	return nil
}

// add returns the value for which same returns true. If there is none, it adds the
// given one. If there is no room either, it returns nil.
func (t *table[T]) add(hash uint64, same func(*T) bool, value *T) *T {
	if t.n.Add(1) > t.max {
		t.n.Add(-1)
		return nil
	}
	b, created := t.bucket(hash), &node[T]{hash: hash, value: value}
	for {
		head := b.Load()
		if found := t.find(hash, same); found != nil {
			t.n.Add(-1)
			return found
		}
		created.next.Store(head)
		if b.CompareAndSwap(head, created) {
			return value
		}
	}
}

// remove removes a node. The removed node keeps its link to the next one, so that a
// lookup that has reached it can go on.
func (t *table[T]) remove(removed *node[T]) {
	link := t.bucket(removed.hash)
	for n := link.Load(); n != nil; n = link.Load() {
		if n != removed {
			link = &n.next
			continue
		}
		if link.CompareAndSwap(n, n.next.Load()) {
			t.n.Add(-1)
			return
		}
		link = t.bucket(removed.hash) // another node was added at the front: search again
	}
}

// evict removes values for which mayEvict returns true until keep of them are left.
// It begins with those that rank puts first, and calls removed for each.
func (t *table[T]) evict(keep int, mayEvict func(*T) bool, rank func(*T) (first uint64, second int64), removed func(*T)) {
	type entry struct {
		*node[T]
		first  uint64
		second int64
	}
	var list []entry
	for n := range t.nodes() {
		if mayEvict(n.value) {
			first, second := rank(n.value)
			list = append(list, entry{n, first, second})
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.second, b.second)) })
	for _, e := range list[:max(0, len(list)-keep)] {
		t.remove(e.node)
		removed(e.value)
	}
}

// nodes returns the nodes. One that is added or removed during the iteration may or
// may not be among them.
func (t *table[T]) nodes() iter.Seq[*node[T]] {
	return func(yield func(*node[T]) bool) {
		for i := range t.buckets {
			for n := t.buckets[i].Load(); n != nil; n = n.next.Load() {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// all returns the values, like nodes.
func (t *table[T]) all() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for n := range t.nodes() {
			if !yield(n.value) {
				return
			}
		}
	}
}

// len returns the number of values.
func (t *table[T]) len() int { return int(t.n.Load()) }
