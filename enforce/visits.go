package enforce

import (
	"sync/atomic"
	"time"
)

// Visits remembers when each crawler came to an origin, and when it read the
// robots.txt there last. It has a fixed size, 32 octets for each crawler at
// each origin. It is safe for concurrent use, takes no lock and allocates
// nothing.
//
// A crawler that has not come for GracePeriod is forgotten. When there is no
// room, the least recent of the four visitors in the same bucket is forgotten.
// Visitors that a client can invent (addresses, names that are in no registry,
// invented hosts) have a separate table, so that they never displace a known
// crawler.
type Visits struct{ known, many visitTable }

// Visit is what is known about a crawler's visits, in nanoseconds since 1970.
type Visit struct {
	First int64 // the first of its latest visits that are less than GracePeriod apart; 0: it was never seen
	Read  int64 // when it last read the robots.txt since First; 0: it did not
}

// with returns what is known of a crawler of which v and w are known.
func (v Visit) with(w Visit) Visit {
	if w.First == 0 {
		return v
	}
	return Visit{min(v.First, w.First), max(v.Read, w.Read)}
}

// NewVisits returns a Visits for about size known crawlers, and for as many
// visitors that a client can invent.
func NewVisits(size int) *Visits { return &Visits{newVisitTable(size), newVisitTable(size)} }

// See records that a crawler comes now, and returns what is known about it.
func (t *Visits) See(who Visitor, now time.Time) Visit {
	return t.of(who).see(who.key(), now.UnixNano())
}

// Last is like See, but records nothing.
func (t *Visits) Last(who Visitor, now time.Time) Visit {
	slot, word := t.of(who).find(who.key())
	if slot == nil || lapsed(slot.last.Load(), now.UnixNano()) {
		return Visit{}
	}
	if visit, ok := slot.visit(word); ok {
		return visit
	}
	return Visit{}
}

// Read is like See, and also records that the crawler read the version of the
// robots.txt that was in force at a time.
func (t *Visits) Read(who Visitor, now time.Time, version int64) {
	t.See(who, now)
	slot, _ := t.of(who).find(who.key())
	if slot == nil {
		return
	}
	for old := slot.read.Load(); old < version && !slot.read.CompareAndSwap(old, version); old = slot.read.Load() {
	}
}

func (t *Visits) of(who Visitor) *visitTable {
	if who.many {
		return &t.many
	}
	return &t.known
}

// The lower bits of a slot's word count how often it was written. An odd count
// marks a slot that is being written.
const countMask = 1<<16 - 1

func (v Visitor) key() uint64 { return max(v.hash, countMask+1) &^ countMask }

// visitTable is a hash table of sets of slots.
type visitTable struct{ slots []visitSlot }

const visitWays = 4 // slots of a set

// visitSlot is what is known of one visitor.
type visitSlot struct {
	word              atomic.Uint64 // its key and a count; a key of 0 is nobody's
	first, last, read atomic.Int64
}

// seenEvery is how exactly the last visit is known: noting it at each request
// would have processors wait for each other.
const seenEvery = int64(time.Minute)

func newVisitTable(size int) visitTable {
	n := visitWays
	for n < size {
		n *= 2
	}
	return visitTable{make([]visitSlot, n)}
}

func (t *visitTable) set(key uint64) []visitSlot {
	i := int(key>>16&uint64(len(t.slots)/visitWays-1)) * visitWays
	return t.slots[i : i+visitWays : i+visitWays]
}

// find returns the slot of a visitor, and its word; nil if it has none.
func (t *visitTable) find(key uint64) (*visitSlot, uint64) {
	set := t.set(key)
	for i := range set {
		if word := set[i].word.Load(); word&^countMask == key && word&1 == 0 {
			return &set[i], word
		}
	}
	return nil, 0
}

// see notes a visit, and returns what is known of the visitor.
func (t *visitTable) see(key uint64, now int64) Visit {
	slot, word := t.find(key)
	if slot == nil {
		t.insert(key, now)
		return Visit{First: now}
	}
	if last := slot.last.Load(); lapsed(last, now) {
		slot.read.Store(0)
		slot.first.Store(now)
		slot.last.Store(now)
	} else if now-last >= seenEvery {
		slot.last.Store(now)
	}
	if visit, ok := slot.visit(word); ok {
		return visit
	}
	return Visit{First: now}
}

// insert gives a visitor the slot of its set that is empty, or whose visitor
// came least lately; none if another visitor takes it just now.
func (t *visitTable) insert(key uint64, now int64) {
	set := t.set(key)
	best := &set[0]
	for i := range set {
		if set[i].word.Load() == 0 {
			best = &set[i]
			break
		}
		if set[i].last.Load() < best.last.Load() {
			best = &set[i]
		}
	}
	old := best.word.Load()
	word := key | (old+1)&countMask
	if word&1 == 0 || !best.word.CompareAndSwap(old, word) {
		return
	}
	best.first.Store(now)
	best.last.Store(now)
	best.read.Store(0)
	best.word.Store(key | (word+1)&countMask)
}

// visit returns what is known of the visitor that had the slot with that word,
// unless another one has got it.
func (s *visitSlot) visit(word uint64) (Visit, bool) {
	visit := Visit{s.first.Load(), s.read.Load()}
	return visit, s.word.Load() == word
}

// lapsed reports whether a visitor has not come for so long that no copy of its
// own can be in use. A visit far in the future, after the clock was set back, is
// none.
func lapsed(last, now int64) bool {
	since := now - last
	return since > int64(GracePeriod) || since < -int64(GracePeriod)
}
