package suspect

import (
	"sync"
	"unsafe"
)

const (
	lineSize = 64 // octets of a cache line
	ways     = 7  // entries of a bucket
)

// bucket holds the entries of visitors whose hashes end in the same bits. The lock
// and the hashes share one cache line, and each entry has its own, so that a lookup
// touches two.
type bucket struct {
	mu      sync.Mutex
	tags    [ways]uint64 // hashes of the visitors; 0: empty
	entries [ways]line
}

// line is an entry padded to a cache line. It does not compile if an entry is
// larger.
type line struct {
	entry
	_ [lineSize - unsafe.Sizeof(entry{})]byte
}

// table has a fixed number of entries. It is not an internal/table: there, each of
// 458,752 visitors would take 89 octets instead of 73 (TestSizesAreCacheLines), and
// each new one an allocation (BenchmarkTables in bench/table).
type table struct {
	buckets []bucket
}

// newTable returns a table for at least that many visitors. The number of buckets
// is a power of two.
func newTable(entries int) table {
	n := 1
	for n*ways < entries {
		n *= 2
	}
	return table{make([]bucket, n)}
}

// bucket returns the bucket for a visitor's hash.
func (t *table) bucket(hash uint64) *bucket {
	return &t.buckets[hash&uint64(len(t.buckets)-1)]
}

// find returns the entry of a visitor, nil if there is none. It clears an entry
// that was last seen more than 24 hours ago, or in the future because the clock was
// set back. The caller holds the lock.
func (b *bucket) find(hash uint64, now uint32) *entry {
	for i, tag := range b.tags {
		if tag != hash {
			continue
		}
		e := &b.entries[i].entry
		if e.age(now) > rememberSeconds {
			*e = entry{}
		}
		return e
	}
	return nil
}

// add makes an entry for a visitor that has none. It replaces an entry that is
// empty or was last seen more than 24 hours ago; if there is none, the one with the
// lowest rank, and of several the one that was seen longest ago. The caller holds
// the lock.
func (b *bucket) add(hash uint64, now uint32) *entry {
	place, least, oldest := 0, 4, uint32(0)
	for i, tag := range b.tags {
		e := &b.entries[i].entry
		age := e.age(now)
		rank := e.rank(now)
		if tag == 0 || age > rememberSeconds {
			rank, age = -1, 0
		}
		if rank < least || rank == least && age > oldest {
			place, least, oldest = i, rank, age
		}
	}
	b.tags[place] = hash
	e := &b.entries[place].entry
	*e = entry{}
	return e
}

// age returns how many seconds ago the visitor was seen. The result is a very large
// number if that time is in the future because the clock was set back.
func (e *entry) age(now uint32) uint32 {
	if e.seen > now && e.seen-now <= clockSlack {
		return 0
	}
	return now - e.seen
}

const (
	rememberSeconds = uint32(Remember / 1e9)
	// clockSlack is the number of seconds by which the time of a request may be
	// earlier than that of the request before it: requests overtake each other, and
	// clocks are corrected.
	clockSlack = 60
)
