package enforce

import (
	"hash/maphash"
	"iter"
	"sync/atomic"
	"time"
)

// origins is a hash table of entries by origin. Lookups take no lock. To change
// the table, a caller must hold Origins.mu.
type originTable struct {
	seed    maphash.Seed
	buckets []atomic.Pointer[entry] // linked lists; their number is a power of two
	n       atomic.Int64
	hand    int // bucket at which the next search for an entry to evict begins
}

const (
	maxBuckets = 1 << 16
	// evictionSample is how many entries an eviction compares. With the default
	// of Config.MaxOrigins, it compares all.
	evictionSample = 1024
)

// newOrigins returns a table for about size entries.
func newOriginTable(size int) *originTable {
	n := 1
	for n < size && n < maxBuckets {
		n *= 2
	}
	return &originTable{seed: maphash.MakeSeed(), buckets: make([]atomic.Pointer[entry], n)}
}

func (t *originTable) bucket(o Origin) *atomic.Pointer[entry] {
	if len(t.buckets) == 1 {
		return &t.buckets[0]
	}
	h := maphash.String(t.seed, o.Host) ^ uint64(o.Port)*0x9e3779b97f4a7c15 ^ uint64(len(o.Scheme))
	return &t.buckets[h&uint64(len(t.buckets)-1)]
}

// find returns the entry of an origin, or nil.
func (t *originTable) find(o Origin) *entry {
	for e := t.bucket(o).Load(); e != nil; e = e.next.Load() {
		if e.origin == o {
			return e
		}
	}
	return nil
}

// insert adds an entry whose origin is not in the table.
func (t *originTable) insert(e *entry) {
	b := t.bucket(e.origin)
	e.next.Store(b.Load())
	b.Store(e)
	t.n.Add(1)
}

// remove removes an entry. The entry keeps its link to the next one for lookups
// that are just there.
func (t *originTable) remove(gone *entry) {
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

// all returns the entries. It may return or omit those that are added or
// removed meanwhile.
func (t *originTable) all() iter.Seq[*entry] {
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

// leastValuable returns the entry to evict, other than keep, or nil if there is
// none. It chooses the lowest value, and among equal values the entry that was
// used least recently.
func (t *originTable) leastValuable(keep *entry) (worst *entry) {
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
		if seen >= evictionSample {
			break
		}
	}
	return worst
}

// lessValuable reports whether e should be evicted before other.
func (e *entry) lessValuable(other *entry) bool {
	if a, b := e.value(), other.value(); a != b {
		return a < b
	}
	return e.used.Load() < other.used.Load()
}

// value ranks an entry for eviction: 0 for an invented host without rules, 1 for
// one with rules, 2 for one whose file is fetched first, since a request can
// wait for it; 3 to 5 likewise for other hosts.
func (e *entry) value() int {
	v := 0
	switch {
	case e.rules.Load() != nil:
		v = 1
	case e.fetching.Load():
		v = 2
	}
	if !e.invented.Load() {
		v += 3
	}
	return v
}

// touch records that the entry is used, at most once per second.
func (e *entry) touch(now int64) {
	if d := now - e.used.Load(); d > int64(time.Second) || d < 0 {
		e.used.Store(now)
	}
}
