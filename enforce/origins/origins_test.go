package origins

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

type originsTest struct {
	*Table
	source *fake.Source
	clock  *fake.Clock
	seen   fake.Recorder[FetchEvent]
}

func newOriginsTest(t *testing.T, cfg Config) *originsTest {
	t.Helper()
	p := &originsTest{source: new(fake.Source), clock: fake.NewClock(), seen: fake.NewRecorder[FetchEvent]()}
	p.source.Set(200, "User-agent: *\nDisallow: /private/\n")
	cfg.Now, cfg.Fetched = p.clock.Now, p.seen.Record
	rules, err := judge.Settings{}.Compile()
	if err != nil {
		t.Fatal(err)
	}
	p.Table = New(p.source, rules, cfg)
	t.Cleanup(func() {
		p.Close()
		p.Settle()
	})
	return p
}

// request returns a request to an origin.
func (p *originsTest) request(o judge.Origin) *judge.Request {
	return &judge.Request{Origin: o, Time: p.clock.Now()}
}

// get returns the policy as for a request of a crawler.
func (p *originsTest) get(o judge.Origin) *judge.Rules {
	p.Peek(p.request(o))
	return p.Wait(context.Background(), p.request(o))
}

// peek calls Peek, as for a request of a person, and waits for the read that it
// starts.
func (p *originsTest) peek(t *testing.T, o judge.Origin) FetchEvent {
	t.Helper()
	p.Peek(p.request(o))
	e := p.seen.Next(t)
	p.Settle()
	return e
}

func allows(p *judge.Rules, target string) bool { return p.File().Star().Match(target).Allowed }

func TestWaitEnds(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.source.Block = make(chan struct{})
	defer close(p.source.Block)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p.Peek(p.request(fake.Home))
	if got := p.Wait(ctx, p.request(fake.Home)); got != nil {
		t.Errorf("Wait = %v after ctx ended", got)
	}
	p.clock.Advance(firstWait)
	if got := p.get(fake.Home); got != nil { // returns at once
		t.Errorf("Wait = %v after the deadline", got)
	}
}

func TestRefreshInTheBackground(t *testing.T) {
	p := newOriginsTest(t, Config{Refresh: time.Minute})
	p.get(fake.Home)
	p.seen.Next(t)
	p.source.Set(200, "User-agent: *\nDisallow: /other/\n")
	p.clock.Advance(59 * time.Second)
	p.Peek(p.request(fake.Home))
	if n := p.source.Count(fake.Home); n != 1 {
		t.Fatalf("%d reads before the refresh is due, want 1", n)
	}
	p.clock.Advance(time.Second)
	e := p.peek(t, fake.Home)
	if e.Outcome != judge.Loaded || !e.Changed {
		t.Fatalf("second read: %v, changed %v", e.Outcome, e.Changed)
	}
	if rules := p.Peek(p.request(fake.Home)); !allows(rules, "/private/x") || allows(rules, "/other/x") {
		t.Error("the new file is not in force")
	}
	p.clock.Advance(time.Minute)
	if e := p.peek(t, fake.Home); e.Outcome != judge.Unchanged || e.Changed {
		t.Errorf("third read: %v, changed %v; want unchanged", e.Outcome, e.Changed)
	}
}

func TestCrawlersWaitForTheRulesThatAreDue(t *testing.T) {
	for _, overdue := range []time.Duration{0, time.Minute, maxStale + time.Minute} {
		p := newOriginsTest(t, Config{Refresh: time.Minute})
		p.get(fake.Home)
		p.source.Set(200, "User-agent: *\nDisallow: /other/\n")
		p.clock.Advance(time.Minute + overdue)
		if rules := p.get(fake.Home); allows(rules, "/other/x") {
			t.Errorf("%v overdue: the earlier file is in force", overdue)
		}
	}
}

func TestFirstReadFails(t *testing.T) {
	for _, deny := range []bool{false, true} {
		p := newOriginsTest(t, Config{DenyFailed: deny})
		p.source.Set(503, "")
		rules := p.get(fake.Home)
		if rules.Outcome() != judge.Failed || rules.DeniesAll() != deny {
			t.Errorf("deny %v: state %v, denies all %v", deny, rules.Outcome(), rules.DeniesAll())
		}
		p.seen.Next(t)
		p.Settle()
		p.source.Set(200, "")
		p.clock.Advance(2 * time.Minute)
		p.peek(t, fake.Home)
		if rules := p.Peek(p.request(fake.Home)); rules.DeniesAll() {
			t.Errorf("deny %v: still denies all after the source is back", deny)
		}
	}
}

func TestSourcePanics(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.source.Panics = true
	if e := p.peek(t, fake.Home); e.Outcome != judge.Failed || !strings.Contains(e.Err.Error(), "panicked") {
		t.Errorf("outcome %v, %v", e.Outcome, e.Err)
	}
}

func TestOriginsAreLimitedAndShareEqualFiles(t *testing.T) {
	p := newOriginsTest(t, Config{MaxOrigins: 10})
	first := p.get(fake.Home)
	for i := range 100 {
		p.clock.Advance(2 * time.Second)
		p.Peek(p.request(fake.Home)) // stays in use
		if other := p.get(judge.Origin{Scheme: "http", Host: fmt.Sprintf("h%d.example", i)}); other != first {
			t.Fatal("the same file was compiled again for another origin")
		}
	}
	if n := p.Len(); n != 10 {
		t.Errorf("%d origins are held, want 10", n)
	}
	if n := p.source.Count(fake.Home); n > 5 {
		t.Errorf("the origin in use was evicted: %d reads", n)
	}
}

func TestNumberOfReadsIsLimited(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.source.Block = make(chan struct{})
	for i := range 10 * maxFetches {
		p.Peek(p.request(judge.Origin{Scheme: "http", Host: fmt.Sprintf("h%d.example", i)}))
	}
	if n := len(p.first); n != maxFetches {
		t.Errorf("%d reads at once, want %d", n, maxFetches)
	}
	close(p.source.Block)
}

func TestRereadAtMostOncePerSecond(t *testing.T) {
	p := newOriginsTest(t, Config{Refresh: time.Hour})
	p.get(fake.Home)
	p.seen.Next(t)
	for range 100 {
		p.Refetch(p.request(fake.Home))
	}
	if n := p.source.Count(fake.Home); n != 1 {
		t.Fatalf("%d reads within a second, want 1", n)
	}
	p.clock.Advance(minRefetch)
	p.peek(t, fake.Home) // the delayed read is due
	p.clock.Advance(minRefetch)
	p.Refetch(p.request(fake.Home))
	p.seen.Next(t)
	if n := p.source.Count(fake.Home); n != 3 {
		t.Errorf("%d reads, want 3", n)
	}
}

func TestNoReadAfterClose(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.Close()
	if got := p.get(fake.Home); got != nil || p.source.Count(fake.Home) != 0 {
		t.Errorf("Wait = %v after Close, %d reads", got, p.source.Count(fake.Home))
	}
}

// A file that changes during a read may have been read before the change. So a
// Reread during the read must cause another read.
func TestRereadDuringARead(t *testing.T) {
	for _, slow := range []time.Duration{0, 2 * minRefetch} {
		p := newOriginsTest(t, Config{Refresh: time.Hour})
		block, begun := make(chan struct{}), make(chan struct{})
		p.source.Mu.Lock()
		p.source.Block, p.source.Begun = block, begun
		p.source.Mu.Unlock()
		p.Peek(p.request(fake.Home))
		<-begun // Fetch already has the old file
		p.source.Mu.Lock()
		p.source.Block, p.source.Begun = nil, nil
		p.source.Mu.Unlock()
		p.source.Set(200, "User-agent: *\nDisallow: /other/\n")
		p.clock.Advance(slow)
		p.Refetch(p.request(fake.Home))
		close(block)
		p.seen.Next(t)
		p.Settle()

		p.clock.Advance(minRefetch)
		p.Peek(p.request(fake.Home))
		p.Settle()
		if rules := p.Peek(p.request(fake.Home)); allows(rules, "/other/x") {
			t.Errorf("a change during a read of %v is lost until the next refresh", slow)
		}
		if n := p.source.Count(fake.Home); n != 2 {
			t.Errorf("%d reads, want 2", n)
		}
	}
}

// Lookups find all entries while the table grows.
func TestLookupsWhileTheTableGrows(t *testing.T) {
	const hosts = 2000
	table, first := newOriginTable(), judge.Origin{Host: "first"}
	table.insert(&entry{origin: first})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range hosts {
			table.insert(&entry{origin: judge.Origin{Host: fmt.Sprint(i)}})
		}
	}()
	for n := 0; n <= hosts; n = int(table.n.Load()) {
		if table.find(first) == nil {
			t.Fatalf("not found among %d", n)
		}
	}
	<-done
	for i := range hosts {
		if table.find(judge.Origin{Host: fmt.Sprint(i)}) == nil {
			t.Errorf("%d is not found", i)
		}
	}
	for range 2 {
		table.remove(table.find(first))
		if n := len(slices.Collect(table.all())); n != hosts || table.find(first) != nil {
			t.Errorf("%d entries after the first was removed", n)
		}
		table.insert(&entry{origin: first})
	}
}
