package enforce

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of reading that are not the operator's to set.
const (
	// firstWait is how long the first crawler of an origin waits for the
	// policy. Then it is let through: a slow source is no reason to deny.
	firstWait = 2 * time.Second
	// readTimeout is how long a source may take.
	readTimeout = 10 * time.Second
	// maxReads is how many reads run at once. A host name made up by a client
	// starts one, and a flood of such names must not start a flood.
	maxReads = 64
	// minReread is the least time between two reads of one origin.
	minReread = time.Second
)

// PoliciesConfig are the operator's choices for Policies. The zero value has
// every default.
type PoliciesConfig struct {
	Refresh    time.Duration // time between two reads of a source; default 1 minute, least 1 second
	MaxOrigins int           // origins kept at most; default 1000
	DenyFailed bool          // deny crawlers everything while the source fails, as RFC 9309 has it
	Copies     *Copies       // where good copies outlive this value; none if nil
	Observer   Observer
	Now        func() time.Time // the clock; default time.Now
}

// Policies holds the policy of each origin and keeps it fresh. Reads are
// lock-free; a policy that is being replaced is never seen half done. It is
// safe for concurrent use.
type Policies struct {
	source  Source
	compile func(body []byte) *Policy
	cfg     PoliciesConfig
	ctx     context.Context
	stop    context.CancelFunc
	reads   chan struct{}
	running sync.WaitGroup

	mu    sync.Mutex // held while the table is replaced
	table atomic.Pointer[map[Origin]*entry]
}

// entry is one origin's place in the table.
type entry struct {
	origin   Origin
	policy   atomic.Pointer[Policy]
	used     atomic.Int64 // when it was last asked for, in nanoseconds
	nextRead atomic.Int64 // when it is to be read again, in nanoseconds
	reading  atomic.Bool  // whether a read is under way

	mu      sync.Mutex
	lastTry time.Time     // when the last read began
	last    Outcome       // of the last read
	tried   bool          // whether there was one
	pending chan struct{} // closed when the read under way ends; nil if none is
	again   bool          // whether the read under way may have come too early
}

// NewPolicies returns an empty Policies that reads from source and turns the
// octets of files into policies with compile. Nothing is read yet. Close it.
func NewPolicies(source Source, compile func(body []byte) *Policy, cfg PoliciesConfig) *Policies {
	if cfg.Refresh == 0 {
		cfg.Refresh = time.Minute
	}
	cfg.Refresh = max(cfg.Refresh, minReread)
	if cfg.MaxOrigins <= 0 {
		cfg.MaxOrigins = 1000
	}
	if cfg.Observer == nil {
		cfg.Observer = nopObserver{}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	ctx, stop := context.WithCancel(context.Background())
	p := &Policies{source: source, compile: compile, cfg: cfg, ctx: ctx, stop: stop, reads: make(chan struct{}, maxReads)}
	p.table.Store(&map[Origin]*entry{})
	return p
}

// with returns a Policies that holds what p does, compiled anew. They share a
// source, its bounds and their end. A read that is under way goes to p alone,
// so its origin is read again at its next request.
func (p *Policies) with(compile func(body []byte) *Policy, observer Observer) *Policies {
	q := &Policies{source: p.source, compile: compile, cfg: p.cfg, ctx: p.ctx, stop: p.stop, reads: p.reads}
	if q.cfg.Observer = observer; observer == nil {
		q.cfg.Observer = nopObserver{}
	}
	table := make(map[Origin]*entry)
	compiled := make(map[*Policy]*Policy) // origins with the same file share one
	for origin, old := range *p.table.Load() {
		e := &entry{origin: origin}
		table[origin] = e
		e.used.Store(old.used.Load())
		old.mu.Lock()
		policy := old.policy.Load()
		e.last, e.tried, e.lastTry = old.last, old.tried, old.lastTry
		if old.pending == nil {
			e.nextRead.Store(old.nextRead.Load())
		}
		old.mu.Unlock()
		if policy == nil {
			continue
		}
		if compiled[policy] == nil {
			again := compile(policy.body)
			again.state, again.body, again.denyAll = policy.state, policy.body, policy.denyAll
			compiled[policy] = again
		}
		e.policy.Store(compiled[policy])
	}
	q.table.Store(&table)
	return q
}

// Close makes the reads under way end, without waiting for them. Policies
// that are held stay in force for the requests that are still running.
func (p *Policies) Close() error {
	p.stop()
	return nil
}

// key is the origin under which the policy of origin is held.
func (p *Policies) key(origin Origin) Origin {
	if p.source.PerOrigin() {
		return origin
	}
	return Origin{}
}

// Peek returns the policy of origin, nil if none was read yet. It never
// waits; where the policy is missing or due, a read begins behind it. It
// allocates nothing where there is a policy.
func (p *Policies) Peek(ctx context.Context, origin Origin, now time.Time) *Policy {
	e := (*p.table.Load())[p.key(origin)]
	if e == nil {
		e = p.add(p.key(origin), now)
	}
	n := now.UnixNano()
	if n-e.used.Load() > int64(time.Second) {
		e.used.Store(n)
	}
	if n >= e.nextRead.Load() && !e.reading.Load() {
		p.read(ctx, e, now)
	}
	return e.policy.Load()
}

// Get is Peek for a crawler: while there is no policy, or only one that no
// request has kept fresh, it waits for the read, until firstWait after its
// begin or the end of ctx. It returns nil where there is still none.
func (p *Policies) Get(ctx context.Context, origin Origin, now time.Time) *Policy {
	policy := p.Peek(ctx, origin, now)
	e := (*p.table.Load())[p.key(origin)]
	if e == nil { // evicted since
		return policy
	}
	due := time.Unix(0, e.nextRead.Load())
	if policy != nil && now.Sub(due) < p.cfg.Refresh {
		return policy
	}
	e.mu.Lock()
	pending, began := e.pending, e.lastTry
	e.mu.Unlock()
	wait := firstWait - now.Sub(began)
	if pending == nil || wait <= 0 {
		return e.policy.Load()
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-pending:
	case <-t.C:
	case <-ctx.Done():
	case <-p.ctx.Done():
	}
	return e.policy.Load()
}

// Reread reads the source of origin again behind the caller, soon: a crawler
// has just fetched /robots.txt, or the file has changed, and what is enforced
// should be what it saw. A read that is under way may have seen what was there
// before, so it is followed by another one.
func (p *Policies) Reread(ctx context.Context, origin Origin, now time.Time) {
	e := (*p.table.Load())[p.key(origin)]
	if e == nil {
		p.Peek(ctx, origin, now)
		return
	}
	e.mu.Lock()
	e.again = e.pending != nil
	soon := e.lastTry.Add(minReread)
	recent := now.Before(soon)
	if !recent {
		soon = now // of the next request, should no read begin here
	}
	e.nextRead.Store(min(e.nextRead.Load(), soon.UnixNano()))
	e.mu.Unlock()
	if !recent {
		p.read(ctx, e, now)
	}
}

// Len returns the number of origins held.
func (p *Policies) Len() int { return len(*p.table.Load()) }

// All calls f for each origin that has a policy.
func (p *Policies) All(f func(Origin, *Policy)) {
	for o, e := range *p.table.Load() {
		if policy := e.policy.Load(); policy != nil {
			f(o, policy)
		}
	}
}

// add puts an origin into the table, in place of the one that was asked for
// the longest time ago where the table is full. The table is copied, so that
// readers need no lock; origins come seldom.
func (p *Policies) add(origin Origin, now time.Time) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := *p.table.Load()
	if e := old[origin]; e != nil {
		return e
	}
	table := make(map[Origin]*entry, len(old)+1)
	var oldest *entry
	for o, e := range old {
		table[o] = e
		if oldest == nil || e.used.Load() < oldest.used.Load() {
			oldest = e
		}
	}
	if len(table) >= p.cfg.MaxOrigins {
		delete(table, oldest.origin)
	}
	e := &entry{origin: origin}
	e.used.Store(now.UnixNano())
	table[origin] = e
	p.table.Store(&table)
	return e
}

// read starts a read of e unless one is under way, or too many are. The read
// does not end with the request that started it, but may use its values.
func (p *Policies) read(ctx context.Context, e *entry, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pending != nil || p.ctx.Err() != nil {
		return
	}
	select {
	case p.reads <- struct{}{}:
	default:
		return
	}
	pending := make(chan struct{})
	e.pending, e.lastTry, e.again = pending, now, false
	e.reading.Store(true)
	p.running.Add(1)
	go func() {
		defer p.running.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
		stop := context.AfterFunc(p.ctx, cancel)
		p.readNow(ctx, e)
		stop()
		cancel()
		<-p.reads
		e.mu.Lock()
		e.pending = nil
		e.reading.Store(false)
		e.mu.Unlock()
		close(pending)
	}()
}

// readNow reads e's source and puts what it came to in force.
func (p *Policies) readNow(ctx context.Context, e *entry) {
	began := p.cfg.Now()
	resp, err := p.fetch(ctx, e.origin)
	if p.ctx.Err() != nil && err != nil {
		return // closed: nobody is to be told
	}
	out, err := outcome(resp, err)
	ev := PolicyRead{Origin: e.origin, Outcome: out, Err: err}

	e.mu.Lock()
	current := e.policy.Load()
	switch out {
	case Loaded:
		if current != nil && current.state == Loaded && bytes.Equal(resp.Body, current.body) {
			ev.Outcome = Unchanged
			break
		}
		current = p.build(resp.Body, Loaded)
		p.cfg.Copies.put(e.origin, current.body)
	case Missing, NotRobots:
		p.cfg.Copies.remove(e.origin)
		if current == nil || current.state != out {
			current = p.build(nil, out)
		}
	case Failed:
		current = p.failed(e, current)
		ev.Stale = current.state == Loaded
	}
	e.policy.Store(current)
	ev.Changed = !e.tried || e.last != out || ev.Outcome == Loaded
	e.last, e.tried = out, true
	now := p.cfg.Now()
	next := now.Add(p.cfg.Refresh)
	if e.again {
		next = e.lastTry.Add(minReread)
	}
	e.nextRead.Store(next.UnixNano())
	e.mu.Unlock()

	ev.Policy, ev.Took = current, now.Sub(began)
	p.cfg.Observer.PolicyRead(ev)
}

// failed returns the policy for an origin whose source fails: one that denies
// all where the operator chose that, else the last good copy, also one from
// before this value was made, else no rules.
func (p *Policies) failed(e *entry, current *Policy) *Policy {
	if p.cfg.DenyFailed {
		if current != nil && current.state == Failed {
			return current
		}
		denied := p.build(nil, Failed)
		denied.denyAll = true
		return denied
	}
	if current != nil {
		return current
	}
	if body, ok := p.cfg.Copies.get(e.origin); ok {
		return p.build(body, Loaded)
	}
	return p.build(nil, Failed)
}

// build returns the policy that body is. Where another origin has the same
// file they share one policy, so that host names made up by a client cost no
// memory but their own.
func (p *Policies) build(body []byte, state Outcome) *Policy {
	if state == Loaded {
		for _, e := range *p.table.Load() {
			if other := e.policy.Load(); other != nil && other.state == Loaded && bytes.Equal(other.body, body) {
				return other
			}
		}
	}
	policy := p.compile(body)
	policy.state, policy.body = state, body
	return policy
}

// fetch is the source's Fetch, with a panic turned into an error: sources may
// run handlers, and net/http lets these panic to abort.
func (p *Policies) fetch(ctx context.Context, origin Origin) (resp Response, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the source panicked: %v", r)
		}
	}()
	return p.source.Fetch(ctx, origin)
}
