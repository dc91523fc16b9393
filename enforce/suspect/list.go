package suspect

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// maxSuspects is how many suspects are listed. Beyond, the one that was found
// first goes from the list; it stays a suspect.
const maxSuspects = 4096

// Suspect is a client that behaves like a robot, as operators see it.
type Suspect struct {
	Site string
	// Network is the part of the address that is shown: the first 24 bits of an
	// IPv4 address, the first 48 of an IPv6 address.
	Network netip.Prefix
	Browser Browser // what its User-Agent names
	// Fields reports that it sends Sec-Fetch-* fields.
	Fields    bool
	Signals   []Count
	Documents int // at least, in the last 24 hours
	Embedded  int
	Since     time.Time
	Until     time.Time

	hash uint64
}

// Count is how often a signal was raised in the last 24 hours, and when last.
type Count struct {
	Signal Signal
	Count  int       // 255 stands for more
	Last   time.Time // to the minute
}

// list has the suspects, in the order in which they were found.
type list struct {
	mu   sync.Mutex
	all  []Suspect // a ring
	next int
}

// enlist adds a visitor that has become a suspect to the list, or finds it
// there. The caller holds the lock of e.
func (w *Watch) enlist(e *entry, r *Request, hash uint64, how shape) *Suspect {
	b, _ := ParseBrowser(r.UserAgent)
	s := Suspect{Site: r.Site, Network: mask(r.Client), Browser: b, Fields: how == full, hash: hash}
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

// fill copies what is known of a visitor.
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

// mask returns the part of an address that is shown.
func mask(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap()
	bits := 48
	if addr.Is4() {
		bits = 24
	}
	p, _ := addr.WithZone("").Prefix(bits)
	return p
}

// Suspects returns those who are suspects at the time now, the ones that were
// found last first, and at most limit of them. Where the table had no room for
// one any longer, it is none.
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

// refresh brings a suspect up to date, and reports whether it still is one.
func (w *Watch) refresh(s *Suspect, now time.Time) bool {
	b := w.table.bucket(s.hash)
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, tag := range b.tags {
		if e := &b.entries[i].entry; tag == s.hash && e.until > uint32(now.Unix()) {
			s.Signals = nil // the list's own
			s.fill(e)
			return true
		}
	}
	return false
}
