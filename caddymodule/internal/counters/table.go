package counters

import (
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// node is an entry in a bucket, which is a linked list.
type node[T any] struct {
	hash  uint64
	value T
	kind  kind
	next  atomic.Pointer[node[T]]
}

// kind is a kind of values. Those of one kind take no room from those of another.
type kind int

const (
	configured kind = iota // at sites
	ofHost                 // at hosts that only a pattern names; of these hosts themselves, those that are known
	invented               // with keys that clients make up; of the hosts, those that are new
	always                 // few, and always wanted
	kinds
)

// table is a hash table with a bound for each kind of values. It is safe for concurrent
// use. Lookups take no lock. It is no
// Table of package table, where a new key displaces another one and its value is lost: counts must
// go on in the totals, and keys with the same hash must not share them.
type table[T any] struct {
	buckets []atomic.Pointer[node[T]] // their number is a power of two
	max     [kinds]atomic.Int64

	mu sync.Mutex // for changes
	n  [kinds]atomic.Int64
}

// newTable returns a table for at most max values of each kind. Most buckets have few.
func newTable[T any](max [kinds]int64) *table[T] {
	t := &table[T]{buckets: make([]atomic.Pointer[node[T]], 1<<14)}
	max[always] = math.MaxInt64
	for of, n := range max {
		t.max[of].Store(n)
	}
	return t
}

func (t *table[T]) bucket(hash uint64) *atomic.Pointer[node[T]] {
	return &t.buckets[hash&uint64(len(t.buckets)-1)]
}

// find returns the value for which same returns true, nil if there is none.
func (t *table[T]) find(hash uint64, same func(*T) bool) *T {
	for n := t.bucket(hash).Load(); n != nil; n = n.next.Load() {
		if n.hash == hash && same(&n.value) {
			return &n.value
		}
	}
	return nil
}

// add returns the value for which same returns true. If there is none, it adds the
// one that begin sets up. If there is no room either, it returns nil.
func (t *table[T]) add(hash uint64, of kind, same func(*T) bool, begin func(*T)) *T {
	if !t.hasRoom(of) {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if found := t.find(hash, same); found != nil || !t.hasRoom(of) {
		return found
	}
	added := &node[T]{hash: hash, kind: of}
	begin(&added.value)
	bucket := t.bucket(hash)
	added.next.Store(bucket.Load())
	bucket.Store(added)
	t.n[of].Add(1)
	return &added.value
}

func (t *table[T]) hasRoom(of kind) bool { return t.n[of].Load() < t.max[of].Load() }

// move makes a node one of another kind, if there is room. Only one goroutine at a time
// may call it or evict.
func (t *table[T]) move(n *node[T], to kind) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.hasRoom(to) {
		return false
	}
	t.n[n.kind].Add(-1)
	t.n[to].Add(1)
	n.kind = to
	return true
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
	t.n[removed.kind].Add(-1)
}

// evict removes and returns the values of a kind with the lowest ranks if there are more
// than three quarters of their maximum number, until there are half of it. Only one
// goroutine at a time may call it.
func (t *table[T]) evict(of kind, rank func(*T) [2]int64) (evicted []*T) {
	most := t.max[of].Load()
	if t.n[of].Load() <= most*3/4 {
		return nil
	}
	type entry struct {
		*node[T]
		rank [2]int64
	}
	var list []entry
	for n := range t.nodes() {
		if n.kind == of {
			list = append(list, entry{n, rank(&n.value)})
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return slices.Compare(a.rank[:], b.rank[:]) })
	for _, e := range list[:max(0, int64(len(list))-most/2)] {
		t.remove(e.node)
		evicted = append(evicted, &e.value)
	}
	return evicted
}

// nodes returns the nodes. One that is added or removed meanwhile may or may not be
// among them.
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

// values returns the values.
func (t *table[T]) values() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for n := range t.nodes() {
			if !yield(&n.value) {
				return
			}
		}
	}
}

// len returns the number of values.
func (t *table[T]) len() (n int) {
	for i := range t.n {
		n += int(t.n[i].Load())
	}
	return n
}
