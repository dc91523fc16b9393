package enforce

import (
	"context"
	"testing"
	"time"
)

// stateOf returns the state of an origin.
func (p *originsTest) stateOf(t *testing.T, o Origin) State {
	t.Helper()
	for s := range p.States() {
		if s.Origin == o {
			return s
		}
	}
	t.Fatalf("there is no %v", o)
	return State{}
}

// The state of a failing source has the start of the failure and the policy in
// force.
func TestStateOfAFailingSource(t *testing.T) {
	p := newOriginsTest(t, Config{Refresh: time.Minute})
	p.rulesAfterFetch(home)
	read := p.clock.now()
	if s := p.stateOf(t, home); s.Last != Loaded || s.Kept || s.Failures != 0 || !s.Failing.IsZero() || s.Err != nil || !s.Good.Equal(read) {
		t.Errorf("a good file: %+v", s)
	}
	p.source.set(503, "")
	p.clock.advance(time.Minute)
	p.rulesAfterFetch(home)
	failed := p.clock.now()
	p.clock.advance(time.Minute)
	p.rulesAfterFetch(home)
	s := p.stateOf(t, home)
	if s.Last != Failed || !s.Kept || s.Failures != 2 || !s.Failing.Equal(failed) || s.Err == nil || !s.Good.Equal(read) || s.Rules.Outcome() != Loaded {
		t.Errorf("a source that fails: %+v", s)
	}
	p.source.set(404, "")
	p.clock.advance(time.Minute)
	p.rulesAfterFetch(home)
	if s := p.stateOf(t, home); s.Last != Missing || s.Kept || s.Failures != 0 || !s.Failing.IsZero() {
		t.Errorf("a file that is gone: %+v", s)
	}
}

// Refresh reads the selected origins even if no read is due, and waits for the
// reads.
func TestRefreshReadsSelectedOrigins(t *testing.T) {
	p := newOriginsTest(t, Config{Refresh: time.Hour})
	other := NewOrigin("https", "other.test", 443)
	p.rulesAfterFetch(home)
	p.rulesAfterFetch(other)
	p.source.set(200, "User-agent: *\nDisallow: /other/\n")
	var reads []FetchEvent
	unread := p.Refresh(context.Background(), func(o Origin) bool { return o == home }, func(e FetchEvent) { reads = append(reads, e) })
	if unread != 0 || len(reads) != 1 || reads[0].Origin != home || reads[0].Outcome != Loaded {
		t.Errorf("%d unread, reads %+v", unread, reads)
	}
	if allows(p.of(home), "/other/x") || !allows(p.of(other), "/other/x") {
		t.Error("the wrong file was read")
	}
}

// Refresh returns when its context ends, with the number of sources that it has
// not read.
func TestRefreshEndsWithItsContext(t *testing.T) {
	p := newOriginsTest(t, Config{Refresh: time.Hour})
	p.rulesAfterFetch(home)
	p.source.block = make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int)
	go func() {
		done <- p.Refresh(ctx, func(Origin) bool { return true }, func(FetchEvent) { t.Error("Refresh reports a read that has not ended") })
	}()
	cancel()
	if unread := <-done; unread != 1 {
		t.Errorf("%d unread, want 1", unread)
	}
	close(p.source.block)
	p.Settle()
}
