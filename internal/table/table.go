// Package table provides a hash table with a fixed number of places, for what a
// server remembers about its clients: however many of them there are, the memory
// is bounded, and a new key takes constant time. It is not for tables that must
// keep what they have: a new key can displace another one.
//
//	visits := table.New[atomic.Int64](1 << 15)
//	last := visits.Add(hash, (*atomic.Int64).Load, nil)
//	last.Store(now)
package table

import (
	"iter"
	"math/bits"
	"sync"
	"sync/atomic"
)

// ways is the number of places that a key can have. Their pointers and marks share
// a cache line.
const ways = 7

// Table is a hash table with a fixed number of places. Keys are hashes of 64 bits
// with a seed that clients don't know; different keys with the same hash share a
// value. A place takes 9 octets, and 8 more and its value while it is used.
//
// A Table is safe for concurrent use. Lookups take no lock and allocate nothing. A
// new key takes one of 64 locks and one allocation. The methods return pointers to
// values, so values that change must be safe for concurrent use themselves.
// Changes of a value are lost when another key has displaced it.
//
// See BenchmarkTables and BenchmarkSize in bench/table for a comparison with other
// libraries.
type Table[V any] struct {
	first, most int                      // sets of the smallest and of the largest form
	sets        atomic.Pointer[[]set[V]] // nil until the first key
	locks       [64]sync.Mutex           // of the sets; lookups do not need them
}

// set has the places that a key can have.
type set[V any] struct {
	marks  atomic.Uint64 // an octet for each place: 0 if it is free, otherwise a part of its key
	places [ways]atomic.Pointer[entry[V]]
}

type entry[V any] struct {
	hash  uint64
	value V
}

// grows is by how much a large table grows at a time.
const grows = 8

// New returns a Table with at least size places. The memory of a large one is that
// of its keys: it begins with a small part of the places, and gets more while it
// has fewer than size and a key finds none. A Table that gets exactly as many keys as
// it has places keeps four fifths of them.
func New[V any](size int) *Table[V] {
	t := &Table[V]{most: max(1, (size+ways-1)/ways)}
	if t.first = t.most / (grows * grows); t.first < grows {
		t.first = t.most
	}
	return t
}

// lock locks the set of a key for changes, after it has made room for a key if it
// may. It returns a free place, -1 if there is none. The caller must unlock it.
func (t *Table[V]) lock(hash uint64) (s *set[V], free int, lock *sync.Mutex) {
	for {
		sets := t.sets.Load()
		if sets == nil {
			t.grow(nil)
			continue
		}
		i, _ := bits.Mul64(hash, uint64(len(*sets)))
		s, lock = &(*sets)[i], &t.locks[i%uint64(len(t.locks))]
		lock.Lock()
		free = s.free()
		if t.sets.Load() == sets && (free >= 0 || len(*sets) == t.most) {
			return s, free, lock
		}
		lock.Unlock()
		if free < 0 {
			t.grow(sets)
		}
	}
}

// grow replaces the sets, unless another goroutine did. The keys of a set go to
// the sets that take its place.
func (t *Table[V]) grow(old *[]set[V]) {
	for i := range t.locks {
		t.locks[i].Lock()
		defer t.locks[i].Unlock()
	}
	if t.sets.Load() != old {
		return
	}
	if old == nil {
		t.sets.Store(new(make([]set[V], t.first)))
		return
	}
	n := grows * len(*old)
	if 2*n > t.most {
		n = t.most
	}
	sets := make([]set[V], n)
	for i := range *old {
		for j := range ways {
			e := (*old)[i].places[j].Load()
			if e == nil {
				continue
			}
			to, _ := bits.Mul64(e.hash, uint64(n))
			if place := sets[to].free(); place >= 0 {
				sets[to].put(place, e, mark(e.hash))
			}
		}
	}
	t.sets.Store(&sets)
}

// mark returns the mark of a key: a number from 1 to 255.
func mark(hash uint64) uint64 { return max(1, hash&0xff) }

const eachOctet = 0x0101010101010101

// Get returns the value of a key, nil if there is none.
func (t *Table[V]) Get(hash uint64) *V {
	sets := t.sets.Load()
	if sets == nil {
		return nil
	}
	i, _ := bits.Mul64(hash, uint64(len(*sets)))
	s := &(*sets)[i]
	differ := s.marks.Load() ^ mark(hash)*eachOctet
	for equal := (differ - eachOctet) &^ differ & (eachOctet >> 8 << 7); equal != 0; equal &= equal - 1 {
		if e := s.places[bits.TrailingZeros64(equal)/8].Load(); e != nil && e.hash == hash {
			return &e.value
		}
	}
	return nil
}

// Add returns the value of a key. If there is none, it adds the one that create
// sets, or the zero value if create is nil. If all places that the key can have
// are used, the new value displaces the one of which worth is lowest.
func (t *Table[V]) Add(hash uint64, worth func(*V) int64, create func(*V)) *V {
	if v := t.Get(hash); v != nil {
		return v
	}
	s, place, lock := t.lock(hash)
	defer lock.Unlock()
	if v := t.Get(hash); v != nil {
		return v
	}
	if place < 0 {
		place = s.least(worth)
	}
	e := &entry[V]{hash: hash}
	if create != nil {
		create(&e.value)
	}
	s.put(place, e, mark(hash))
	return &e.value
}

// free returns a place that is not used, -1 if there is none.
func (s *set[V]) free() int {
	for i := range s.places {
		if s.places[i].Load() == nil {
			return i
		}
	}
	return -1
}

// least returns the place with the value of which worth is lowest.
func (s *set[V]) least(worth func(*V) int64) (place int) {
	least := int64(0)
	for i := range s.places {
		if w := worth(&s.places[i].Load().value); i == 0 || w < least {
			place, least = i, w
		}
	}
	return place
}

// put changes a place and then its mark.
func (s *set[V]) put(i int, e *entry[V], mark uint64) {
	s.places[i].Store(e)
	s.marks.Store(s.marks.Load()&^(0xff<<(8*i)) | mark<<(8*i))
}

// All returns the values. A value that is added or removed during the iteration
// may or may not be among them.
func (t *Table[V]) All() iter.Seq[*V] {
	return func(yield func(*V) bool) {
		sets := t.sets.Load()
		if sets == nil {
			return
		}
		for i := range *sets {
			for j := range (*sets)[i].places {
				if e := (*sets)[i].places[j].Load(); e != nil && !yield(&e.value) {
					return
				}
			}
		}
	}
}
