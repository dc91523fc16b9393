package suspect

import (
	"sync"
	"time"
)

// record is an entry with its lock.
type record struct {
	mu sync.Mutex
	entry
}

// entry holds the counts and times of one visitor. It fits into a cache line.
type entry struct {
	seen         uint32 // time of the last request; this, since and until in seconds since 1970
	since        uint32 // when the visitor became a suspect; 0 if it never did
	until        uint32 // when it stops being a suspect
	paced        uint32 // time of the last document that counted for the pace, in ticks
	conn         uint32 // hash of the connection that the pace is counted over
	level        uint16 // level of the leaky bucket that measures the pace, in ticks
	last         uint16 // hash of the last document's target; 0: none
	fleetVersion uint16 // version of the fleetMarks that were applied last
	number       uint16 // position in Watch.list, from 1; 0: not listed
	// documents and embedded count requests. They stop at 65,535.
	documents, embedded uint16
	at                  [signals]uint16 // last time of each signal, in minutes since 1970, modulo 2^16; 0: never
	n                   [signals]uint8  // how often each signal was raised; stops at 255
	flags               uint8
	set                 Signals // the signals of the last 24 hours
}

// The flags of an entry.
const (
	flagVisitor   = 1 << iota // the site counts it as a visitor
	flagEmbedding             // the site counts it as a visitor that fetches embedded files
)

// minute converts seconds to the unit of entry.at. It is never 0.
func minute(now uint32) uint16 { return max(1, uint16(now/60)) }

// forget clears the signals that are more than 24 hours old.
func (e *entry) forget(now uint32) {
	for s := range e.at {
		if e.at[s] != 0 && minute(now)-e.at[s] > uint16(Remember/time.Minute) {
			e.at[s], e.n[s] = 0, 0
			e.set &^= 1 << s
		}
	}
}

// worth orders visitors by their importance, and those of equal importance by the
// time at which they were last seen. The table replaces those with the lowest worth
// first.
func (v *record) worth(now uint32) int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	rank := int64(0)
	switch {
	case v.age(now) > rememberSeconds:
		return -1
	case v.until > now:
		rank = 3
	case v.set&strong != 0:
		rank = 2
	case v.set != 0:
		rank = 1
	}
	return rank<<32 | int64(v.seen)
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

// raise adds a signal.
func (e *entry) raise(s Signal, now uint32) {
	e.at[s] = minute(now)
	e.set |= 1 << s
	e.n[s] = min(e.n[s], 254) + 1
}

// judge makes the visitor a suspect for hold seconds after its last signal if its
// signals suffice, and reports whether it has become one. last is the time of the
// last new signal; 0 if there is none.
func (e *entry) judge(last, now, hold uint32) (became bool) {
	if last == 0 || last+hold <= now || !e.set.suspicious() {
		return false
	}
	if became = e.until <= now; became {
		e.since = now
	}
	e.until = max(e.until, last+hold)
	return became
}

// increment adds 1 to a counter, and stops at its largest value.
func increment(n *uint16) { *n = min(*n, 1<<16-2) + 1 }

// The pace that people do not exceed: one document every two seconds, with a burst
// of 40.
const (
	ticks     = 16 // per second
	paceEvery = 2 * ticks
	paceBurst = 40
)

// tick converts a time to the unit of entry.paced.
func tick(now time.Time) uint32 { return uint32(now.UnixNano() / (int64(time.Second) / ticks)) }

// pace counts a document in a leaky bucket, and reports whether the bucket
// overflows: the visitor is faster than people. The bucket is emptied then, and
// when the connection changes.
func (e *entry) pace(now uint32, conn uint32) bool {
	if e.conn != conn || e.paced == 0 {
		e.conn, e.level, e.paced = conn, 0, now
	}
	passed := now - e.paced
	if int32(passed) < 0 { // the clock was set back
		passed = 0
	}
	e.paced = max(now, 1)
	e.level = uint16(max(int64(e.level)-int64(passed), 0)) + paceEvery
	if e.level < paceBurst*paceEvery {
		return false
	}
	e.level = 0
	return true
}
