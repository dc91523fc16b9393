package enforce

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Limits that the operator can't configure.
const (
	// firstWait is how long crawlers wait for the first policy of an origin,
	// from the start of the read.
	firstWait = 5 * time.Second
	// maxWaiting is how many requests can wait for a policy at once.
	maxWaiting = 1000
	// readTimeout is how long one read may take.
	fetchTimeout = 10 * time.Second
	// maxReads is how many first reads of origins can run at once. As many
	// other reads can run at the same time. A client can start a first read
	// with each host name that it invents. So first reads must be limited, and
	// must leave other reads enough room.
	maxFetches = 32
	// minReread is the shortest time between two reads of one origin.
	minRefetch = time.Second
	// dueWait is how long crawlers wait for the read of a policy that is due, so
	// that the first crawler after a quiet time does not get an earlier file.
	dueWait = time.Second
	// maxUnread is how long after its next read was due crawlers wait for a policy
	// like for a first one. It is the time for which crawlers may use their own
	// cached copies (RFC 9309, section 2.4).
	maxStale = 24 * time.Hour
)

// Config has the settings of an Engine that are not in Rules. The zero value is
// ready for use. Caches and tables that are given can be shared by several
// engines.
type Config struct {
	// Refresh is the time between two reads of an origin. Zero means 1 minute;
	// less than 1 second counts as 1 second. A failed read is repeated without a
	// request, unless the host is Invented or had no request for 24 hours: after
	// Refresh if a cached copy is in force, otherwise after 1, 2, 4 … seconds, up
	// to Refresh.
	Refresh time.Duration
	// MaxOrigins is how many origins are kept. Beyond it, the engine drops
	// another origin: first one with an Invented host, then one that was not read
	// yet, then the least recently used one. Zero or less means 1000.
	MaxOrigins int

	DenyFailed bool              // deny crawlers every path while the source fails, as RFC 9309 says; otherwise the cached copy stays in force
	Ceiling    *Ceiling          // limits the memory of policies; no limit if nil
	Copies     *Copies           // cache for the time after the engine is closed; none if nil
	Readers    *Recent           // remembers which crawlers read which robots.txt; nil for a new one
	Waiters    *throttle.Waiters // holds requests until their time comes; nil for a new one
	Visits     *Visits           // remembers when crawlers came; nil for a new one
	Histories  *Histories        // versions of files for the time after the engine is closed; none if nil
	Handler    func() HandlerKey // returns where the files are enforced, for Histories; called once, by Origins.Connect
	Published  bool              // the caller answers all requests for /robots.txt with Rules.Text; otherwise only if Rules.Published
	Fetched    func(FetchEvent)  // called after every fetch, for logs and metrics; it must be safe for concurrent use and must not block
	Now        func() time.Time  // the clock for reads; default time.Now
}

// complete returns c with defaults in place of zero values.
func (c Config) complete() Config {
	if c.Refresh == 0 {
		c.Refresh = time.Minute
	}
	c.Refresh = max(c.Refresh, minRefetch)
	if c.MaxOrigins <= 0 {
		c.MaxOrigins = 1000
	}
	if c.Fetched == nil {
		c.Fetched = func(FetchEvent) {}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Origins holds the policy of each origin and reads its source again when it
// is due. It is safe for concurrent use. Lookups take no lock; while a policy
// is being replaced, they return the old or the new one.
type Origins struct {
	source  Source
	compile func(content) *Rules
	pending *Rules // the policy of origins that were never read
	cfg     Config
	ctx     context.Context
	stop    context.CancelFunc
	first   chan struct{} // a semaphore of maxReads for first reads
	again   chan struct{} // and one for other reads
	waiting *atomic.Int64
	running sync.WaitGroup

	table       *originTable
	withEarlier atomic.Int64 // how many origins have earlier versions of their file

	connecting sync.Once
	connected  atomic.Bool // place and generation are known
	place      HandlerKey
	generation int

	mu      sync.Mutex        // guards table, shared, used, retired and changes of histories
	shared  map[uint64]*Rules // by content.key: origins with the same file share one policy
	used    int64             // octets that all policies take, as estimated
	retired bool
}

// entry is the record of one origin.
type entry struct {
	origin        Origin
	next          atomic.Pointer[entry] // in the same bucket
	rules         atomic.Pointer[Rules]
	history       atomic.Pointer[history] // nil if the origin has had no version
	historyJoined atomic.Bool             // the history of an earlier configuration was looked for
	invented      atomic.Bool             // a client may have invented the host
	used          atomic.Int64            // when the entry was last used; all times are in nanoseconds since 1970
	nextFetch     atomic.Int64            // when the next read is due
	lastFetch     atomic.Int64            // when the last read began
	fetching      atomic.Bool             // whether a read is under way

	mu       sync.Mutex
	good     goodCopy
	was      []byte          // the text that was published by other rules; nil if none, or not known
	last     Outcome         // of the last read
	tried    bool            // whether a read has ended
	failures int             // how many of the latest reads in a row failed
	failing  time.Time       // when the first of them began
	err      error           // why the last read failed; nil if it did not
	cause    context.Context // context of the last read, for further reads of the same origin
	ended    chan struct{}   // closed when the latest read ends; nil before the first read
	ready    chan struct{}   // closed when there is a policy; nil before the first read begins
	again    bool            // whether another read must follow the one under way
	retry    *time.Timer     // begins the next read after a failed one; nil if none is planned
	gone     bool            // the entry was evicted
}

// newPolicies returns an empty Origins that reads from source and compiles
// files by rules. It reads nothing yet. The caller closes it.
func newOrigins(source Source, settings *compiledSettings, cfg Config) *Origins {
	ctx, stop := context.WithCancel(context.Background())
	p := &Origins{
		source: source, cfg: cfg.complete(), ctx: ctx, stop: stop,
		first: make(chan struct{}, maxFetches), again: make(chan struct{}, maxFetches), waiting: new(atomic.Int64),
	}
	p.use(settings)
	return p
}

// use sets the rules of p and empties its table.
func (p *Origins) use(settings *compiledSettings) {
	p.compile, p.pending = settings.rulesOf, settings.empty(content{state: Pending})
	size := p.cfg.MaxOrigins
	if !p.source.PerOrigin() {
		size = 1
	}
	p.table, p.shared = newOriginTable(size), make(map[uint64]*Rules)
}

// with returns a Origins that holds what p does, compiled by other rules. The
// two share the source and the limits of reads; closing one closes both. The
// result of a read that is under way goes only to p, so the origin is read
// again at its next request.
func (p *Origins) with(settings *compiledSettings, fetched func(FetchEvent)) *Origins {
	q := &Origins{source: p.source, cfg: p.cfg, ctx: p.ctx, stop: p.stop, first: p.first, again: p.again, waiting: p.waiting}
	if q.cfg.Fetched = fetched; fetched == nil {
		q.cfg.Fetched = func(FetchEvent) {}
	}
	q.use(settings)
	if p.connected.Load() {
		q.generation, q.place = p.generation, p.place
		q.connected.Store(true)
	}
	for old := range p.table.all() {
		e := &entry{origin: old.origin}
		if h := old.history.Load(); h != nil {
			h = q.compileVersions(newHistoryRecord(h))
			q.mu.Lock()
			q.setHistory(e, h)
			q.mu.Unlock()
			e.historyJoined.Store(old.historyJoined.Load())
		}
		e.used.Store(old.used.Load())
		e.invented.Store(old.invented.Load())
		old.mu.Lock()
		rules, reading := old.rules.Load(), old.fetching.Load()
		e.good, e.last, e.tried, e.failures = old.good, old.last, old.tried, old.failures
		e.failing, e.err, e.cause = old.failing, old.err, old.cause
		old.mu.Unlock()
		e.lastFetch.Store(old.lastFetch.Load())
		if !reading {
			e.nextFetch.Store(old.nextFetch.Load())
		}
		if rules != nil {
			e.was = rules.publishedText()
			q.set(e, rules.content, q.cfg.Now().UnixNano())
		}
		q.table.insert(e)
		e.mu.Lock()
		q.planRetry(e)
		e.mu.Unlock()
	}
	p.retire()
	return q
}

// Close stops the reads under way, but does not wait until they end. Requests
// that are still running can use the policies. Close always returns nil.
func (p *Origins) close() error {
	p.stop()
	p.retire()
	return nil
}

// retire subtracts the memory of p's policies from the Ceiling, once, and cancels
// the reads that are planned.
func (p *Origins) retire() {
	for e := range p.table.all() {
		e.mu.Lock()
		if e.retry != nil {
			e.retry.Stop()
		}
		e.mu.Unlock()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.retired {
		p.cfg.Ceiling.add(-p.used)
	}
	p.retired = true
}

// key is Key.
func (p *Origins) key(origin Origin) Origin {
	if p.source.PerOrigin() {
		return origin
	}
	return Origin{}
}

// Peek returns the rules in force for the origin of r, or nil if its file was
// never fetched. It never waits. If the file was never fetched or is due again, a
// fetch begins in the background. Peek allocates nothing if there are rules.
func (p *Origins) Peek(r *Request) *Rules {
	rules, _ := p.peek(r)
	return rules
}

// peek is Peek, and reports whether the rules are due for the fetch that is
// under way.
func (p *Origins) peek(r *Request) (rules *Rules, outdated bool) {
	e := p.find(r)
	now := r.Time.UnixNano()
	e.touch(now)
	// If the last fetch began later than now, the clock was set back.
	if (now >= e.nextFetch.Load() || now < e.lastFetch.Load()) && !e.fetching.Load() {
		p.startFetch(r, e)
	}
	return e.rules.Load(), e.outdated(now)
}

// outdated reports whether the rules are due for the fetch that is under way.
func (e *entry) outdated(now int64) bool {
	return e.fetching.Load() && now >= e.nextFetch.Load() && e.rules.Load() != nil
}

// Wait returns the policy of r's origin. If there is none, or it is due for a new
// read, Wait waits for the read that is under way: until five seconds after the
// read began, or until ctx ends. If there is a policy that has been due for less
// than 24 hours, it waits until one second after the read began. It returns nil
// if there is still no policy.
func (p *Origins) Wait(ctx context.Context, r *Request) *Rules {
	e := p.find(r)
	outdated := e.outdated(r.Time.UnixNano())
	longest := firstWait
	if rules := e.rules.Load(); rules != nil {
		if !outdated {
			return rules
		}
		if r.Time.UnixNano()-e.nextFetch.Load() <= int64(maxStale) {
			longest = dueWait
		}
	}
	e.mu.Lock()
	ready := e.ready
	e.mu.Unlock()
	left := longest - time.Duration(r.Time.UnixNano()-e.lastFetch.Load())
	if ready == nil || left <= 0 {
		return e.rules.Load()
	}
	if p.waiting.Add(1) <= maxWaiting {
		t := time.NewTimer(min(left, longest))
		defer t.Stop()
		select {
		case <-ready:
		case <-t.C:
		case <-ctx.Done():
		case <-p.ctx.Done():
		}
	}
	p.waiting.Add(-1)
	return e.rules.Load()
}

// Reread reads the source of r's origin again, in the background, at most once
// per second. It is for a client that fetches /robots.txt: the engine should
// soon enforce the rules that the client sees. If a read is already under way,
// another one follows it, because the first may have read an older file.
func (p *Origins) Refetch(r *Request) {
	e := p.find(r)
	e.mu.Lock()
	e.again = e.fetching.Load()
	now := r.Time.UnixNano()
	last := e.lastFetch.Load()
	soon := last + int64(minRefetch)
	recent := now < soon && now >= last && e.tried
	if !recent {
		soon = now // the next request starts the read if none begins here
	}
	if soon < e.nextFetch.Load() {
		e.nextFetch.Store(soon)
	}
	e.mu.Unlock()
	if !recent {
		p.startFetch(r, e)
	}
}

// Load reads a source that serves all origins, and returns the policy when it
// is in force. If ctx ends before the source answers, the read has the outcome
// Failed. Load must not be called for a source with a file per origin.
func (p *Origins) Load(ctx context.Context) *Rules {
	r := &Request{Time: p.cfg.Now()}
	e := p.find(r)
	e.lastFetch.Store(r.Time.UnixNano())
	p.fetchNow(ctx, e)
	return e.rules.Load()
}

// Len returns the number of origins in p.
func (p *Origins) size() int { return int(p.table.n.Load()) }

// All calls f for each origin that has a policy.
func (p *Origins) All(f func(Origin, *Rules)) {
	for e := range p.table.all() {
		if rules := e.rules.Load(); rules != nil {
			f(e.origin, rules)
		}
	}
}

// find returns the entry of r's origin. It adds one if there is none.
func (p *Origins) find(r *Request) *entry {
	key := p.key(r.Origin)
	if e := p.table.find(key); e != nil {
		if !r.Invented && e.invented.Load() {
			e.invented.Store(false)
		}
		return e
	}
	return p.add(key, r)
}

// add adds an origin to the table. If the table is full, it evicts another one.
func (p *Origins) add(origin Origin, r *Request) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.table.find(origin); e != nil {
		return e
	}
	e := &entry{origin: origin}
	e.invented.Store(r.Invented && p.source.PerOrigin())
	e.used.Store(r.Time.UnixNano())
	if p.size() >= p.cfg.MaxOrigins {
		p.evict(e)
	}
	p.table.insert(e)
	return e
}

// evict removes the least valuable origin, other than keep, from the table. It
// reports whether there was one. The caller holds p.mu.
func (p *Origins) evict(keep *entry) bool {
	e := p.table.leastValuable(keep)
	if e == nil {
		return false
	}
	p.table.remove(e)
	e.gone = true
	p.release(e.rules.Load())
	p.setHistory(e, nil)
	return true
}
