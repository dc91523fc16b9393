package counters

import (
	"slices"
	"sync"
	"sync/atomic"
)

// node is an entry in a bucket, which is a linked list.
type node[T any] struct {
	hash     uint64
	value    *T
	invented bool
	next     atomic.Pointer[node[T]]
}

// table is a hash table of bounded size. It has a further bound for values whose keys
// clients make up. It is safe for concurrent use. Lookups take no lock. It is no
// Table of package table, where a new key displaces another one and its value is lost: counts must
// go on in the totals, and keys with the same hash must not share them.
type table[T any] struct {
	buckets          []atomic.Pointer[node[T]] // their number is a power of two
	max, maxInvented int64

	mu          sync.Mutex // for changes
	n, invented atomic.Int64
}

// newTable returns a table for at most max values, of which clients make up the keys
// of at most maxInvented. When it is full, a bucket has four to eight values.
func newTable[T any](max, maxInvented int) *table[T] {
	n := 1
	for 8*n < max {
		n *= 2
	}
	return &table[T]{buckets: make([]atomic.Pointer[node[T]], n), max: int64(max), maxInvented: int64(maxInvented)}
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
// one that create returns. If there is no room either, it returns nil.
func (t *table[T]) add(hash uint64, invented bool, same func(*T) bool, create func() *T) *T {
	if !t.hasRoom(invented) {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if found := t.find(hash, same); found != nil || !t.hasRoom(invented) {
		return found
	}
	added := &node[T]{hash: hash, value: create(), invented: invented}
	bucket := t.bucket(hash)
	added.next.Store(bucket.Load())
	bucket.Store(added)
	t.count(added, 1)
	return added.value
}

func (t *table[T]) hasRoom(invented bool) bool {
	return t.n.Load() < t.max && (!invented || t.invented.Load() < t.maxInvented)
}

// count adds to the numbers of values.
func (t *table[T]) count(n *node[T], add int64) {
	t.n.Add(add)
	if n.invented {
		t.invented.Add(add)
	}
}

// remove removes a node. The removed node keeps its link to the next one, so that a
// lookup that has reached it can go on.
func (t *table[T]) remove(removed *node[T]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	link := t.bucket(removed.hash)
	for n := link.Load(); n != removed; n = link.Load() {
		link = &n.next
	}
	link.Store(removed.next.Load())
	t.count(removed, -1)
}

// evict removes and returns the values with the lowest ranks if the table is more than
// three quarters full, until it is half full. If invented is set, that applies to the
// values whose keys clients make up. Only one goroutine at a time may call it.
func (t *table[T]) evict(invented bool, rank func(*T) [2]int64) (evicted []*T) {
	n, most := t.n.Load(), t.max
	if invented {
		n, most = t.invented.Load(), t.maxInvented
	}
	if n <= most*3/4 {
		return nil
	}
	type entry struct {
		*node[T]
		rank [2]int64
	}
	var list []entry
	for _, n := range t.nodes() {
		if n.invented || !invented {
			list = append(list, entry{n, rank(n.value)})
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return slices.Compare(a.rank[:], b.rank[:]) })
	for _, e := range list[:max(0, int64(len(list))-most/2)] {
		t.remove(e.node)
		evicted = append(evicted, e.value)
	}
	return evicted
}

// nodes returns the nodes. One that is added or removed meanwhile may or may not be
// among them.
func (t *table[T]) nodes() []*node[T] {
	list := make([]*node[T], 0, t.len())
	for i := range t.buckets {
		for n := t.buckets[i].Load(); n != nil; n = n.next.Load() {
			list = append(list, n)
		}
	}
	return list
}

// len returns the number of values.
func (t *table[T]) len() int { return int(t.n.Load()) }
