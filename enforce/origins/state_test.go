package origins

import (
	"context"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// stateOf returns the state of an origin.
func (p *originsTest) stateOf(t *testing.T, o judge.Origin) State {
	t.Helper()
	for s := range p.States(nil) {
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
	p.rulesAfterFetch(fake.Home)
	read := p.clock.Now()
	if s := p.stateOf(t, fake.Home); s.Last != judge.Loaded || s.Kept || s.Failures != 0 || !s.Failing.IsZero() || s.Err != nil || !s.Good.Equal(read) {
		t.Errorf("a good file: %+v", s)
	}
	p.source.Set(503, "")
	p.clock.Advance(time.Minute)
	p.rulesAfterFetch(fake.Home)
	failed := p.clock.Now()
	p.clock.Advance(time.Minute)
	p.rulesAfterFetch(fake.Home)
	s := p.stateOf(t, fake.Home)
	if s.Last != judge.Failed || !s.Kept || s.Failures != 2 || !s.Failing.Equal(failed) || s.Err == nil || !s.Good.Equal(read) || s.Rules.Outcome() != judge.Loaded {
		t.Errorf("a source that fails: %+v", s)
	}
	p.source.Set(404, "")
	p.clock.Advance(time.Minute)
	p.rulesAfterFetch(fake.Home)
	if s := p.stateOf(t, fake.Home); s.Last != judge.Missing || s.Kept || s.Failures != 0 || !s.Failing.IsZero() {
		t.Errorf("a file that is gone: %+v", s)
	}
}

// Refresh reads the selected origins even if no read is due, and waits for the
// reads.
func TestRefreshReadsSelectedOrigins(t *testing.T) {
	p := newOriginsTest(t, Config{Refresh: time.Hour})
	other := judge.NewOrigin("https", "other.test", 443)
	p.rulesAfterFetch(fake.Home)
	p.rulesAfterFetch(other)
	p.source.Set(200, "User-agent: *\nDisallow: /other/\n")
	var reads []FetchEvent
	unread := p.Refresh(context.Background(), func(o judge.Origin) bool { return o == fake.Home }, func(e FetchEvent) { reads = append(reads, e) })
	if unread != 0 || len(reads) != 1 || reads[0].Origin != fake.Home || reads[0].Outcome != judge.Loaded {
		t.Errorf("%d unread, reads %+v", unread, reads)
	}
	if allows(p.RulesOf(fake.Home), "/other/x") || !allows(p.RulesOf(other), "/other/x") {
		t.Error("the wrong file was read")
	}
}

// Refresh returns when its context ends, with the number of sources that it has
// not read.
func TestRefreshEndsWithItsContext(t *testing.T) {
	p := newOriginsTest(t, Config{Refresh: time.Hour})
	p.rulesAfterFetch(fake.Home)
	p.source.Block = make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan int)
	go func() {
		done <- p.Refresh(ctx, func(judge.Origin) bool { return true }, func(FetchEvent) { t.Error("Refresh reports a read that has not ended") })
	}()
	cancel()
	if unread := <-done; unread != 1 {
		t.Errorf("%d unread, want 1", unread)
	}
	close(p.source.Block)
	p.Settle()
}
