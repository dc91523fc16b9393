package enforce

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// read starts a read of e unless one is under way, or too many are. The read
// does not end with the request that started it.
func (p *Policies) read(r *Request, e *entry) { p.begin(r, e, nil) }

// begin is read, and calls told with what the read comes to, unless told is nil
// or p is closed meanwhile. It reports whether a read was started.
func (p *Policies) begin(r *Request, e *entry, told func(PolicyRead)) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.reading.Load() || p.ctx.Err() != nil {
		return false
	}
	places := p.again
	if e.policy.Load() == nil {
		places = p.first
	}
	select {
	case places <- struct{}{}:
	default:
		return false
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	e.ready, e.again, e.ended = ready, false, ended
	e.lastRead.Store(r.Time.UnixNano())
	e.reading.Store(true)
	detached := r.detach()
	e.cause = detached
	p.running.Add(1)
	go func() {
		defer p.running.Done()
		if p.recall(e) {
			close(ready) // crawlers need not wait for the read
			ready = nil
		}
		ctx, cancel := context.WithTimeout(detached, readTimeout)
		stop := context.AfterFunc(p.ctx, cancel)
		ev, ok := p.readNow(ctx, e)
		if ok && told != nil {
			told(ev)
		}
		stop()
		cancel()
		<-places
		e.mu.Lock()
		e.reading.Store(false)
		if ready != nil {
			close(ready)
		}
		close(ended)
		e.mu.Unlock()
	}()
	return true
}

// recall puts the last good copy of an origin in force that has no policy,
// such as after a reload. It reports whether there is one.
func (p *Policies) recall(e *entry) bool {
	if e.policy.Load() != nil {
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

// readNow reads e's source and puts what it came to in force. It reports
// whether p is still open.
func (p *Policies) readNow(ctx context.Context, e *entry) (PolicyRead, bool) {
	began := p.cfg.Now()
	resp, err := p.fetch(ctx, e.origin)
	if p.ctx.Err() != nil && err != nil {
		return PolicyRead{}, false // closed: nobody is to be told
	}
	now := p.cfg.Now()
	out, err := outcome(resp, err)
	ev := PolicyRead{Origin: e.origin, Outcome: out, Err: err, Took: now.Sub(began)}

	e.mu.Lock()
	current := e.policy.Load()
	if out == Loaded && current != nil && current.state == Loaded && current.apart == resp.Apart && bytes.Equal(resp.Body, current.body) {
		ev.Outcome = Unchanged
	}
	switch out {
	case Loaded, Missing, NotRobots:
		if out != Loaded {
			resp.Body = nil
		} else if ev.Outcome == Unchanged {
			resp.Body = current.body
		}
		e.good, e.failures = goodCopy{content: content{body: resp.Body, state: out, apart: resp.Apart}, at: now}, 0
	case Refused, Failed:
		if e.failures++; e.failures == 1 {
			e.failing = began
		}
	}
	inForce := p.inForce(e, out, now)
	ev.Kept = inForce.state != out
	ev.Changed = !e.tried || e.last != out || ev.Outcome == Loaded
	e.last, e.tried, e.err = out, true, err
	next := now.Add(p.pause(e, inForce.state))
	if e.again {
		next = time.Unix(0, e.lastRead.Load()).Add(minReread)
	}
	ev.Was, e.was = e.was, nil
	good, changed := e.good, e.lastRead.Load()
	e.mu.Unlock()
	if ev.Was == nil && current != nil {
		ev.Was = current.publishedText()
	}
	if ev.Outcome != Unchanged {
		current = p.set(e, inForce, changed)
	}
	p.forgetEnded(e, now.UnixNano())
	if out != Refused && out != Failed {
		good.published = current.publishedText()
		p.cfg.Copies.put(e.origin, good)
	}
	e.nextRead.Store(next.UnixNano())
	ev.Policy = current
	p.cfg.Observer.PolicyRead(ev)
	return ev, true
}

// inForce returns what is in force after a read that came to out. The caller
// holds e.mu.
func (p *Policies) inForce(e *entry, out Outcome, now time.Time) content {
	keep := keepFailed
	switch out {
	case Failed:
		if p.cfg.DenyFailed {
			return content{state: Failed, denyAll: true}
		}
	case Refused:
		keep = keepRefused
	}
	if e.good.at.IsZero() || now.Sub(e.good.at) > keep {
		return content{state: out}
	}
	return e.good.content
}

// pause returns how long to wait until the next read: the operator's refresh,
// but 1, 2, 4 … seconds while the source fails and there is no good copy. The
// caller holds e.mu.
func (p *Policies) pause(e *entry, state Outcome) time.Duration {
	if state != Failed && state != Refused {
		return p.cfg.Refresh
	}
	return min(p.cfg.Refresh, time.Second<<min(e.failures-1, 20))
}

// set puts the policy that a content is in force for e. Clients are given that
// file since a time before: the one at which the read began that found it, for
// a client's own read of /robots.txt begins it. (A client that asks less than a
// second after another read counts as one that was given the version before,
// though it may be this one.) Where another origin has the
// same file they share one policy, so that host names made up by a client cost
// no memory but their own.
func (p *Policies) set(e *entry, c content, changed int64) *Policy {
	p.recallHistory(e)
	key := c.key()
	p.mu.Lock()
	policy := p.shared[key]
	p.mu.Unlock()
	if policy == nil || !bytes.Equal(policy.body, c.body) {
		policy = p.compile(c) // takes long: not under the lock
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other := p.shared[key]; other != nil && bytes.Equal(other.body, c.body) {
		policy = other
	}
	p.put(e, policy, changed)
	for !e.gone && p.cfg.Ceiling.exceeded() && (p.dropVersion() || p.evict(e)) {
	}
	return policy
}

// put replaces e's policy. The caller holds p.mu.
func (p *Policies) put(e *entry, policy *Policy, changed int64) {
	if e.gone {
		return
	}
	if p.published(policy) {
		changed = p.cfg.Now().UnixNano() // clients are given this text from now on
	}
	p.acquire(policy)
	p.note(e, policy, changed) // before the policy, so that it denies no crawler that has a grace
	p.release(e.policy.Swap(policy))
}

// acquire notes that an origin has a policy, now or as an earlier version. The
// caller holds p.mu.
func (p *Policies) acquire(policy *Policy) {
	if policy.users++; policy.users > 1 {
		return
	}
	if key := policy.key(); p.shared[key] == nil {
		p.shared[key] = policy
	}
	p.account(policy.memory())
}

// release notes that an origin does without a policy, which may be nil. The
// caller holds p.mu.
func (p *Policies) release(policy *Policy) {
	if policy == nil {
		return
	}
	if policy.users--; policy.users > 0 {
		return
	}
	if key := policy.key(); p.shared[key] == policy {
		delete(p.shared, key)
	}
	p.account(-policy.memory())
}

// account adds to the memory that is used, unless p has been replaced or
// closed. The caller holds p.mu.
func (p *Policies) account(n int64) {
	if p.used += n; !p.retired {
		p.cfg.Ceiling.add(n)
	}
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
