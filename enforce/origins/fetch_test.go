package origins

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// rulesAfterFetch starts a read if one is due, waits for it, and returns the
// policy.
func (p *originsTest) rulesAfterFetch(o judge.Origin) *judge.Rules {
	p.Peek(p.request(o))
	p.Settle()
	return p.Peek(p.request(o))
}

// If the first read fails, the next ones follow after 1, 2, 4 … seconds, up to
// Config.Refresh.
func TestRetriesOfTheFirstRead(t *testing.T) {
	p := newOriginsTest(t, Config{Refresh: 10 * time.Second})
	p.source.Set(503, "")
	p.rulesAfterFetch(fake.Home)
	reads := p.source.Count(fake.Home)
	for _, pause := range []time.Duration{1, 2, 4, 8, 10, 10} {
		p.clock.Advance(pause*time.Second - time.Millisecond)
		if p.rulesAfterFetch(fake.Home); p.source.Count(fake.Home) != reads {
			t.Fatalf("read %d came before a pause of %ds", reads+1, pause)
		}
		p.clock.Advance(time.Millisecond)
		if p.rulesAfterFetch(fake.Home); p.source.Count(fake.Home) != reads+1 {
			t.Fatalf("read %d did not come after a pause of %ds", reads+1, pause)
		}
		reads++
	}
	p.source.Set(200, "User-agent: *\nDisallow: /private/\n")
	p.clock.Advance(10 * time.Second)
	if rules := p.rulesAfterFetch(fake.Home); allows(rules, "/private/x") {
		t.Error("the file is not in force once it can be read")
	}
}

// After the clock is set back by hours, policies are still read again.
func TestReadsAfterTheClockIsSetBack(t *testing.T) {
	p := newOriginsTest(t, Config{Refresh: time.Minute})
	p.rulesAfterFetch(fake.Home)
	p.source.Set(200, "User-agent: *\nDisallow: /other/\n")
	p.clock.Advance(-3 * time.Hour)
	if rules := p.rulesAfterFetch(fake.Home); allows(rules, "/other/x") {
		t.Error("the file was not read again")
	}
	reads := p.source.Count(fake.Home)
	if p.rulesAfterFetch(fake.Home); p.source.Count(fake.Home) != reads {
		t.Error("the file is read at each request")
	}
}

// Many invented hosts evict no other host, and the number of origins is
// limited.
func TestInventedHostsEvictNoRealSite(t *testing.T) {
	p := newOriginsTest(t, Config{MaxOrigins: 50})
	for i := range 20 {
		p.rulesAfterFetch(judge.Origin{Scheme: "http", Host: fmt.Sprintf("real%d.test", i)})
	}
	for i := range 1000 {
		r := p.request(judge.Origin{Scheme: "http", Host: fmt.Sprintf("made-up%d.test", i)})
		r.Invented = true
		p.Peek(r)
		p.clock.Advance(time.Millisecond)
	}
	p.Settle()
	for i := range 20 {
		o := judge.Origin{Scheme: "http", Host: fmt.Sprintf("real%d.test", i)}
		if e := p.table.find(o); e == nil || e.rules.Load() == nil {
			t.Errorf("%v was evicted", o)
		}
	}
	if n := p.Len(); n > 50 {
		t.Errorf("%d origins are held, want at most 50", n)
	}
}

// An origin that is dropped for others counts, also while its file is being fetched: with
// more hosts than MaxOrigins and a slow site, that is most of them.
func TestEvictionsCount(t *testing.T) {
	evictions := 0
	p := newOriginsTest(t, Config{MaxOrigins: 1, Evicted: func(memory bool) {
		if !memory {
			evictions++
		}
	}})
	p.rulesAfterFetch(judge.Origin{Host: "read.test"})
	p.source.Block = make(chan struct{})
	defer close(p.source.Block)
	for i := range 3 {
		p.Peek(p.request(judge.Origin{Host: fmt.Sprintf("slow%d.test", i)}))
	}
	if evictions != 3 {
		t.Errorf("%d evictions, want 3", evictions)
	}
}

// If too many requests wait already, Wait returns at once.
func TestNumberOfWaitingRequestsIsLimited(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.source.Block = make(chan struct{})
	defer close(p.source.Block)
	p.Peek(p.request(fake.Home))
	p.waiting.Store(maxWaiting)
	if got := p.Wait(context.Background(), p.request(fake.Home)); got != nil {
		t.Errorf("%v", got)
	}
}

// Requests that wait for one host leave places for those of others.
func TestWaitingForOneHostLeavesRoomForOthers(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.source.Block = make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	var waiting sync.WaitGroup
	for range maxWaiting + 100 {
		waiting.Go(func() { p.Wait(ctx, p.request(fake.Home)) })
	}
	for p.waiting.Load() < maxWaiting/2 {
		runtime.Gosched()
	}
	other := judge.NewOrigin("https", "other.example", 443)
	got := make(chan *judge.Rules)
	go func() { got <- p.Wait(context.Background(), p.request(other)) }()
	for p.find(p.request(other)).waiting.Load() == 0 {
		select {
		case <-got:
			t.Fatal("the request for the other host does not wait")
		default:
			runtime.Gosched()
		}
	}
	close(p.source.Block)
	if <-got == nil {
		t.Error("the request for the other host did not wait for its rules")
	}
	cancel()
	waiting.Wait()
}
