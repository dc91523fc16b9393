package enforce

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
)

// rulesAfterFetch starts a read if one is due, waits for it, and returns the
// policy.
func (p *originsTest) rulesAfterFetch(o Origin) *Rules {
	p.Peek(p.request(o))
	p.Settle()
	return p.Peek(p.request(o))
}

// If the first read fails, the next ones follow after 1, 2, 4 … seconds, up to
// Config.Refresh.
func TestRetriesOfTheFirstRead(t *testing.T) {
	p := newOriginsTest(t, Config{Refresh: 10 * time.Second})
	p.source.set(503, "")
	p.rulesAfterFetch(home)
	reads := p.source.count(home)
	for _, pause := range []time.Duration{1, 2, 4, 8, 10, 10} {
		p.clock.advance(pause*time.Second - time.Millisecond)
		if p.rulesAfterFetch(home); p.source.count(home) != reads {
			t.Fatalf("read %d came before a pause of %ds", reads+1, pause)
		}
		p.clock.advance(time.Millisecond)
		if p.rulesAfterFetch(home); p.source.count(home) != reads+1 {
			t.Fatalf("read %d did not come after a pause of %ds", reads+1, pause)
		}
		reads++
	}
	p.source.set(200, "User-agent: *\nDisallow: /private/\n")
	p.clock.advance(10 * time.Second)
	if rules := p.rulesAfterFetch(home); allows(rules, "/private/x") {
		t.Error("the file is not in force once it can be read")
	}
}

// After the clock is set back by hours, policies are still read again.
func TestReadsAfterTheClockIsSetBack(t *testing.T) {
	p := newOriginsTest(t, Config{Refresh: time.Minute})
	p.rulesAfterFetch(home)
	p.source.set(200, "User-agent: *\nDisallow: /other/\n")
	p.clock.advance(-3 * time.Hour)
	if rules := p.rulesAfterFetch(home); allows(rules, "/other/x") {
		t.Error("the file was not read again")
	}
	reads := p.source.count(home)
	if p.rulesAfterFetch(home); p.source.count(home) != reads {
		t.Error("the file is read at each request")
	}
}

// Many invented hosts evict no other host, and the number of origins is
// limited.
func TestInventedHostsEvictNoRealSite(t *testing.T) {
	p := newOriginsTest(t, Config{MaxOrigins: 50})
	for i := range 20 {
		p.rulesAfterFetch(Origin{Scheme: "http", Host: fmt.Sprintf("real%d.test", i)})
	}
	for i := range 1000 {
		r := p.request(Origin{Scheme: "http", Host: fmt.Sprintf("made-up%d.test", i)})
		r.Invented = true
		p.Peek(r)
		p.clock.advance(time.Millisecond)
	}
	p.Settle()
	for i := range 20 {
		o := Origin{Scheme: "http", Host: fmt.Sprintf("real%d.test", i)}
		if e := p.table.find(o); e == nil || e.rules.Load() == nil {
			t.Errorf("%v was evicted", o)
		}
	}
	if n := p.Len(); n > 50 {
		t.Errorf("%d origins are held, want at most 50", n)
	}
}

// If too many requests wait already, Wait returns at once.
func TestNumberOfWaitingRequestsIsLimited(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.source.block = make(chan struct{})
	defer close(p.source.block)
	p.Peek(p.request(home))
	p.waiting.Store(maxWaiting)
	if got := p.Wait(context.Background(), p.request(home)); got != nil {
		t.Errorf("%v", got)
	}
}

// Requests that wait for one host leave places for those of others.
func TestWaitingForOneHostLeavesRoomForOthers(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.source.block = make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	var waiting sync.WaitGroup
	for range maxWaiting + 100 {
		waiting.Go(func() { p.Wait(ctx, p.request(home)) })
	}
	for p.waiting.Load() < maxWaiting/2 {
		runtime.Gosched()
	}
	other := NewOrigin("https", "other.example", 443)
	got := make(chan *Rules)
	go func() { got <- p.Wait(context.Background(), p.request(other)) }()
	for p.find(p.request(other)).waiting.Load() == 0 {
		select {
		case <-got:
			t.Fatal("the request for the other host does not wait")
		default:
			runtime.Gosched()
		}
	}
	close(p.source.block)
	if <-got == nil {
		t.Error("the request for the other host did not wait for its rules")
	}
	cancel()
	waiting.Wait()
}
