package suspect

import (
	"encoding/binary"
	"hash/maphash"
	"sync/atomic"
	"time"
)

// DefaultEntries is how many visitors a Watch remembers unless told otherwise:
// 37 MB. The memory is used as visitors come.
const DefaultEntries = 7 << 16

// DefaultFor is for how long a client stays a suspect after the last signal.
const DefaultFor = time.Hour

// Config are the choices for a Watch. The zero value is ready.
type Config struct {
	Entries  int      // visitors that are remembered; 0: DefaultEntries
	Observer Observer // may be nil
}

// Observer is told what a Watch finds. Its methods are called by the goroutines
// of requests, and may be called by several at once.
type Observer interface {
	// Raised is called when a signal is raised: the first of a visitor in 24
	// hours, and others.
	Raised(Signal)
	// Suspected is called when a client becomes a suspect.
	Suspected(*Suspect)
}

// Watch remembers what the visitors of the last 24 hours did. It has a fixed
// size, whatever comes: where there is no room, the oldest of the visitors
// without signals in the same place is forgotten first. A visitor is an address
// (IPv4 /32, IPv6 /64) with a whole User-Agent at a site, and whether it sends
// Sec-Fetch-* fields, so that a robot without them can't bring suspicion on the
// browsers at its address. It is known by a keyed hash alone.
//
// Its methods are safe for concurrent use. See takes no lock that all requests
// share, and allocates nothing but for a client that becomes a suspect.
type Watch struct {
	table    table
	sites    sites
	observer Observer
	seeds    [4]maphash.Seed
	list     list
	fleet    atomic.Pointer[heard]
	raised   chan Mark // nil without a fleet; read by it
	sharing  atomic.Bool
	key      atomic.Pointer[Key]
}

// NewWatch returns a Watch that has seen nothing. It starts no goroutine.
func NewWatch(c Config) *Watch {
	if c.Entries <= 0 {
		c.Entries = DefaultEntries
	}
	w := &Watch{table: newTable(c.Entries), observer: c.Observer, raised: make(chan Mark, maxWaiting)}
	for i := range w.seeds {
		w.seeds[i] = maphash.MakeSeed()
	}
	return w
}

// Standing is what a Watch says about the sender of a request.
type Standing struct {
	// Suspect is set while the sender is a suspect.
	Suspect bool
	// Signals are those that were raised in the last 24 hours.
	Signals Signals
	// Until is when it stops being a suspect unless there are more signals.
	Until time.Time
	// Page is set where the answer is shown as a page, or may be. Other
	// requests of suspects are not to be refused: nobody could read why.
	Page bool
}

// See looks at a request, which counts, and returns what is known about its
// sender. A suspect is one until hold after the last signal.
func (w *Watch) See(r *Request, hold time.Duration) (s Standing) {
	if !r.Secure || len(r.Header["Cookie"]) > 0 || !r.Client.IsValid() {
		return s
	}
	l := r.look()
	hash, site := w.hash(r, l.shape)
	now := uint32(r.Time.Unix())
	b := w.table.bucket(hash)
	b.mu.Lock()
	e := b.find(hash, now)
	if e == nil {
		if _, ok := ParseBrowser(r.UserAgent); !ok || l.kind == otherKind && !r.RobotsTxt && w.fleet.Load() == nil {
			b.mu.Unlock()
			return s
		}
		e = b.add(hash, now)
	}
	became := w.count(e, r, &l, now, site, hold)
	s.Signals = e.set
	if e.until > now {
		s.Suspect, s.Until, s.Page = true, time.Unix(int64(e.until), 0), l.page
	}
	var found *Suspect
	if became {
		found = w.enlist(e, r, hash, l.shape)
	}
	b.mu.Unlock()
	if found != nil && w.observer != nil {
		w.observer.Suspected(found)
	}
	return s
}

// hash returns the hash of the visitor and that of the site. Nobody outside the
// process can make two meet.
func (w *Watch) hash(r *Request, how shape) (visitor, site uint64) {
	var b [33]byte
	site = maphash.String(w.seeds[0], r.Site) + uint64(r.Port)
	network := Network(r.Client)
	binary.NativeEndian.PutUint64(b[:], maphash.String(w.seeds[1], r.UserAgent))
	binary.NativeEndian.PutUint64(b[8:], site)
	copy(b[16:], network[:])
	if how == full {
		b[32] = 1
	}
	return max(1, maphash.Bytes(w.seeds[2], b[:])), site
}

// count notes what a request says about its visitor, and reports whether that
// has become a suspect. The caller holds the lock of e.
func (w *Watch) count(e *entry, r *Request, l *looks, now uint32, site uint64, hold time.Duration) (became bool) {
	if now/60 != e.seen/60 {
		e.forget(now)
	}
	e.seen = max(e.seen, now)
	var raised Signals
	if r.RobotsTxt {
		if l.shape == bare && l.page && !r.ahead() {
			raised |= 1 << RobotsTxt
		}
	} else if l.kind == document {
		raised = w.document(e, r, l, site)
	} else if l.kind == embedded {
		w.embedded(e, l, site)
	}
	if raised != 0 {
		w.raise(e, r, l.shape, raised, now)
	}
	last := uint32(0)
	if raised != 0 {
		last = now
	}
	if h := w.fleet.Load(); h != nil && e.heard != h.version {
		e.heard = h.version
		last = max(last, w.hear(e, r, l.shape, h, now))
	}
	return e.judge(last, now, uint32(hold/time.Second))
}

// raise notes signals.
func (w *Watch) raise(e *entry, r *Request, how shape, raised Signals, now uint32) {
	for one := range signals {
		if !raised.Has(one) {
			continue
		}
		first := e.at[one] == 0
		e.raise(one, now)
		if first {
			w.tell(r, how, one)
		}
		if w.observer != nil {
			w.observer.Raised(one)
		}
	}
}

// embedded notes a file that a page of the site embeds.
func (w *Watch) embedded(e *entry, l *looks, site uint64) {
	increment(&e.embedded)
	if e.flags&(flagVisitor|flagEmbedding) == flagVisitor && l.shape == full {
		e.flags |= flagEmbedding
		w.sites.of(site).embeds()
	}
}

// How many documents without any embedded file are a signal.
const (
	manyDocuments     = 20  // without Sec-Fetch-* fields
	manyDocumentsFull = 100 // with them: a browser may have the files from before
)

// hintsEvery is how many documents lie between two looks at the client hints.
const hintsEvery = 16

// document notes a page that its user asked for, and returns the signals that
// this raises.
func (w *Watch) document(e *entry, r *Request, l *looks, site uint64) (raised Signals) {
	switch r.Trap {
	case MintedHit:
		raised |= 1 << MintedTrap
	case OtherHit:
		raised |= 1 << OtherTrap
	case StaticHit:
		raised |= 1 << StaticTrap
	}
	target := uint16(maphash.String(w.seeds[3], r.Target)) | 1
	if e.last == target {
		return raised // a reload
	}
	e.last = target
	increment(&e.documents)
	if e.documents%hintsEvery == 1 {
		if hints := r.Header["Sec-Ch-Ua"]; len(hints) > 0 {
			if b, ok := ParseBrowser(r.UserAgent); ok && b.contradicts(hints[0]) {
				raised |= 1 << ClientHints
			}
		}
	}
	w.visitor(e, l, site)
	many := uint16(manyDocuments)
	if l.shape == full {
		many = manyDocumentsFull
	}
	if e.embedded == 0 && e.documents >= many && e.documents%many == 0 && w.sites.of(site).embedsFiles() {
		raised |= 1 << Documents
	}
	if w.hurries(e, r, l) {
		raised |= 1 << Pace
	}
	return raised
}

// visitor counts a browser among the visitors of its site.
func (w *Watch) visitor(e *entry, l *looks, site uint64) {
	if l.shape != full || e.documents < documentsSeen || e.flags&flagVisitor != 0 {
		return
	}
	e.flags |= flagVisitor
	c := w.sites.of(site)
	c.visit()
	if e.embedded > 0 {
		e.flags |= flagEmbedding
		c.embeds()
	}
}

// hurries reports whether a document is one too many for the pace of people.
func (w *Watch) hurries(e *entry, r *Request, l *looks) bool {
	if l.shape != full {
		return e.pace(tick(r.Time), 0) && e.embedded < e.documents/4
	}
	return r.Connection != "" && e.pace(tick(r.Time), uint32(maphash.String(w.seeds[3], r.Connection)))
}
