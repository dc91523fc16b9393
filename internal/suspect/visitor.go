package suspect

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/visible"
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
	last         uint32 // hash of the last document's target; 0: none
	fleetVersion uint16 // version of the fleetMarks that were applied last
	number       uint16 // position in Watch.list, from 1; 0: not listed
	// documents and embedded count requests. They stop at 65,535.
	documents, embedded uint16
	at                  [signals]uint16 // last time of each signal, in minutes since 1970, modulo 2^16; 0: never
	n                   [signals]uint8  // how often each signal was raised; stops at 255
	visitor             bool            // the site counts it as a visitor
	embedding           bool            // the site counts it as a visitor that fetches embedded files
	set                 Signals         // the signals of the last 24 hours
}

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

// maxSuspects is the capacity of the list. A new suspect then replaces the one that
// was found first, which stays a suspect.
const maxSuspects = 4096

// Suspect describes a suspect for logs and for the operator.
type Suspect struct {
	Site string
	// Network is the part of the address that operators see: the /24 of an IPv4
	// address, or the /48 of an IPv6 address. The function Network returns what
	// counts as one address.
	Network netip.Prefix
	Browser Browser // the browser that its User-Agent names
	// Fields is true if it sends Sec-Fetch-Site, -Mode and -Dest.
	Fields  bool
	Signals []Count
	// Documents and Embedded count its requests for pages and for embedded files
	// since it was first seen, up to 65,535. The counts begin again after 24 hours
	// without a request.
	Documents int
	Embedded  int
	Since     time.Time // when it became a suspect
	Until     time.Time // when it stops being a suspect if it raises no further signal

	hash uint64
}

// Count says how often a signal was raised, and when it was raised last. A signal
// that was not raised for 24 hours is forgotten.
type Count struct {
	Signal Signal
	Count  int       // at most 255, which stands for 255 or more
	Last   time.Time // exact to the minute
}

// list has the suspects in the order in which they were found.
type list struct {
	mu   sync.Mutex
	all  []Suspect // a ring buffer once it is full
	next int       // the position that is written next
}

// enlist writes a visitor that has become a suspect into the list, over its older
// record if there is one. The caller holds the lock of e.
func (w *Watch) enlist(e *entry, r *Request, hash uint64, fields fetchFields) *Suspect {
	b, _ := ParseBrowser(r.UserAgent)
	s := Suspect{Site: r.Site, Network: visible.Network(r.Client), Browser: b, Fields: fields == allFetchFields, hash: hash}
	s.fill(e)
	w.list.mu.Lock()
	defer w.list.mu.Unlock()
	if i := int(e.number) - 1; i >= 0 && i < len(w.list.all) && w.list.all[i].hash == hash {
		w.list.all[i] = s
		return &s
	}
	if len(w.list.all) < maxSuspects {
		w.list.all = append(w.list.all, s)
	} else {
		w.list.all[w.list.next] = s
	}
	e.number = uint16(w.list.next + 1)
	w.list.next = (w.list.next + 1) % maxSuspects
	return &s
}

// fill copies the counts and times of a visitor.
func (s *Suspect) fill(e *entry) {
	s.Documents, s.Embedded = int(e.documents), int(e.embedded)
	s.Since, s.Until = time.Unix(int64(e.since), 0), time.Unix(int64(e.until), 0)
	s.Signals = s.Signals[:0]
	for one := range signals {
		if e.at[one] != 0 {
			ago := minute(e.seen) - e.at[one]
			s.Signals = append(s.Signals, Count{one, int(e.n[one]), time.Unix(int64(e.seen)/60*60-int64(ago)*60, 0)})
		}
	}
}

// Suspects returns the clients that are suspects at the time now, those that were
// found last first, at most limit of them. At most 4,096 are listed. A suspect that
// the Watch had to forget for lack of room is not among them.
func (w *Watch) Suspects(now time.Time, limit int) []Suspect {
	w.list.mu.Lock()
	all := slices.Clone(w.list.all)
	w.list.mu.Unlock()
	found := all[:0]
	for _, s := range all {
		if w.refresh(&s, now) {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b Suspect) int {
		return cmp.Or(b.Since.Compare(a.Since), cmp.Compare(a.Site, b.Site), a.Network.Addr().Compare(b.Network.Addr()))
	})
	return slices.Clone(found[:min(len(found), max(limit, 0))])
}

// refresh updates s from the table, and reports whether it still is a suspect.
func (w *Watch) refresh(s *Suspect, now time.Time) bool {
	v := w.visitors.Get(s.hash)
	if v == nil {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.until <= uint32(now.Unix()) {
		return false
	}
	s.Signals = nil // the slice belongs to the list
	s.fill(&v.entry)
	return true
}
