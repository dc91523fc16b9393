package enforce

import (
	"context"
	"iter"
	"sync"
	"time"
)

// State is the policy of an origin and the state of its source.
type State struct {
	Origin   Origin    // the zero Origin if one policy serves all origins
	Rules    *Rules    // the policy in force; never nil
	Last     Outcome   // the outcome of the last read; Pending until the first one ends
	Err      error     // why the last read found no robots.txt; nil if it found one
	Good     time.Time // when the source last answered with a robots.txt, or that there is none; zero if it never did
	Began    time.Time // when the last read began; zero if there was none
	Next     time.Time // the first request after this time causes another read; failed reads are also repeated without a request, see Config.Refresh
	Failing  time.Time // when the failure began, that is, the first of the failed reads in a row; zero if the last read did not fail
	Failures int       // how many of the latest reads in a row failed
	Kept     bool      // Rules is a cached copy from an earlier read
	Invented bool      // a client may have invented the host; see Request.Invented
	Earlier  []Version // versions that some crawlers may still follow, newest first
}

// States returns the states of all origins in p, in no order.
func (p *Origins) States() iter.Seq[State] {
	return func(yield func(State) bool) {
		for e := range p.table.all() {
			if !yield(p.state(e)) {
				return
			}
		}
	}
}

// state returns the state of an entry.
func (p *Origins) state(e *entry) State {
	s := State{Origin: e.origin, Rules: e.rules.Load(), Last: Pending, Invented: e.invented.Load()}
	if s.Rules == nil {
		s.Rules = p.pending
	}
	if at := e.lastFetch.Load(); at != 0 {
		s.Began, s.Next = time.Unix(0, at), time.Unix(0, e.nextFetch.Load())
	}
	if h := e.history.Load(); h != nil {
		now := p.cfg.Now().UnixNano()
		for _, v := range h.earlier {
			if !v.ended(now) {
				s.Earlier = append(s.Earlier, v)
			}
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s.Err, s.Good, s.Failures = e.err, e.good.at, e.failures
	if e.tried {
		s.Last = e.last
		s.Kept = s.Rules.state != e.last
	}
	if e.failures > 0 {
		s.Failing = e.failing
	}
	return s
}

// Refresh reads the source again for each origin for which selected returns
// true. It calls report with each result, one call at a time. If a read is
// already under way, another one follows it, because the first may have begun
// too early. Refresh returns when all reads have ended or ctx ends, with the
// number of sources that it has not read.
func (p *Origins) Refresh(ctx context.Context, selected func(Origin) bool, report func(FetchEvent)) (unread int) {
	var calling sync.Mutex
	var reading sync.WaitGroup
	var left []*entry
	slots := make(chan struct{}, maxFetches/2) // leaves room for other reads
	for e := range p.table.all() {
		if selected(e.origin) {
			left = append(left, e)
		}
	}
	read := 0
	for _, e := range left {
		slots <- struct{}{}
		reading.Go(func() {
			defer func() { <-slots }()
			ev, ok := p.refresh(ctx, e)
			calling.Lock()
			defer calling.Unlock()
			if ok {
				read++
				report(ev)
			}
		})
	}
	reading.Wait()
	return len(left) - read
}

// refresh reads one origin again and waits for it.
func (p *Origins) refresh(ctx context.Context, e *entry) (FetchEvent, bool) {
	result := make(chan FetchEvent, 1)
	pause := time.NewTicker(refreshPause)
	defer pause.Stop()
	for ctx.Err() == nil && p.ctx.Err() == nil {
		e.mu.Lock()
		cause, ended, reading := e.cause, e.ended, e.fetching.Load()
		e.mu.Unlock()
		if cause == nil && p.source.PerOrigin() {
			return FetchEvent{}, false // never read, so there is no context for the source
		}
		if !reading {
			r := &Request{Origin: e.origin, Time: p.cfg.Now(), Caller: refetchCaller{cause}}
			if p.beginFetch(r, e, func(ev FetchEvent) { result <- ev }) {
				select {
				case ev := <-result:
					return ev, true
				case <-ctx.Done():
				case <-p.ctx.Done():
				}
				return FetchEvent{}, false
			}
			ended = nil // too many other reads are under way
		}
		select {
		case <-ended:
		case <-pause.C:
		case <-ctx.Done():
		case <-p.ctx.Done():
		}
	}
	return FetchEvent{}, false
}

// refreshPause is how long Refresh waits before it tries again to begin a read.
const refreshPause = 20 * time.Millisecond

// rereadCaller is the Caller of a read that no request causes. It has the
// context of the previous read.
type refetchCaller struct{ cause context.Context }

// Detach implements Caller.
func (a refetchCaller) Detach() context.Context {
	if a.cause == nil {
		return context.Background()
	}
	return a.cause
}

// Of returns the policy in force for an origin, or nil if none was read yet.
// Unlike Peek, it starts no read.
func (p *Origins) of(origin Origin) *Rules {
	if e := p.table.find(p.key(origin)); e != nil {
		return e.rules.Load()
	}
	return nil
}

// Unread returns the policy of origins that were never read. Its Outcome is
// Pending.
func (p *Origins) Pending() *Rules { return p.pending }

// Key returns the origin under which p stores the policy of origin: the zero
// Origin if one policy serves all origins, otherwise origin.
func (p *Origins) Key(origin Origin) Origin { return p.key(origin) }

// PerOrigin reports whether each origin has a policy of its own.
func (p *Origins) PerOrigin() bool { return p.source.PerOrigin() }
