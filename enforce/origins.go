package enforce

import (
	"hash/maphash"
	"iter"
	"sync/atomic"
	"time"
)

// origins is a hash table of entries by origin. Readers take no lock; whoever
// changes it holds the lock of the Policies.
type origins struct {
	seed    maphash.Seed
	buckets []atomic.Pointer[entry] // a power of two of chains
	n       atomic.Int64
	hand    int // bucket at which the next search for something to evict begins
}

const (
	mostBuckets = 1 << 16
	// examined is how many entries are compared for an eviction. Tables of the
	// default size are compared whole.
	examined = 1024
)

// newOrigins returns a table made for about size entries.
func newOrigins(size int) *origins {
	n := 1
	for n < size && n < mostBuckets {
		n *= 2
	}
	return &origins{seed: maphash.MakeSeed(), buckets: make([]atomic.Pointer[entry], n)}
}

func (t *origins) bucket(o Origin) *atomic.Pointer[entry] {
	if len(t.buckets) == 1 {
		return &t.buckets[0]
	}
	h := maphash.String(t.seed, o.Host) ^ uint64(o.Port)*0x9e3779b97f4a7c15 ^ uint64(len(o.Scheme))
	return &t.buckets[h&uint64(len(t.buckets)-1)]
}

// find returns the entry of an origin, nil if there is none.
func (t *origins) find(o Origin) *entry {
	for e := t.bucket(o).Load(); e != nil; e = e.next.Load() {
		if e.origin == o {
			return e
		}
	}
	return nil
}

// insert adds an entry whose origin is not in the table.
func (t *origins) insert(e *entry) {
	b := t.bucket(e.origin)
	e.next.Store(b.Load())
	b.Store(e)
	t.n.Add(1)
}

// remove takes an entry out. Readers that are at it go on to those behind it.
func (t *origins) remove(gone *entry) {
	link := t.bucket(gone.origin)
	for e := link.Load(); e != nil; e = link.Load() {
		if e == gone {
			link.Store(e.next.Load())
			t.n.Add(-1)
			return
		}
		link = &e.next
	}
}

// all returns the entries, also some that come or go meanwhile.
func (t *origins) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for i := range t.buckets {
			for e := t.buckets[i].Load(); e != nil; e = e.next.Load() {
				if !yield(e) {
					return
				}
			}
		}
	}
}

// leastValuable returns the entry to evict, other than keep, nil if there is
// none: first those of invented hosts, of these first those that were never
// loaded, and of equals the one that was not asked for the longest time.
func (t *origins) leastValuable(keep *entry) (worst *entry) {
	seen := 0
	for range t.buckets {
		t.hand = (t.hand + 1) & (len(t.buckets) - 1)
		for e := t.buckets[t.hand].Load(); e != nil; e = e.next.Load() {
			if e == keep {
				continue
			}
			if seen++; worst == nil || e.lessValuable(worst) {
				worst = e
			}
		}
		if seen >= examined {
			break
		}
	}
	return worst
}

// lessValuable reports whether e is to be evicted before other.
func (e *entry) lessValuable(other *entry) bool {
	if a, b := e.value(), other.value(); a != b {
		return a < b
	}
	return e.used.Load() < other.used.Load()
}

// value ranks an entry: 0 and 1 for invented hosts, 2 and 3 for others; the
// lower one of each was never loaded.
func (e *entry) value() int {
	v := 0
	if e.policy.Load() != nil {
		v = 1
	}
	if !e.invented.Load() {
		v += 2
	}
	return v
}

// touch notes that the entry is asked for, at most once a second.
func (e *entry) touch(now int64) {
	if d := now - e.used.Load(); d > int64(time.Second) || d < 0 {
		e.used.Store(now)
	}
}
