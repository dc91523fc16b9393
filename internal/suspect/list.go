package suspect

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/visible"
)

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
