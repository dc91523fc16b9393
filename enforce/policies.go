package enforce

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Bounds of reading that are not the operator's to set.
const (
	// firstWait is how long a crawler waits for the first policy of an origin,
	// from the moment at which its read begins.
	firstWait = 5 * time.Second
	// maxWaiting is how many requests wait so at once.
	maxWaiting = 1000
	// readTimeout is how long a source may take.
	readTimeout = 10 * time.Second
	// maxReads is how many first reads run at once, and how many others. A host
	// name made up by a client starts one, and a flood of such names must start
	// no flood, nor keep the policies of real sites from being read again.
	maxReads = 32
	// minReread is the least time between two reads of one origin.
	minReread = time.Second
	// maxUnread is how long a policy that was not read again is in force
	// without a crawler waiting for the read: the 24 hours for which crawlers
	// may use their own copies (RFC 9309, section 2.4).
	maxUnread = 24 * time.Hour
)

// Config has the operator's choices that are not in Rules. The zero value has
// every default.
type Config struct {
	Refresh    time.Duration     // time between two reads of a source; default 1 minute, least 1 second
	MaxOrigins int               // origins kept at most; default 1000
	DenyFailed bool              // deny crawlers everything while the source fails, as RFC 9309 says
	Ceiling    *Ceiling          // bounds the memory of several engines; none if nil
	Copies     *Copies           // keeps good copies after the engine is closed; none if nil
	Readers    *Recent           // which crawlers read which robots.txt; the engine's own if nil
	Waiters    *throttle.Waiters // holds requests until their time comes; the engine's own if nil
	Visits     *Visits           // when crawlers came; the engine's own if nil
	Histories  *Histories        // keeps versions of files after the engine is closed; none if nil
	Place      func() Place      // where the files are enforced, for Histories; called once, when the first crawler comes or by Connect
	Published  bool              // clients that ask for /robots.txt are given Policy.Text
	Observer   Observer
	Now        func() time.Time // the clock of reads; default time.Now
}

// complete returns c with its defaults.
func (c Config) complete() Config {
	if c.Refresh == 0 {
		c.Refresh = time.Minute
	}
	c.Refresh = max(c.Refresh, minReread)
	if c.MaxOrigins <= 0 {
		c.MaxOrigins = 1000
	}
	if c.Observer == nil {
		c.Observer = nopObserver{}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Policies holds the policy of each origin and keeps it fresh. A lookup takes
// no lock. It returns either the old or the new policy while one is replaced.
// It is safe for concurrent use.
type Policies struct {
	source  Source
	compile func(content) *Policy
	pending *Policy // of origins that were never read
	cfg     Config
	ctx     context.Context
	stop    context.CancelFunc
	first   chan struct{} // a place for each first read
	again   chan struct{} // and for each other read
	waiting *atomic.Int64
	running sync.WaitGroup

	table  *origins
	graces atomic.Int64 // origins whose file has earlier versions

	connecting sync.Once
	connected  atomic.Bool // place and generation are known
	place      Place
	generation int

	mu      sync.Mutex         // held while table, shared and histories are changed
	shared  map[uint64]*Policy // by a hash of the file: origins with the same file share one
	used    int64              // octets of memory that all policies take
	retired bool
}

// entry is one origin's place in the table.
type entry struct {
	origin   Origin
	next     atomic.Pointer[entry] // in the table
	policy   atomic.Pointer[Policy]
	history  atomic.Pointer[history] // nil while there was no version yet
	recalled atomic.Bool             // the history that an earlier configuration left was looked for
	invented atomic.Bool             // the host is one that a client may have made up
	used     atomic.Int64            // when it was last asked for; this and the following in nanoseconds since 1970
	nextRead atomic.Int64            // when it is to be read again
	lastRead atomic.Int64            // when the last read began
	reading  atomic.Bool             // whether a read is under way

	mu       sync.Mutex
	good     goodCopy
	was      []byte          // what was published under other rules; nil if nothing, or not known
	last     Outcome         // of the last read
	tried    bool            // whether there was one
	failures int             // reads in a row that failed
	failing  time.Time       // when the first of them began
	err      error           // why the last read failed; nil if it did not
	cause    context.Context // of the last read, for further reads of the same origin
	ended    chan struct{}   // closed when the read under way, or the last one, ends; nil before the first read
	ready    chan struct{}   // closed when there is a policy; nil before the first read begins
	again    bool            // whether the read under way may have come too early
	gone     bool            // it was evicted
}

// NewPolicies returns an empty Policies that reads from source and turns the
// octets of files into policies with rules. Nothing is read yet. Close it.
func NewPolicies(source Source, rules *compiledRules, cfg Config) *Policies {
	ctx, stop := context.WithCancel(context.Background())
	p := &Policies{
		source: source, cfg: cfg.complete(), ctx: ctx, stop: stop,
		first: make(chan struct{}, maxReads), again: make(chan struct{}, maxReads), waiting: new(atomic.Int64),
	}
	p.use(rules)
	return p
}

// use has p compile under rules, into an empty table.
func (p *Policies) use(rules *compiledRules) {
	p.compile, p.pending = rules.policy, rules.empty(Pending)
	size := p.cfg.MaxOrigins
	if !p.source.PerOrigin() {
		size = 1
	}
	p.table, p.shared = newOrigins(size), make(map[uint64]*Policy)
}

// with returns a Policies that holds what p does, compiled under other rules.
// They share a source, its bounds and their end. A read that is under way goes
// to p alone, so its origin is read again at its next request.
func (p *Policies) with(rules *compiledRules, observer Observer) *Policies {
	q := &Policies{source: p.source, cfg: p.cfg, ctx: p.ctx, stop: p.stop, first: p.first, again: p.again, waiting: p.waiting}
	if q.cfg.Observer = observer; observer == nil {
		q.cfg.Observer = nopObserver{}
	}
	q.use(rules)
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
			e.recalled.Store(old.recalled.Load())
		}
		e.used.Store(old.used.Load())
		e.invented.Store(old.invented.Load())
		old.mu.Lock()
		policy, reading := old.policy.Load(), old.reading.Load()
		e.good, e.last, e.tried, e.failures = old.good, old.last, old.tried, old.failures
		e.failing, e.err, e.cause = old.failing, old.err, old.cause
		old.mu.Unlock()
		e.lastRead.Store(old.lastRead.Load())
		if !reading {
			e.nextRead.Store(old.nextRead.Load())
		}
		if policy != nil {
			e.was = policy.publishedText()
			q.set(e, policy.content, q.cfg.Now().UnixNano())
		}
		q.table.insert(e)
	}
	p.retire()
	return q
}

// Close stops the reads under way, without waiting for their end. The policies
// stay in force for the requests that are still running.
func (p *Policies) Close() error {
	p.stop()
	p.retire()
	return nil
}

// retire ends the account of the memory that p uses.
func (p *Policies) retire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.retired {
		p.cfg.Ceiling.add(-p.used)
	}
	p.retired = true
}

// key is the origin under which the policy of origin is held.
func (p *Policies) key(origin Origin) Origin {
	if p.source.PerOrigin() {
		return origin
	}
	return Origin{}
}

// Peek returns the policy of the origin of r, nil if none was read yet. It
// never waits. If the policy is missing or due for a refresh, a read begins in
// the background. It allocates nothing where there is a policy.
func (p *Policies) Peek(r *Request) *Policy {
	e := p.find(r)
	now := r.Time.UnixNano()
	e.touch(now)
	// A read that began later than now tells that the clock was set back.
	if (now >= e.nextRead.Load() || now < e.lastRead.Load()) && !e.reading.Load() {
		p.read(r, e)
	}
	return e.policy.Load()
}

// outdated reports whether the policy of r's origin was not read again for so
// long that a crawler waits for the read.
func (p *Policies) outdated(r *Request) bool {
	e := p.table.find(p.key(r.Origin))
	return e != nil && e.policy.Load() != nil && e.reading.Load() && r.Time.UnixNano()-e.nextRead.Load() > int64(maxUnread)
}

// Wait returns the policy of r's origin. If there is none and a read is under
// way, it waits for the read, until firstWait after the read began or until ctx
// ends. It returns nil if there is still none.
func (p *Policies) Wait(ctx context.Context, r *Request) *Policy {
	e := p.find(r)
	outdated := p.outdated(r)
	if policy := e.policy.Load(); policy != nil && !outdated {
		return policy
	}
	e.mu.Lock()
	ready := e.ready
	e.mu.Unlock()
	left := firstWait - time.Duration(r.Time.UnixNano()-e.lastRead.Load())
	if ready == nil || left <= 0 {
		return e.policy.Load()
	}
	if p.waiting.Add(1) <= maxWaiting {
		t := time.NewTimer(min(left, firstWait))
		defer t.Stop()
		select {
		case <-ready:
		case <-t.C:
		case <-ctx.Done():
		case <-p.ctx.Done():
		}
	}
	p.waiting.Add(-1)
	return e.policy.Load()
}

// Reread soon reads the source of r's origin again, in the background: a client
// has just fetched /robots.txt, and the rules that it saw should be enforced.
// If a read is already under way, another one follows it, because the first may
// have read the older file.
func (p *Policies) Reread(r *Request) {
	e := p.find(r)
	e.mu.Lock()
	e.again = e.reading.Load()
	now := r.Time.UnixNano()
	last := e.lastRead.Load()
	soon := last + int64(minReread)
	recent := now < soon && now >= last && e.tried
	if !recent {
		soon = now // of the next request, should no read begin here
	}
	if soon < e.nextRead.Load() {
		e.nextRead.Store(soon)
	}
	e.mu.Unlock()
	if !recent {
		p.read(r, e)
	}
}

// Load reads the policy of a source that is the same for all origins, and
// returns when it is in force.
func (p *Policies) Load(ctx context.Context) *Policy {
	r := &Request{Time: p.cfg.Now()}
	e := p.find(r)
	e.lastRead.Store(r.Time.UnixNano())
	p.readNow(ctx, e)
	return e.policy.Load()
}

// Len returns the number of origins held.
func (p *Policies) Len() int { return int(p.table.n.Load()) }

// All calls f for each origin that has a policy.
func (p *Policies) All(f func(Origin, *Policy)) {
	for e := range p.table.all() {
		if policy := e.policy.Load(); policy != nil {
			f(e.origin, policy)
		}
	}
}

// find returns the entry of r's origin, a new one if there is none.
func (p *Policies) find(r *Request) *entry {
	key := p.key(r.Origin)
	if e := p.table.find(key); e != nil {
		if !r.Invented && e.invented.Load() {
			e.invented.Store(false)
		}
		return e
	}
	return p.add(key, r)
}

// add puts an origin into the table, in place of another one where the table
// is full.
func (p *Policies) add(origin Origin, r *Request) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.table.find(origin); e != nil {
		return e
	}
	e := &entry{origin: origin}
	e.invented.Store(r.Invented)
	e.used.Store(r.Time.UnixNano())
	if p.Len() >= p.cfg.MaxOrigins {
		p.evict(e)
	}
	p.table.insert(e)
	return e
}

// evict takes the least valuable origin out of the table, other than keep. It
// reports whether there was one. The caller holds p.mu.
func (p *Policies) evict(keep *entry) bool {
	e := p.table.leastValuable(keep)
	if e == nil {
		return false
	}
	p.table.remove(e)
	e.gone = true
	p.release(e.policy.Load())
	p.setHistory(e, nil)
	return true
}
