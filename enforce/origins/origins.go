// Package origins holds the rules that are in force for each origin: it fetches the
// robots.txt files, keeps the last good copies and the earlier versions, and bounds the
// memory that all of them take.
package origins

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

// Table holds the rules in force of each origin, and fetches the file again
// when it is due. It is safe for concurrent use. Lookups take no lock; while
// rules are being replaced, they return the old or the new ones.
type Table struct {
	source   Source
	settings *judge.Compiled
	pending  *judge.Rules // the rules of origins whose file was never fetched
	cfg      Config
	table    *originTable

	mu      sync.Mutex // guards table, retired and changes of histories
	dropped [2]dropped // names in the files of evicted origins; the second one has the invented hosts
	retired bool       // the memory is no longer accounted for

	withEarlier atomic.Int64 // how many origins have earlier versions of their file
	connecting  sync.Once
	connected   atomic.Bool // place and generation are known
	place       HandlerKey
	generation  int

	fetches
	running background.Group
}

// fetches has what two Tables with the same source share.
type fetches struct {
	ctx     context.Context
	stop    context.CancelFunc
	first   chan struct{} // a semaphore of maxFetches for first fetches
	again   chan struct{} // and one for other fetches
	waiting *atomic.Int64
}

// New returns an empty Table that fetches from source and compiles
// files by settings. It fetches nothing yet. The caller closes it.
func New(source Source, settings *judge.Compiled, cfg Config) *Table {
	ctx, stop := context.WithCancel(context.Background())
	if cfg.Handler == nil {
		cfg.Histories = nil
	}
	return newTable(source, settings, cfg.complete(), fetches{
		ctx: ctx, stop: stop, first: make(chan struct{}, maxFetches), again: make(chan struct{}, maxFetches), waiting: new(atomic.Int64),
	})
}

func newTable(source Source, settings *judge.Compiled, cfg Config, shared fetches) *Table {
	return &Table{
		source: source, settings: settings, pending: settings.RulesOf(judge.Content{Outcome: judge.Pending}), cfg: cfg,
		table: newOriginTable(), fetches: shared,
	}
}

// With returns a Table that holds what p does, compiled by other settings. The
// two share the source and the limits of fetches; closing one closes both. The
// result of a fetch that is under way goes only to p, so the file is fetched
// again at the next request.
func (p *Table) With(settings *judge.Compiled, fetched func(FetchEvent)) *Table {
	cfg := p.cfg
	if cfg.Fetched = fetched; fetched == nil {
		cfg.Fetched = func(FetchEvent) {}
	}
	q := newTable(p.source, settings, cfg, p.fetches)
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
			q.set(e, *rules.Content(), q.cfg.Now().UnixNano())
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

// Close stops the fetches under way, but does not wait until they end. Requests
// that are still running can use the rules.
func (p *Table) Close() {
	p.stop()
	p.retire()
}

// Settle waits until no fetch is under way.
func (p *Table) Settle() { p.running.Wait() }

// retire subtracts the memory of p's rules from the Ceiling, once, and cancels
// the fetches that are planned.
func (p *Table) retire() {
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
	for e := range p.table.all() {
		for _, rules := range append(e.history.Load().rules(), e.rules.Load()) {
			p.account(rules, -1)
		}
	}
	p.cfg.Ceiling.add(-entrySize * p.table.n.Load())
	p.retired = true
}

// Peek returns the rules in force for the origin of r, or nil if its file was
// never fetched: see Lookup.
func (p *Table) Peek(r *judge.Request) *judge.Rules {
	rules, _, _ := p.Lookup(r)
	return rules
}

// Lookup returns the rules in force for the origin of r, or nil if its file was never
// fetched, and those that are in force until then, whose Outcome is Pending. It never
// waits. If the file was never fetched or is due again, a fetch begins in the
// background; outdated reports that the rules are due for the fetch that is under way.
// Lookup allocates nothing if there are rules.
func (p *Table) Lookup(r *judge.Request) (rules, pending *judge.Rules, outdated bool) {
	e := p.find(r)
	now := r.Time.UnixNano()
	e.touch(now)
	// If the last fetch began later than now, the clock was set back.
	if (now >= e.nextFetch.Load() || now < e.lastFetch.Load()) && !e.fetching.Load() {
		p.beginFetch(e, r.Time, r.Caller)
	}
	return e.rules.Load(), e.pending, e.outdated(now)
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
func (p *Table) Wait(ctx context.Context, r *judge.Request) *judge.Rules {
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
func (p *Table) awaitSlot(ctx context.Context, e *entry, r *judge.Request) {
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
func (p *Table) Refetch(r *judge.Request) {
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
func (p *Table) Changed() {
	now := p.cfg.Now()
	e := p.find(&judge.Request{Time: now})
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
func (p *Table) Load(ctx context.Context) *judge.Rules {
	r := &judge.Request{Time: p.cfg.Now()}
	e := p.find(r)
	e.lastFetch.Store(r.Time.UnixNano())
	p.fetchNow(ctx, e, false)
	e.mu.Lock()
	defer e.mu.Unlock()
	p.plan(e)
	return e.rules.Load()
}
