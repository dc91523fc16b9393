package suspect

import (
	"time"
	"unsafe"
)

// entry is what is known of one visitor. It fills a cache line at most and
// holds counts and times only.
type entry struct {
	seen   uint32 // the last request; this and the following in seconds since 1970
	began  uint32 // the first request
	since  uint32 // when it became a suspect; 0 if it never did
	until  uint32 // until when it is one
	paced  uint32 // the last document that counted for the pace, in ticks
	conn   uint32 // hash of the connection that the pace is counted over
	level  uint16 // of documents above the pace of people, in ticks
	last   uint16 // hash of the last document's target
	heard  uint16 // the version of what the fleet says that was looked at
	number uint16 // of its record among the suspects, from 1; 0: none
	// documents and embedded count requests, up to the largest number.
	documents, embedded uint16
	at                  [signals]uint16 // when each signal was raised last, in minutes since 1970, modulo 2^16; 0: never
	n                   [signals]uint8  // how often
	flags               uint8
	set                 Signals // those that were raised in the last 24 hours
}

const _ = uint(lineSize - unsafe.Sizeof(entry{})) // does not compile if it is larger

// The flags of an entry.
const (
	flagVisitor   = 1 << iota // counted among the visitors of its site
	flagEmbedding             // counted among those that fetch embedded files
)

// minute is a time as entry.at has it; never 0.
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

// rank is how little an entry should be forgotten.
func (e *entry) rank(now uint32) int {
	switch {
	case e.until > now:
		return 3
	case e.set&strong != 0:
		return 2
	case e.set != 0:
		return 1
	}
	return 0
}

// raise notes a signal.
func (e *entry) raise(s Signal, now uint32) {
	e.at[s] = minute(now)
	e.set |= 1 << s
	e.n[s] = min(e.n[s], 254) + 1
}

// judge makes e a suspect until hold after its last signal, and reports whether
// it has become one. last is 0 where there is no new signal.
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

// increment adds 1 to a counter, up to its largest value.
func increment(n *uint16) { *n = min(*n, 1<<16-2) + 1 }

// The pace of people: a document every two seconds, and 40 at once before that
// counts as sustained.
const (
	ticks     = 16 // a second
	paceEvery = 2 * ticks
	paceBurst = 40
)

// tick is a time as entry.paced has it.
func tick(now time.Time) uint32 { return uint32(now.UnixNano() / (int64(time.Second) / ticks)) }

// pace counts a document over a connection, and reports whether it is one that
// comes faster than people read. The count begins again after that, and with
// each other connection.
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
