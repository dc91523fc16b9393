package enforce

import (
	"sync/atomic"
	"time"
)

// Visits remembers when each crawler came to an origin, and when it last read
// the robots.txt there. It has a fixed size, with 32 octets for each crawler at
// each origin. It is safe for concurrent use, takes no lock, and allocates
// nothing after NewVisits.
//
// A crawler that has not come for GracePeriod is forgotten. If there is no room
// for a visitor, the least recent of the four visitors in the same bucket is
// forgotten. Visitors that clients can invent (addresses, names that are not in
// the registry, invented hosts) have a separate table, so that they never
// displace a known crawler.
type Visits struct{ known, invented visitTable }

// visitTimes is what is known about a crawler's visits. Times are in
// nanoseconds since 1970.
type visitTimes struct {
	first int64 // the first visit after which no pause was longer than GracePeriod; 0 if there was none
	read  int64 // a time at which the version that it last read, since first, was in force; 0 if it read none
}

// with combines what is known about a crawler from two visitors.
func (v visitTimes) with(w visitTimes) visitTimes {
	if w.first == 0 {
		return v
	}
	return visitTimes{min(v.first, w.first), max(v.read, w.read)}
}

// NewVisits returns a Visits for size known crawlers, rounded up to a power of
// two, and for as many visitors that clients can invent.
func NewVisits(size int) *Visits { return &Visits{newVisitTable(size), newVisitTable(size)} }

// see records a visit now, and returns what is known about the crawler's
// visits.
func (t *Visits) see(who visitorKey, now time.Time) visitTimes {
	return t.of(who).see(who.key(), now.UnixNano())
}

// last returns what see would return, but records nothing. If the crawler is
// not known, it returns the zero visitTimes.
func (t *Visits) last(who visitorKey, now time.Time) visitTimes {
	slot, word := t.of(who).find(who.key())
	if slot == nil || lapsed(slot.last.Load(), now.UnixNano()) {
		return visitTimes{}
	}
	if visit, ok := slot.visit(word); ok {
		return visit
	}
	return visitTimes{}
}

// read records a visit now, in which the crawler read the version of the
// robots.txt that was in force at the time version, in nanoseconds since 1970.
func (t *Visits) read(who visitorKey, now time.Time, version int64) {
	t.see(who, now)
	slot, _ := t.of(who).find(who.key())
	if slot == nil {
		return
	}
	for old := slot.read.Load(); old < version && !slot.read.CompareAndSwap(old, version); old = slot.read.Load() {
	}
}

func (t *Visits) of(who visitorKey) *visitTable {
	if who.invented {
		return &t.invented
	}
	return &t.known
}

// countMask has the lower bits of a slot's word. They count writes: the count
// is odd while the slot is being written.
const countMask = 1<<16 - 1

func (v visitorKey) key() uint64 { return max(v.hash, countMask+1) &^ countMask }

// visitTable is a hash table of sets of slots.
type visitTable struct{ slots []visitSlot }

const visitWays = 4 // slots per set

// visitSlot is the record of one visitor.
type visitSlot struct {
	word              atomic.Uint64 // key and write count; 0 if the slot is empty
	first, last, read atomic.Int64
}

// seenEvery is the precision of the time of the last visit. If each request
// wrote it, processors would have to wait for each other.
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

// find returns the slot of a visitor and the slot's word, or nil if it has
// none.
func (t *visitTable) find(key uint64) (*visitSlot, uint64) {
	set := t.set(key)
	for i := range set {
		if word := set[i].word.Load(); word&^countMask == key && word&1 == 0 {
			return &set[i], word
		}
	}
	return nil, 0
}

// see is Visits.see for one table.
func (t *visitTable) see(key uint64, now int64) visitTimes {
	slot, word := t.find(key)
	if slot == nil {
		t.insert(key, now)
		return visitTimes{first: now}
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
	return visitTimes{first: now}
}

// insert gives a visitor an empty slot of its set, or else the slot of the
// least recent visitor. If another visitor takes that slot at the same time,
// insert does nothing.
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

// visit returns what the slot has about the visitor with that word. It returns
// false if another visitor got the slot meanwhile.
func (s *visitSlot) visit(word uint64) (visitTimes, bool) {
	visit := visitTimes{s.first.Load(), s.read.Load()}
	return visit, s.word.Load() == word
}

// lapsed reports whether the last visit was so long ago that the visitor can't
// use a cached copy any longer. It also returns true for a visit far in the
// future, which is possible after the clock was set back.
func lapsed(last, now int64) bool {
	since := now - last
	return since > int64(GracePeriod) || since < -int64(GracePeriod)
}
