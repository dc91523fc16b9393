package enforce

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// read starts a read of e, unless one is under way or too many others are. The
// read goes on when the request that started it ends.
func (p *Origins) startFetch(r *Request, e *entry) { p.beginFetch(r, e, nil) }

// begin is like read, and calls report with the result, unless report is nil or
// p is closed meanwhile. It reports whether it started a read.
func (p *Origins) beginFetch(r *Request, e *entry, report func(FetchEvent)) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fetching.Load() || p.ctx.Err() != nil {
		return false
	}
	slots := p.again
	if e.rules.Load() == nil {
		slots = p.first
	}
	select {
	case slots <- struct{}{}:
	default:
		return false
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	e.ready, e.again, e.ended = ready, false, ended
	e.lastFetch.Store(r.Time.UnixNano())
	e.fetching.Store(true)
	detached := r.detach()
	e.cause = detached
	p.running.Add(1)
	go func() {
		defer p.running.Done()
		if p.restoreCopy(e) {
			close(ready) // crawlers don't have to wait for the read
			ready = nil
		}
		ctx, cancel := context.WithTimeout(detached, fetchTimeout)
		stop := context.AfterFunc(p.ctx, cancel)
		ev, ok := p.fetchNow(ctx, e)
		if ok && report != nil {
			report(ev)
		}
		stop()
		cancel()
		<-slots
		e.mu.Lock()
		e.fetching.Store(false)
		if ready != nil {
			close(ready)
		}
		close(ended)
		p.planRetry(e)
		e.mu.Unlock()
	}()
	return true
}

// restoreCopy puts the cached copy in force if e has no policy, for instance
// after a reload. It reports whether it did.
func (p *Origins) restoreCopy(e *entry) bool {
	if e.rules.Load() != nil {
		return false
	}
	c, ok := p.cfg.Copies.get(e.origin)
	if !ok || p.cfg.Now().Sub(c.at) > keepFailed {
		return false
	}
	e.mu.Lock()
	e.good, e.was = c, c.published
	e.mu.Unlock()
	p.set(e, c.content, p.cfg.Now().UnixNano())
	return true
}

// readNow reads e's source and puts the result in force. It returns false if p
// was closed meanwhile.
func (p *Origins) fetchNow(ctx context.Context, e *entry) (FetchEvent, bool) {
	began := p.cfg.Now()
	resp, err := p.callSource(ctx, e.origin)
	if p.ctx.Err() != nil && err != nil {
		return FetchEvent{}, false // closed: there is no result to report
	}
	now := p.cfg.Now()
	out, err := outcome(resp, err)
	ev := FetchEvent{Origin: e.origin, Outcome: out, Err: err, Took: now.Sub(began)}

	e.mu.Lock()
	current := e.rules.Load()
	if out == Loaded && current != nil && current.state == Loaded && current.apart == resp.Apart && bytes.Equal(resp.Body, current.body) {
		ev.Outcome = Unchanged
	}
	switch out {
	case Loaded, Missing, NotRobots:
		good := without(out, resp.Status)
		if good.apart = resp.Apart; ev.Outcome == Unchanged {
			good.body = current.body
		} else if out == Loaded {
			good.body = resp.Body
		}
		ev.Again = e.failures > 0
		e.good, e.failures = goodCopy{content: good, at: now}, 0
	case Forbidden, Failed:
		if e.failures++; e.failures == 1 {
			e.failing = began
		}
	}
	inForce := p.inForce(e, out, resp.Status, now)
	ev.Kept = inForce.state != out
	ev.Changed = !e.tried || e.last != out || ev.Outcome == Loaded
	e.last, e.tried, e.err = out, true, err
	next := now.Add(p.pause(e, inForce.state))
	if e.again {
		next = time.Unix(0, e.lastFetch.Load()).Add(minRefetch)
	}
	ev.Was, e.was = e.was, nil
	good, changed := e.good, e.lastFetch.Load()
	e.mu.Unlock()
	if ev.Was == nil && current != nil {
		ev.Was = current.publishedText()
	}
	if ev.Outcome != Unchanged {
		current = p.set(e, inForce, changed)
	}
	p.forgetEnded(e, now.UnixNano())
	if out != Forbidden && out != Failed {
		good.published = current.publishedText()
		p.cfg.Copies.put(e.origin, good)
	}
	e.nextFetch.Store(next.UnixNano())
	ev.Rules = current
	p.cfg.Fetched(ev)
	return ev, true
}

// inForce returns what is in force after a read with the outcome out and an
// HTTP status code. The caller holds e.mu.
func (p *Origins) inForce(e *entry, out Outcome, status int, now time.Time) content {
	keep := keepFailed
	switch out {
	case Failed:
		if p.cfg.DenyFailed {
			return content{state: Failed, denyAll: true}
		}
	case Forbidden:
		keep = keepRefused
	}
	if e.good.at.IsZero() || now.Sub(e.good.at) > keep {
		return without(out, status)
	}
	return e.good.content
}

// pause returns the time until the next read: Config.Refresh, or 1, 2, 4 …
// seconds, up to Config.Refresh, while the source fails and there is no cached
// copy. The caller holds e.mu.
func (p *Origins) pause(e *entry, state Outcome) time.Duration {
	if state != Failed && state != Forbidden {
		return p.cfg.Refresh
	}
	return min(p.cfg.Refresh, time.Second<<min(e.failures-1, 20))
}

// set compiles a content and puts it in force for e. Origins with the same file
// share one policy, so that hosts that clients invent need no memory for
// policies.
//
// changed is the time from which clients received the file: the start of the
// read that found it, because a client that fetches /robots.txt starts a read.
// (A client that fetches the file less than a second after another read counts
// as having received the previous version, although it may have received this
// one.)
func (p *Origins) set(e *entry, c content, changed int64) *Rules {
	p.joinHistory(e)
	key := c.key()
	p.mu.Lock()
	rules := p.shared[key]
	p.mu.Unlock()
	if rules == nil || !bytes.Equal(rules.body, c.body) {
		rules = p.compile(c) // takes long, so not while p.mu is held
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.shared[key]; other != nil && bytes.Equal(other.body, c.body) {
		rules = other
	}
	p.put(e, rules, changed)
	for !e.gone && p.cfg.Ceiling.exceeded() && (p.dropVersion() || p.evict(e)) {
	}
	return rules
}

// put replaces e's policy. The caller holds p.mu.
func (p *Origins) put(e *entry, rules *Rules, changed int64) {
	if e.gone {
		return
	}
	if p.published(rules) {
		changed = p.cfg.Now().UnixNano() // clients receive this text from now on
	}
	p.acquire(rules)
	p.note(e, rules, changed) // before the swap, so that the new policy denies nothing to a crawler that has a grace period
	p.release(e.rules.Swap(rules))
}

// acquire counts one more use of a policy by an origin, in force or as an
// earlier version. The caller holds p.mu.
func (p *Origins) acquire(rules *Rules) {
	if rules.users++; rules.users > 1 {
		return
	}
	if key := rules.key(); p.shared[key] == nil {
		p.shared[key] = rules
	}
	p.account(rules.memory())
}

// release is the opposite of acquire. policy may be nil. The caller holds p.mu.
func (p *Origins) release(rules *Rules) {
	if rules == nil {
		return
	}
	if rules.users--; rules.users > 0 {
		return
	}
	if key := rules.key(); p.shared[key] == rules {
		delete(p.shared, key)
	}
	p.account(-rules.memory())
}

// account adds n octets to the memory of p's policies, and to the Ceiling
// unless p was replaced or closed. The caller holds p.mu.
func (p *Origins) account(n int64) {
	if p.used += n; !p.retired {
		p.cfg.Ceiling.add(n)
	}
}

// fetch is the source's Fetch. It returns a panic as an error: a source may run
// HTTP handlers, and these may panic to abort a response.
func (p *Origins) callSource(ctx context.Context, origin Origin) (resp Response, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the source panicked: %v", r)
		}
	}()
	return p.source.Fetch(ctx, origin)
}
