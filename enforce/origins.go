package enforce

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Origins holds the rules in force of each origin, and fetches the file again
// when it is due. It is safe for concurrent use. Lookups take no lock; while
// rules are being replaced, they return the old or the new ones.
type Origins struct {
	source  Source
	compile func(Content) *Rules
	pending *Rules // the rules of origins whose file was never fetched
	cfg     Config
	ctx     context.Context
	stop    context.CancelFunc
	first   chan struct{} // a semaphore of maxFetches for first fetches
	again   chan struct{} // and one for other fetches
	slow    chan struct{} // and one of maxSlow for those that take long
	waiting *atomic.Int64
	running sync.WaitGroup

	table       *originTable
	withEarlier atomic.Int64 // how many origins have earlier versions of their file

	connecting sync.Once
	connected  atomic.Bool // place and generation are known
	place      HandlerKey
	generation int
	histories  *histories // nil without Config.Handler

	mu      sync.Mutex     // guards table, users, retired and changes of histories
	users   map[*Rules]int // how many origins have the rules, in force or as an earlier version
	dropped [2]dropped     // names in the files of evicted origins; the second one has the invented hosts
	retired bool
}

// entry is the record of one origin.
type entry struct {
	origin        Origin
	pending       *Rules // in force until there are rules
	evicted       bool   // an earlier entry of the origin was evicted
	rules         atomic.Pointer[Rules]
	history       atomic.Pointer[history] // nil if the origin has had no version
	historyJoined atomic.Bool             // the history of an earlier configuration was looked for
	invented      atomic.Bool             // a client may have invented the host
	used          atomic.Int64            // when the entry was last used; all times are in nanoseconds since 1970
	nextFetch     atomic.Int64            // when the next fetch is due
	lastFetch     atomic.Int64            // when the last fetch began
	fetching      atomic.Bool             // whether a fetch is under way
	waiting       atomic.Int64            // how many requests wait for rules

	mu       sync.Mutex
	good     goodCopy
	was      []byte          // the text that was published by other rules; nil if none, or not known
	last     Outcome         // of the last fetch
	tried    bool            // whether a fetch has ended
	failures int             // how many of the latest fetches in a row failed
	failing  time.Time       // when the first of them began
	err      error           // why the last fetch failed; nil if it did not
	cause    context.Context // context of the last fetch, for further ones of the same origin; nil before the first
	latest   *fetch          // under way; nil without
	held     *candidate      // nil without a version that does not count yet
	sure     bool            // whether the operator asks for the next fetch
	again    bool            // whether another fetch must follow the one under way
	retry    *time.Timer     // begins the next fetch without a request; nil if none is planned
	gone     bool            // the entry was evicted
}

// newOrigins returns an empty Origins that fetches from source and compiles
// files by settings. It fetches nothing yet. The caller closes it.
func newOrigins(source Source, settings *compiledSettings, cfg Config) *Origins {
	ctx, stop := context.WithCancel(context.Background())
	p := &Origins{
		source: source, cfg: cfg.complete(), ctx: ctx, stop: stop,
		first: make(chan struct{}, maxFetches), again: make(chan struct{}, maxFetches), slow: make(chan struct{}, maxSlow), waiting: new(atomic.Int64),
	}
	if cfg.Handler != nil {
		p.histories = cfg.Memory.histories
	}
	p.use(settings)
	return p
}

// use sets the settings of p and empties its table.
func (p *Origins) use(settings *compiledSettings) {
	p.compile, p.pending = settings.rulesOf, settings.rulesOf(Content{Outcome: Pending})
	p.table, p.users = newOriginTable(), make(map[*Rules]int)
}

// with returns an Origins that holds what p does, compiled by other settings. The
// two share the source and the limits of fetches; closing one closes both. The
// result of a fetch that is under way goes only to p, so the file is fetched
// again at the next request.
func (p *Origins) with(settings *compiledSettings, fetched func(FetchEvent)) *Origins {
	q := &Origins{source: p.source, cfg: p.cfg, ctx: p.ctx, stop: p.stop, first: p.first, again: p.again, slow: p.slow, waiting: p.waiting, histories: p.histories}
	if q.cfg.Fetched = fetched; fetched == nil {
		q.cfg.Fetched = func(FetchEvent) {}
	}
	q.use(settings)
	if p.connected.Load() {
		q.generation, q.place = p.generation, p.place
		q.connected.Store(true)
	}
	for old := range p.table.all() {
		e := &entry{origin: old.origin, pending: q.pending}
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
		e.failing, e.err, e.cause, e.held = old.failing, old.err, old.cause, old.held
		old.mu.Unlock()
		e.lastFetch.Store(old.lastFetch.Load())
		if !reading {
			e.nextFetch.Store(old.nextFetch.Load())
		}
		if rules != nil {
			e.was = rules.publishedText()
			q.set(e, rules.content, q.cfg.Now().UnixNano())
		}
		q.mu.Lock()
		q.insert(e)
		q.mu.Unlock()
		e.mu.Lock()
		q.plan(e)
		e.mu.Unlock()
	}
	p.retire()
	return q
}

// close stops the fetches under way, but does not wait until they end. Requests
// that are still running can use the rules.
func (p *Origins) close() {
	p.stop()
	p.retire()
}

// retire subtracts the memory of p's rules from the Ceiling, once, and cancels
// the fetches that are planned.
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
	if p.retired {
		return
	}
	for rules := range p.users {
		p.account(rules, -1)
	}
	p.cfg.Ceiling.add(-entrySize * p.table.n.Load())
	p.retired = true
}

// Peek returns the rules in force for the origin of r, or nil if its file was
// never fetched. It never waits. If the file was never fetched or is due again, a
// fetch begins in the background. Peek allocates nothing if there are rules.
func (p *Origins) Peek(r *Request) *Rules {
	_, rules, _ := p.peek(r)
	return rules
}

// peek is Peek. It also returns the entry, and reports whether the rules are due
// for the fetch that is under way.
func (p *Origins) peek(r *Request) (e *entry, rules *Rules, outdated bool) {
	e = p.find(r)
	now := r.Time.UnixNano()
	e.touch(now)
	// If the last fetch began later than now, the clock was set back.
	if (now >= e.nextFetch.Load() || now < e.lastFetch.Load()) && !e.fetching.Load() {
		p.beginFetch(e, r.Time, r.Caller)
	}
	return e, e.rules.Load(), e.outdated(now)
}

// outdated reports whether the rules are due for the fetch that is under way.
func (e *entry) outdated(now int64) bool {
	return e.fetching.Load() && now >= e.nextFetch.Load() && e.rules.Load() != nil
}

// Wait returns the rules in force for r's origin. If there are none, or the file
// is due for a new fetch, Wait waits for the fetch that is under way: until five
// seconds after it began, or until ctx ends. If there are rules whose fetch has
// been due for less than 24 hours, Wait waits until one second after the fetch
// began. It returns nil if there are still no rules.
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
	left := longest
	if began := e.lastFetch.Load(); began != 0 {
		left -= time.Duration(r.Time.UnixNano() - began)
	}
	if left <= 0 {
		return e.rules.Load()
	}
	if e.waiting.Add(1) <= maxWaiting-p.waiting.Add(1) {
		ctx, cancel := context.WithTimeout(ctx, min(left, longest))
		defer cancel()
		p.awaitSlot(ctx, e, r)
		e.mu.Lock()
		latest := e.latest
		e.mu.Unlock()
		if latest != nil {
			await(ctx, p, latest.ready)
		}
	}
	e.waiting.Add(-1)
	p.waiting.Add(-1)
	return e.rules.Load()
}

// awaitSlot waits until the first fetch for an origin has begun. It could not
// begin yet if too many others are under way.
func (p *Origins) awaitSlot(ctx context.Context, e *entry, r *Request) {
	pause := time.NewTicker(refreshPause)
	defer pause.Stop()
	for e.rules.Load() == nil && !e.fetching.Load() && ctx.Err() == nil && p.ctx.Err() == nil {
		if p.beginFetch(e, p.cfg.Now(), r.Caller) != nil {
			return
		}
		await(ctx, p, pause.C)
	}
}

// Refetch fetches the file of r's origin again, in the background, at most once
// per second. It is for a client that reads /robots.txt: the engine should soon
// enforce the rules that the client sees. If a fetch is already under way,
// another one follows it, because the first may have got an older file.
func (p *Origins) Refetch(r *Request) {
	e := p.find(r)
	e.mu.Lock()
	e.again = e.fetching.Load()
	now := r.Time.UnixNano()
	last := e.lastFetch.Load()
	soon := last + int64(minRefetch)
	recent := now < soon && now >= last && e.tried
	if !recent {
		soon = now // the next request starts the fetch if none begins here
	}
	if soon < e.nextFetch.Load() {
		e.nextFetch.Store(soon)
	}
	e.mu.Unlock()
	if !recent {
		p.beginFetch(e, r.Time, r.Caller)
	}
}

// Changed fetches the file of a source that serves all origins at once: the caller
// knows that it has changed.
func (p *Origins) Changed() {
	now := p.cfg.Now()
	e := p.find(&Request{Time: now})
	if p.beginFetch(e, now, nil) == nil {
		e.mu.Lock()
		e.again = true
		p.plan(e) // a fetch that is under way may have got the file as it was
		e.mu.Unlock()
	}
}

// Load fetches from a source that serves all origins, and returns the rules when
// they are in force. If ctx ends before the source answers, the fetch has the
// outcome Failed. Load must not be called for a source with a file per origin.
func (p *Origins) Load(ctx context.Context) *Rules {
	r := &Request{Time: p.cfg.Now()}
	e := p.find(r)
	e.lastFetch.Store(r.Time.UnixNano())
	p.fetchNow(ctx, e, false)
	e.mu.Lock()
	defer e.mu.Unlock()
	p.plan(e)
	return e.rules.Load()
}

// Len returns the number of origins in p.
func (p *Origins) size() int { return int(p.table.n.Load()) }

// All calls f for each origin that has rules.
func (p *Origins) All(f func(Origin, *Rules)) {
	for e := range p.table.all() {
		if rules := e.rules.Load(); rules != nil {
			f(e.origin, rules)
		}
	}
}

// find returns the entry of r's origin. It adds one if there is none.
func (p *Origins) find(r *Request) *entry {
	key := p.Key(r.Origin)
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
	invented := r.Invented && p.source.PerOrigin()
	e := &entry{origin: origin}
	e.pending, e.evicted = p.pendingFor(origin, invented)
	e.invented.Store(invented)
	e.used.Store(r.Time.UnixNano())
	if p.size() >= p.cfg.MaxOrigins {
		p.evict(e, false)
	}
	p.insert(e)
	return e
}

// insert adds an entry to the table. The caller holds p.mu.
func (p *Origins) insert(e *entry) {
	p.table.insert(e)
	if !p.retired {
		p.cfg.Ceiling.add(entrySize)
	}
}

// entrySize is what an origin takes besides its rules: the entry, its history,
// and their copies for the time after a reload, as BenchmarkHosts measures it.
const entrySize = 850

// evict removes the least valuable origin, other than keep, from the table: to
// free memory, or because there are too many. It reports whether there was one.
// The caller holds p.mu.
func (p *Origins) evict(keep *entry, memory bool) bool {
	e := p.table.leastValuable(keep)
	if e == nil {
		return false
	}
	p.table.remove(e)
	if !p.retired {
		p.cfg.Ceiling.add(-entrySize)
	}
	e.gone = true
	p.keepNames(e)
	if e.rules.Load() != nil {
		p.cfg.Evicted(memory)
	}
	p.release(e.rules.Load())
	p.setHistory(e, nil)
	return true
}

// of returns the rules in force for an origin, or nil if there are none. Unlike
// Peek, it starts no fetch.
func (p *Origins) of(origin Origin) *Rules {
	if e := p.table.find(p.Key(origin)); e != nil {
		return e.rules.Load()
	}
	return nil
}

// Pending returns the rules of origins whose file was never fetched. Their Outcome
// is Pending.
func (p *Origins) Pending() *Rules { return p.pending }

// Key returns the origin under which p stores the rules of origin: the zero
// Origin if one file serves all origins, otherwise origin.
func (p *Origins) Key(origin Origin) Origin {
	if p.source.PerOrigin() {
		return origin
	}
	return Origin{}
}

// PerOrigin reports whether each origin has a file of its own.
func (p *Origins) PerOrigin() bool { return p.source.PerOrigin() }
