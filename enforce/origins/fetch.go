package origins

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

// fetch is one fetch of an origin's file.
type fetch struct {
	ready chan struct{} // closed when there are rules: those of the fetch or of a cached copy
	ended chan struct{} // closed when the fetch has ended
	event FetchEvent    // set before ended is closed
	ok    bool          // event is set; false if the Table was closed meanwhile
}

// aFetch names a fetch in reports. After one that panicked, none begins for panicPause.
const (
	aFetch     = "robots.txt: a fetch"
	panicPause = time.Minute
)

// beginFetch starts a fetch for e, unless one is under way or too many others
// are; then it returns nil. The fetch goes on when the request that started it
// ends. caller is the caller of that request; if it is nil, the fetch gets the
// context of the previous one.
func (p *Table) beginFetch(e *entry, now time.Time, caller judge.Caller) *fetch {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fetching.Load() || p.ctx.Err() != nil {
		return nil
	}
	slots := p.again
	if e.rules.Load() == nil {
		slots = p.first
	}
	select {
	case slots <- struct{}{}:
	default:
		return nil
	}
	if caller != nil {
		e.cause = caller.Detach()
	} else if e.cause == nil {
		e.cause = context.Background()
	}
	f := &fetch{ready: make(chan struct{}), ended: make(chan struct{})}
	sure := e.sure
	e.latest, e.again, e.sure = f, false, false
	e.lastFetch.Store(now.UnixNano())
	e.fetching.Store(true)
	cause := e.cause
	p.running.Go(aFetch, func() {
		restored := false
		ctx, cancel := context.WithTimeout(cause, fetchTimeout)
		stop := background.Ended(p.ctx, aFetch, cancel)
		if background.Run(aFetch, func() {
			if restored = p.restoreCopy(e); restored {
				close(f.ready) // crawlers don't have to wait for the fetch
			}
			f.event, f.ok = p.fetchNow(ctx, e, sure)
		}) != nil {
			e.nextFetch.Store(p.cfg.Now().Add(panicPause).UnixNano())
		}
		stop()
		cancel()
		<-slots
		e.mu.Lock()
		defer e.mu.Unlock()
		e.fetching.Store(false)
		if !restored {
			close(f.ready)
		}
		close(f.ended)
		e.latest = nil
		p.plan(e)
	})
	return f
}

// await waits until done is closed or has a value, or until ctx ends or p is
// closed.
func await[T any](ctx context.Context, p *Table, done <-chan T) {
	select {
	case <-done:
	case <-ctx.Done():
	case <-p.ctx.Done():
	}
}

// Prefetch fetches the file of r's origin if p has no rules for it, and waits
// until the fetch ends or ctx ends. It is for origins that will have requests, so
// that the first one does not have to wait.
func (p *Table) Prefetch(ctx context.Context, r *judge.Request) {
	e := p.find(r)
	if e.rules.Load() != nil {
		return
	}
	if f := p.beginFetch(e, r.Time, r.Caller); f != nil {
		await(ctx, p, f.ended)
	}
}

// restoreCopy puts the cached copy in force if e has no rules, for instance
// after a reload. It reports whether it did.
func (p *Table) restoreCopy(e *entry) bool {
	if e.rules.Load() != nil {
		return false
	}
	c, ok := p.freshCopy(e)
	if !ok {
		return false
	}
	e.mu.Lock()
	e.good = c
	e.mu.Unlock()
	p.set(e, c.Content, p.cfg.Now().UnixNano())
	return true
}

// freshCopy returns the cached copy of an origin, unless it is too old to be used.
func (p *Table) freshCopy(e *entry) (goodCopy, bool) {
	c, ok := p.cfg.Copies.get(e.origin)
	if !ok || p.cfg.Now().Sub(c.at) > keepFailed {
		return goodCopy{}, false
	}
	return c, true
}

// fetchNow fetches e's file and puts the result in force, unless it is held. sure is
// set if the operator asked for the fetch. fetchNow returns false if p was closed
// meanwhile.
func (p *Table) fetchNow(ctx context.Context, e *entry, sure bool) (FetchEvent, bool) {
	began := p.cfg.Now()
	resp, err := callSource(ctx, p.source, e.origin)
	if p.ctx.Err() != nil && err != nil {
		return FetchEvent{}, false // closed: there is no result to report
	}
	if cap(resp.Body) > len(resp.Body)+len(resp.Body)/8 {
		resp.Body = bytes.Clone(resp.Body) // without the rest of the buffer, since it is kept
	}
	now := p.cfg.Now()
	found, err := resp.Content(err)
	ev := FetchEvent{Origin: e.origin, Outcome: found.Outcome, Err: err, Took: now.Sub(began)}
	current := e.rules.Load()
	known := judge.Content{Outcome: judge.Pending} // what the answer is compared with
	if current != nil {
		known = *current.Content()
	} else if c, ok := p.freshCopy(e); ok { // of a source that is read by Load
		known = c.Content
		e.mu.Lock()
		e.good = c
		e.mu.Unlock()
	}
	if found.Outcome == judge.Loaded && known.Outcome == judge.Loaded && known.Apart == found.Apart && bytes.Equal(found.Body, known.Body) {
		ev.Outcome, found.Body = judge.Unchanged, known.Body
	}
	if found.IsGood() && ev.Outcome != judge.Unchanged && p.hold(e, found, resp, sure) {
		p.restoreCopy(e)
		return p.keep(e, ev, now), true
	}
	inForce, changed, next := p.record(e, &ev, found, resp, now)
	if ev.Outcome != judge.Unchanged || current == nil {
		current = p.set(e, inForce, changed)
	}
	p.forgetEnded(e, now.UnixNano())
	e.mu.Lock()
	if e.good.Outcome == judge.Loaded && current.Content().Outcome == judge.Loaded && bytes.Equal(e.good.Body, current.Content().Body) {
		e.good.Body = current.Content().Body // one copy for all origins that share the rules
	}
	good := e.good
	e.mu.Unlock()
	if found.IsGood() {
		p.cfg.Copies.put(e.origin, good, maxCopiesSize)
	}
	e.nextFetch.Store(next.UnixNano())
	ev.Rules = current
	p.cfg.Fetched(ev)
	return ev, true
}

// record notes in e and ev the result of a fetch that counts. It returns what is in
// force then, the time from which clients received it, and when the next fetch is due.
func (p *Table) record(e *entry, ev *FetchEvent, found judge.Content, resp judge.Response, now time.Time) (
	inForce judge.Content, changed int64, next time.Time,
) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ev.Repeated = e.evicted && !e.tried
	changed = e.lastFetch.Load()
	if e.held != nil && e.held.found == found.Key() {
		changed = e.held.from
	}
	e.held = nil
	if found.IsGood() {
		ev.Again = e.failures > 0
		e.again = e.again || e.rules.Load() == nil && found.BreaksOff() && !resp.Whole // it may be being written
		e.good, e.failures = goodCopy{Content: found, at: now, file: resp.File}, 0
	} else {
		if e.last == judge.Loaded || e.last == judge.Missing || e.last == judge.NotRobots || !e.tried {
			e.failing = now.Add(-ev.Took)
		}
		if e.failures++; found.Outcome != judge.Failed {
			e.failures = 0
		}
	}
	inForce = e.inForce(&p.cfg, found, now)
	ev.Changed = !e.tried || e.last != found.Outcome || ev.Outcome == judge.Loaded
	e.last, e.tried, e.err = found.Outcome, true, ev.Err
	return inForce, changed, now.Add(e.pause(p.cfg.Refresh, inForce.Outcome))
}

// inForce returns what is in force after a fetch that found an answer. The caller holds
// e.mu.
func (e *entry) inForce(cfg *Config, found judge.Content, now time.Time) judge.Content {
	keep := keepFailed
	switch found.Outcome {
	case judge.Failed:
		if cfg.DenyFailed {
			found.DenyAll = true
			return found
		}
	case judge.Forbidden, judge.Redirected:
		keep = keepRefused
	}
	if e.good.at.IsZero() || now.Sub(e.good.at) > keep {
		return found
	}
	return e.good.Content
}

// pause returns the time until the next fetch: Config.Refresh, or 1, 2, 4 …
// seconds, up to Config.Refresh, while the source fails and there is no cached
// copy. The caller holds e.mu.
func (e *entry) pause(refresh time.Duration, state judge.Outcome) time.Duration {
	if state != judge.Failed {
		return refresh
	}
	return min(refresh, time.Second<<min(e.failures-1, 20))
}

// callSource is the source's Fetch. It returns a panic as an error: a source may run
// HTTP handlers, and these may panic to abort a response.
func callSource(ctx context.Context, source Source, origin judge.Origin) (resp judge.Response, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the source panicked: %v", r)
		}
	}()
	return source.Fetch(ctx, origin)
}
