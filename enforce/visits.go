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
// Who has not come for GracePeriod is forgotten, and begins anew. Where there
// is no room, the one of the four in the same place that came least lately
// goes. Visitors that anybody can make up (addresses, names that no registry
// knows, invented hosts) have a table of their own, so that no number of them
// drives out a crawler that is known.
type Visits struct{ known, many visitTable }

// Visit is what is known of a crawler's visits, in nanoseconds since 1970.
type Visit struct {
	First int64 // since when it comes, at least once in each GracePeriod; 0: it was never seen
	Read  int64 // when it read the robots.txt last since then; 0: it was not seen to
}

// with returns what is known of a crawler of which v and w are known.
func (v Visit) with(w Visit) Visit {
	if w.First == 0 {
		return v
	}
	return Visit{min(v.First, w.First), max(v.Read, w.Read)}
}

// NewVisits returns a Visits for about size crawlers that are known, and as many
// visitors that anybody can make up.
func NewVisits(size int) *Visits { return &Visits{newVisitTable(size), newVisitTable(size)} }

// See notes that a crawler comes now, and returns what is known of it.
func (t *Visits) See(who Visitor, now time.Time) Visit {
	_, visit := t.of(who).see(who.key(), now.UnixNano())
	return visit
}

// Last is See without noting anything.
func (t *Visits) Last(who Visitor, now time.Time) Visit {
	slot := t.of(who).find(who.key())
	if slot == nil || slot.lapsed(now.UnixNano()) {
		return Visit{}
	}
	return slot.visit()
}

// Read is See, and notes that the crawler read the version of the robots.txt
// that was in force at a time.
func (t *Visits) Read(who Visitor, now time.Time, version int64) {
	if slot, _ := t.of(who).see(who.key(), now.UnixNano()); slot != nil {
		for old := slot.read.Load(); old < version && !slot.read.CompareAndSwap(old, version); old = slot.read.Load() {
		}
	}
}

func (t *Visits) of(who Visitor) *visitTable {
	if who.many {
		return &t.many
	}
	return &t.known
}

// Keys of slots that hold no visitor.
const (
	emptySlot   = 0
	claimedSlot = 1 // one that is being written
)

func (v Visitor) key() uint64 { return max(v.hash, claimedSlot+1) }

// visitTable is a hash table of sets of slots.
type visitTable struct{ slots []visitSlot }

const visitWays = 4 // slots of a set

// visitSlot is what is known of one visitor.
type visitSlot struct {
	key               atomic.Uint64
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
	i := int(key&uint64(len(t.slots)/visitWays-1)) * visitWays
	return t.slots[i : i+visitWays : i+visitWays]
}

func (t *visitTable) find(key uint64) *visitSlot {
	set := t.set(key)
	for i := range set {
		if set[i].key.Load() == key {
			return &set[i]
		}
	}
	return nil
}

// see notes a visit. The slot is nil if another visitor takes it just now.
func (t *visitTable) see(key uint64, now int64) (*visitSlot, Visit) {
	if slot := t.find(key); slot != nil {
		switch {
		case slot.lapsed(now):
			slot.read.Store(0)
			slot.first.Store(now)
			slot.last.Store(now)
		case now-slot.last.Load() >= seenEvery:
			slot.last.Store(now)
		}
		return slot, slot.visit()
	}
	slot := t.oldest(key)
	if old := slot.key.Load(); old == claimedSlot || !slot.key.CompareAndSwap(old, claimedSlot) {
		return nil, Visit{First: now}
	}
	slot.first.Store(now)
	slot.last.Store(now)
	slot.read.Store(0)
	slot.key.Store(key)
	return slot, Visit{First: now}
}

// oldest returns the slot that a new visitor gets.
func (t *visitTable) oldest(key uint64) *visitSlot {
	set := t.set(key)
	best := &set[0]
	for i := range set {
		if set[i].key.Load() == emptySlot {
			return &set[i]
		}
		if set[i].last.Load() < best.last.Load() {
			best = &set[i]
		}
	}
	return best
}

// lapsed reports whether the visitor has not come for so long that no copy of
// its own can be in use. A visit in the future, after the clock was set back,
// is none.
func (s *visitSlot) lapsed(now int64) bool {
	since := now - s.last.Load()
	return since > int64(GracePeriod) || since < -int64(GracePeriod)
}

func (s *visitSlot) visit() Visit { return Visit{s.first.Load(), s.read.Load()} }
