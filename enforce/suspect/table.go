package suspect

import "sync"

const (
	lineSize = 64 // octets of a cache line
	ways     = 7  // entries of a bucket
)

// bucket holds the entries of visitors whose hashes end alike. Its lock and
// the hashes fill one cache line, and each entry one more, so that looking a
// visitor up takes two.
type bucket struct {
	mu      sync.Mutex
	tags    [ways]uint64 // hashes of the visitors; 0: empty
	entries [ways]line
}

// line is an entry on a cache line of its own.
type line struct {
	entry
	_ [4]byte
}

// table has a fixed number of entries.
type table struct {
	buckets []bucket
}

// newTable returns a table for at least that many visitors, rounded up to a
// power of two of buckets.
func newTable(entries int) table {
	n := 1
	for n*ways < entries {
		n *= 2
	}
	return table{make([]bucket, n)}
}

// bucket returns the bucket of a visitor.
func (t *table) bucket(hash uint64) *bucket {
	return &t.buckets[hash&uint64(len(t.buckets)-1)]
}

// find returns the entry of a visitor, nil if there is none. One that was not
// seen for 24 hours, or was seen in the future before the clock was set back, is
// returned empty. The caller holds the lock.
func (b *bucket) find(hash uint64, now uint32) *entry {
	for i, tag := range b.tags {
		if tag != hash {
			continue
		}
		e := &b.entries[i].entry
		if e.age(now) > rememberSeconds {
			*e = entry{began: now}
		}
		return e
	}
	return nil
}

// add makes an entry for a visitor that has none: in the place of one that was
// not seen for 24 hours, else of the one that matters least, the oldest of them.
// The caller holds the lock.
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
	*e = entry{began: now}
	return e
}

// age returns how many seconds ago the visitor was seen, and very many where
// that lies in the future, after the clock was set back.
func (e *entry) age(now uint32) uint32 {
	if e.seen > now && e.seen-now <= clockSlack {
		return 0
	}
	return now - e.seen
}

const (
	rememberSeconds = uint32(Remember / 1e9)
	// clockSlack is by how many seconds requests may overtake each other, or a
	// clock be set back, without an entry being forgotten.
	clockSlack = 60
)
