package suspect

import (
	"encoding/binary"
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/table"
)

// DefaultEntries is the number of visitors that a Watch remembers by default:
// 458,752 visitors in 41 MB, of which 4 MB are needed before they arrive.
const DefaultEntries = 7 << 16

// DefaultFor is the usual time for which a client stays a suspect after its last
// signal.
const DefaultFor = time.Hour

// Config configures a Watch. The zero value has the defaults.
type Config struct {
	// Entries is the least number of visitors that the Watch remembers. NewWatch
	// rounds it up to a multiple of 7. 0 or less: DefaultEntries. There is no upper
	// limit. Each visitor takes about 89 octets.
	Entries  int
	Observer Observer // may be nil
}

// Observer receives what a Watch finds. Watch.See calls its methods in the goroutine
// of the request, and Raised while it holds a lock. They must be safe for concurrent
// use, must not block, and must not call the Watch.
type Observer interface {
	// Raised is called each time a signal is raised, even when the visitor raised
	// the same signal before.
	Raised(Signal)
	// Suspected is called when a client becomes a suspect. The Suspect belongs to
	// the Observer.
	Suspected(*Suspect)
}

// Watch remembers what visitors did in the last 24 hours.
//
// A visitor, the client that can become a suspect, is an address (IPv4 /32, IPv6
// /64) with a complete User-Agent at one site. Visitors that send all three of
// Sec-Fetch-Site, -Mode and -Dest, and visitors that do not, are counted apart: a
// robot without these fields does not make the browsers at its address suspects. A Watch stores a keyed hash
// of each visitor. It stores a part of the address only for suspects
// (Suspect.Network).
//
// The size of a Watch is fixed. When there is no room for a new visitor, it forgets
// one of the seven visitors that have the same place in its table: those without
// signals first, and of these the one that was seen longest ago.
//
// All methods are safe for concurrent use. See takes no lock that all requests
// share. It allocates memory only for a new visitor, a new suspect and a new
// folder of Kinds.
type Watch struct {
	visitors *table.Table[record]
	sites    *table.Table[Embedding]
	kinds    *Kinds
	observer Observer
	seeds    [4]maphash.Seed
	list     list
	fleet    atomic.Pointer[fleetMarks] // nil until SetMarks is called
	marks    chan Mark                  // for Raised
	key      atomic.Pointer[Key]        // nil until Share is called
}

// NewWatch returns an empty Watch. It starts no goroutine.
func NewWatch(c Config) *Watch {
	if c.Entries <= 0 {
		c.Entries = DefaultEntries
	}
	w := &Watch{visitors: table.New[record](c.Entries), sites: table.New[Embedding](maxSites), kinds: NewKinds(), observer: c.Observer,
		marks: make(chan Mark, maxWaiting)}
	for i := range w.seeds {
		w.seeds[i] = maphash.MakeSeed()
	}
	return w
}

// Standing is the result of Watch.See: what the Watch has found about the client
// of a request.
type Standing struct {
	// Suspect is true while the client is a suspect.
	Suspect bool
	// Signals are the signals that the client raised in the last 24 hours.
	Signals Signals
	// Until is the time at which a suspect stops being one if it raises no
	// further signal. It is zero for others.
	Until time.Time
	// Page is true if the client is a suspect and the browser may show the answer
	// to this request as a page. Do not refuse other requests of suspects, such as
	// those for images: nobody could read the reason.
	Page bool
}

// See counts a request and returns what the Watch has found about its client. A
// client stays a suspect for the duration hold, in whole seconds, after its last
// signal. If hold is less than a second, no client becomes a suspect. See ignores
// requests that are not over HTTPS, have a Cookie, or have no valid Client: it
// does not count them and returns a zero Standing. It does not change or keep r.
func (w *Watch) See(r *Request, hold time.Duration) (s Standing) {
	if !r.Secure || len(r.Header["Cookie"]) > 0 || !r.Client.IsValid() {
		return s
	}
	t := r.traits()
	hash, site := w.hash(r, t.fields)
	if t.kind != Other {
		t.kind = w.kinds.See(site, r.Target, t.kind, t.fields == allFetchFields)
	}
	now := uint32(r.Time.Unix())
	v := w.visitors.Get(hash)
	if v == nil {
		if _, ok := ParseBrowser(r.UserAgent); !ok || t.kind == Other && !r.RobotsTxt && w.fleet.Load() == nil {
			return s
		}
		v = w.visitors.Add(hash, func(v *record) int64 { return v.worth(now) }, nil)
	}
	v.mu.Lock()
	e := &v.entry
	if e.age(now) > rememberSeconds {
		*e = entry{}
	}
	became := w.count(e, r, &t, now, site, hold)
	s.Signals = e.set
	if e.until > now {
		s.Suspect, s.Until, s.Page = true, time.Unix(int64(e.until), 0), t.page
	}
	var found *Suspect
	if became {
		found = w.enlist(e, r, hash, t.fields)
	}
	v.mu.Unlock()
	if found != nil && w.observer != nil {
		w.observer.Suspected(found)
	}
	return s
}

// hash returns the hash of the visitor and the hash of its site. Their seeds are
// random, so that clients cannot cause collisions.
func (w *Watch) hash(r *Request, fields fetchFields) (visitor, site uint64) {
	var b [33]byte
	site = maphash.String(w.seeds[0], r.Site) + uint64(r.Port)
	network := Network(r.Client)
	binary.NativeEndian.PutUint64(b[:], maphash.String(w.seeds[1], r.UserAgent))
	binary.NativeEndian.PutUint64(b[8:], site)
	copy(b[16:], network[:])
	if fields == allFetchFields {
		b[32] = 1
	}
	return max(1, maphash.Bytes(w.seeds[2], b[:])), site
}

// count counts a request of the visitor and reports whether the visitor has become
// a suspect. The caller holds the lock of e.
func (w *Watch) count(e *entry, r *Request, t *traits, now uint32, site uint64, hold time.Duration) (became bool) {
	if now/60 != e.seen/60 {
		e.forget(now)
	}
	e.seen = max(e.seen, now)
	var raised Signals
	if r.RobotsTxt {
		if t.fields == noFetchFields && t.page && !r.isPrefetch() {
			raised |= 1 << RobotsTxt
		}
	} else if t.kind == Document {
		raised = w.document(e, r, t, site)
	} else if t.kind == Embedded {
		w.embedded(e, t, site)
	}
	last := uint32(0)
	if raised != 0 {
		w.raise(e, r, t.fields, raised, now)
		last = now
	}
	if h := w.fleet.Load(); h != nil && e.fleetVersion != h.version {
		e.fleetVersion = h.version
		last = max(last, w.addFleet(e, r, t.fields, h, now))
	}
	return e.judge(last, now, uint32(hold/time.Second))
}

// raise adds signals to the visitor, and gives those that it did not have to the
// fleet.
func (w *Watch) raise(e *entry, r *Request, fields fetchFields, raised Signals, now uint32) {
	for one := range signals {
		if !raised.Has(one) {
			continue
		}
		first := e.at[one] == 0
		e.raise(one, now)
		if first {
			w.sendMark(r, fields, one)
		}
		if w.observer != nil {
			w.observer.Raised(one)
		}
	}
}

// embedded counts a request for a file that a page of the site embeds.
func (w *Watch) embedded(e *entry, t *traits, site uint64) {
	increment(&e.embedded)
	if e.visitor && !e.embedding && t.fields == allFetchFields {
		e.embedding = true
		w.site(site).Embed()
	}
}

// The numbers of documents without any embedded file that raise Documents.
const (
	manyDocuments     = 20  // without Sec-Fetch-* fields
	manyDocumentsFull = 100 // with them: a browser may have the files in its cache
)

// hintsEvery: the client hints of every 16th document are checked.
const hintsEvery = 16

// trapSignals are the signals that hits raise.
var trapSignals = [...]Signals{NoHit: 0, StaticHit: 1 << StaticTrap, OtherHit: 1 << OtherTrap, MintedHit: 1 << MintedTrap}

// document counts a page that the user asked for, and returns the signals that it
// raises.
func (w *Watch) document(e *entry, r *Request, t *traits, site uint64) (raised Signals) {
	raised = trapSignals[r.Trap]
	target := uint32(maphash.String(w.seeds[3], r.Target)) | 1 // 0 stands for no document yet
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
	w.visitor(e, t, site)
	many := uint16(manyDocuments)
	if t.fields == allFetchFields {
		many = manyDocumentsFull
	}
	if e.embedded == 0 && e.documents >= many && e.documents%many == 0 && w.site(site).MostEmbed() {
		raised |= 1 << Documents
	}
	if w.tooFast(e, r, t) {
		raised |= 1 << Pace
	}
	return raised
}

// visitor counts a browser, at its third document, as a visitor of the site.
func (w *Watch) visitor(e *entry, t *traits, site uint64) {
	if t.fields != allFetchFields || e.documents < documentsSeen || e.visitor {
		return
	}
	e.visitor = true
	c := w.site(site)
	c.Visit()
	if e.embedded > 0 {
		e.embedding = true
		c.Embed()
	}
}

// tooFast counts a document for the pace, and reports whether it raises Pace.
func (w *Watch) tooFast(e *entry, r *Request, t *traits) bool {
	if t.fields != allFetchFields {
		return e.pace(tick(r.Time), 0) && e.embedded < e.documents/4
	}
	return r.Connection != "" && e.pace(tick(r.Time), uint32(maphash.String(w.seeds[3], r.Connection)))
}

// A browser counts as a visitor of a site after documentsSeen documents.
const (
	documentsSeen = 3
	maxSites      = 1 << 10 // whose visitors are counted
)

// site returns the count of a site. If there are too many sites, the one with the fewest
// visitors is counted again from 0. Only browsers with all Sec-Fetch-* fields count, so
// that robots without them do not change the result.
func (w *Watch) site(hash uint64) *Embedding {
	return w.sites.Add(hash, func(c *Embedding) int64 { return int64(c.visitors.Load()) }, nil)
}

// Embedding counts the visitors of a site, and those of them that fetch embedded files. It
// is safe for concurrent use.
type Embedding struct{ visitors, embedding atomic.Uint32 }

const (
	minVisitors = 10      // which say something about the others
	maxVisitors = 1 << 16 // at this number both counts are halved, so that a change of the site has an effect
)

// Visit counts a visitor.
func (c *Embedding) Visit() {
	if c.visitors.Add(1) >= maxVisitors {
		c.visitors.Store(maxVisitors / 2)
		c.embedding.Store(c.embedding.Load() / 2)
	}
}

// Embed counts a visitor that fetches embedded files, once.
func (c *Embedding) Embed() { c.embedding.Add(1) }

// MostEmbed reports whether most visitors are known to fetch embedded files.
func (c *Embedding) MostEmbed() bool {
	n := c.visitors.Load()
	return n >= minVisitors && c.embedding.Load() > n/2
}

// FewEmbed reports whether fewer than half of the visitors are known to do it.
func (c *Embedding) FewEmbed() bool {
	n := c.visitors.Load()
	return n >= minVisitors && c.embedding.Load() < n/2
}
