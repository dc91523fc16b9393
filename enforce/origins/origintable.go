package origins

import (
	"hash/maphash"
	"iter"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// originTable is a hash table of entries by origin, which grows with their number.
// Lookups take no lock. To change the table, a caller must hold store.mu. It is no
// table.Table, which tells entries apart by a hash alone and may forget any of them.
type originTable struct {
	seed    maphash.Seed
	buckets atomic.Pointer[[]bucket] // their number is a power of two
	n       atomic.Int64
	hand    int // bucket at which the next search for an entry to evict begins
}

// bucket is a linked list of entries.
type bucket = atomic.Pointer[link]

type link struct {
	*entry
	next bucket
}

const (
	maxBuckets = 1 << 16
	// evictionSample is how many entries an eviction compares. With the default
	// of Config.MaxOrigins, it compares all.
	evictionSample = 1024
)

// newOriginTable returns an empty table.
func newOriginTable() *originTable {
	t := &originTable{seed: maphash.MakeSeed()}
	t.buckets.Store(new(make([]bucket, 1)))
	return t
}

func (t *originTable) bucket(o *judge.Origin) *bucket { return t.bucketIn(*t.buckets.Load(), o) }

func (t *originTable) bucketIn(buckets []bucket, o *judge.Origin) *bucket {
	if len(buckets) == 1 {
		return &buckets[0]
	}
	h := maphash.String(t.seed, o.Host) ^ uint64(o.Port)*0x9e3779b97f4a7c15 ^ uint64(len(o.Scheme))
	return &buckets[h&uint64(len(buckets)-1)]
}

func addTo(b *bucket, e *entry) {
	l := &link{entry: e}
	l.next.Store(b.Load())
	b.Store(l)
}

// find returns the entry of an origin, or nil.
func (t *originTable) find(o judge.Origin) *entry {
	for l := t.bucket(&o).Load(); l != nil; l = l.next.Load() {
		if l.origin == o {
			return l.entry
		}
	}
	return nil
}

// insert adds an entry whose origin is not in the table. Before there are more
// entries than buckets, it makes new buckets: lookups that are just in the old
// ones still find all others.
func (t *originTable) insert(e *entry) {
	if n := len(*t.buckets.Load()); int(t.n.Add(1)) > n && n < maxBuckets {
		larger := make([]bucket, 4*n)
		for known := range t.all() {
			addTo(t.bucketIn(larger, &known.origin), known)
		}
		t.buckets.Store(&larger)
	}
	addTo(t.bucket(&e.origin), e)
}

// remove removes an entry. Its link keeps the next one for lookups that are just
// there.
func (t *originTable) remove(gone *entry) {
	b := t.bucket(&gone.origin)
	for l := b.Load(); l != nil; l = b.Load() {
		if l.entry == gone {
			b.Store(l.next.Load())
			t.n.Add(-1)
			return
		}
		b = &l.next
	}
}

// all returns the entries. It may return or omit those that are added or
// removed meanwhile.
func (t *originTable) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		buckets := *t.buckets.Load()
		for i := range buckets {
			for l := buckets[i].Load(); l != nil; l = l.next.Load() {
				if !yield(l.entry) {
					return
				}
			}
		}
	}
}

// touch records that the entry is used, at most once per second.
func (e *entry) touch(now int64) {
	if d := now - e.used.Load(); d > int64(time.Second) || d < 0 {
		e.used.Store(now)
	}
}
