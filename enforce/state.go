package enforce

import (
	"context"
	"iter"
	"sync"
	"time"
)

// State says what is in force for an origin, and whether its source can be
// read.
type State struct {
	Origin   Origin    // the zero Origin where one policy serves all
	Policy   *Policy   // what is in force
	Last     Outcome   // of the last read; Pending before the first one has ended
	Err      error     // why the last read failed; nil if it did not
	Good     time.Time // when the source last answered with a file, or that there is none; zero if it never did
	Began    time.Time // when the last read began; zero before the first one
	Next     time.Time // from this time on, a request causes another read of the source
	Failing  time.Time // when the first of the reads in a row that failed began; zero if the last one did not fail
	Failures int       // how many these are
	Kept     bool      // the policy in force is a good copy of an earlier read
	Invented bool      // the host is one that a client may have made up
	Earlier  []Version // that some crawlers may still follow, newest first
}

// States returns the states of all origins, in no order.
func (p *Policies) States() iter.Seq[State] {
	return func(yield func(State) bool) {
		for e := range p.table.all() {
			if !yield(p.state(e)) {
				return
			}
		}
	}
}

// state returns the state of an entry.
func (p *Policies) state(e *entry) State {
	s := State{Origin: e.origin, Policy: e.policy.Load(), Last: Pending, Invented: e.invented.Load()}
	if s.Policy == nil {
		s.Policy = p.pending
	}
	if at := e.lastRead.Load(); at != 0 {
		s.Began, s.Next = time.Unix(0, at), time.Unix(0, e.nextRead.Load())
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
		s.Kept = s.Policy.state != e.last
	}
	if e.failures > 0 {
		s.Failing = e.failing
	}
	return s
}

// Refresh reads again the sources of the origins for which want returns true,
// and calls told with each result, one call at a time. If a read is already
// under way, another one follows it, because the first may have begun too
// early. Refresh returns when all reads or ctx have ended, and returns how many
// sources were not read by then.
func (p *Policies) Refresh(ctx context.Context, want func(Origin) bool, told func(PolicyRead)) (unread int) {
	var calling sync.Mutex
	var reading sync.WaitGroup
	var left []*entry
	places := make(chan struct{}, maxReads/2) // others are read too meanwhile
	for e := range p.table.all() {
		if want(e.origin) {
			left = append(left, e)
		}
	}
	read := 0
	for _, e := range left {
		places <- struct{}{}
		reading.Go(func() {
			defer func() { <-places }()
			ev, ok := p.refresh(ctx, e)
			calling.Lock()
			defer calling.Unlock()
			if ok {
				read++
				told(ev)
			}
		})
	}
	reading.Wait()
	return len(left) - read
}

// refresh reads one origin again and waits for it.
func (p *Policies) refresh(ctx context.Context, e *entry) (PolicyRead, bool) {
	result := make(chan PolicyRead, 1)
	pause := time.NewTicker(refreshPause)
	defer pause.Stop()
	for ctx.Err() == nil && p.ctx.Err() == nil {
		e.mu.Lock()
		cause, ended, reading := e.cause, e.ended, e.reading.Load()
		e.mu.Unlock()
		if cause == nil && p.source.PerOrigin() {
			return PolicyRead{}, false // never read: nothing is known of where
		}
		if !reading {
			r := &Request{Origin: e.origin, Time: p.cfg.Now(), Caller: again{cause}}
			if p.begin(r, e, func(ev PolicyRead) { result <- ev }) {
				select {
				case ev := <-result:
					return ev, true
				case <-ctx.Done():
				case <-p.ctx.Done():
				}
				return PolicyRead{}, false
			}
			ended = nil // too many others are being read
		}
		select {
		case <-ended:
		case <-pause.C:
		case <-ctx.Done():
		case <-p.ctx.Done():
		}
	}
	return PolicyRead{}, false
}

// refreshPause is how long Refresh waits before it looks for a place again.
const refreshPause = 20 * time.Millisecond

// again is the Caller of a read that no request causes: the cause is that of the
// read before.
type again struct{ cause context.Context }

// Detach implements Caller.
func (a again) Detach() context.Context {
	if a.cause == nil {
		return context.Background()
	}
	return a.cause
}

// Of returns the policy that is in force for an origin, nil if none was read
// yet. Unlike Peek it starts no read.
func (p *Policies) Of(origin Origin) *Policy {
	if e := p.table.find(p.key(origin)); e != nil {
		return e.policy.Load()
	}
	return nil
}

// Unread returns the policy in force for an origin whose robots.txt was never
// read.
func (p *Policies) Unread() *Policy { return p.pending }

// Key returns the origin under which the policy of an origin is held: the zero
// Origin where one policy serves all.
func (p *Policies) Key(origin Origin) Origin { return p.key(origin) }

// PerOrigin reports whether each origin has a policy of its own.
func (p *Policies) PerOrigin() bool { return p.source.PerOrigin() }
