package enforce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

type originsTest struct {
	*Origins
	source *fakeSource
	clock  *clock
	seen   recorder[FetchEvent]
}

func newOriginsTest(t *testing.T, cfg Config) *originsTest {
	t.Helper()
	p := &originsTest{source: new(fakeSource), clock: newClock(), seen: newRecorder[FetchEvent]()}
	p.source.set(200, "User-agent: *\nDisallow: /private/\n")
	cfg.Now, cfg.Fetched = p.clock.now, p.seen.record
	rules, err := Settings{}.compile()
	if err != nil {
		t.Fatal(err)
	}
	p.Origins = newOrigins(p.source, rules, cfg)
	t.Cleanup(func() {
		p.close()
		p.Settle()
	})
	return p
}

// request returns a request to an origin.
func (p *originsTest) request(o Origin) *Request { return &Request{Origin: o, Time: p.clock.now()} }

// get returns the policy as for a request of a crawler.
func (p *originsTest) get(o Origin) *Rules {
	p.Peek(p.request(o))
	return p.Wait(context.Background(), p.request(o))
}

// peek calls Peek, as for a request of a person, and waits for the read that it
// starts.
func (p *originsTest) peek(t *testing.T, o Origin) FetchEvent {
	t.Helper()
	p.Peek(p.request(o))
	e := p.seen.next(t)
	p.Settle()
	return e
}

func allows(p *Rules, target string) bool { return p.File().Star().Match(target).Allowed }

func TestWaitForTheFirstRead(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.source.block = make(chan struct{})
	if got := p.Peek(p.request(home)); got != nil {
		t.Fatalf("Peek = %v before the first read", got)
	}
	got := make(chan *Rules)
	go func() { got <- p.get(home) }()
	select {
	case <-got:
		t.Fatal("Wait did not wait")
	case <-time.After(20 * time.Millisecond):
	}
	close(p.source.block)
	if rules := <-got; rules == nil || allows(rules, "/private/x") {
		t.Fatal("Wait did not return the rules")
	}
	if n := p.source.count(home); n != 1 {
		t.Errorf("%d reads for one origin, want 1", n)
	}
}

func TestWaitEnds(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.source.block = make(chan struct{})
	defer close(p.source.block)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p.Peek(p.request(home))
	if got := p.Wait(ctx, p.request(home)); got != nil {
		t.Errorf("Wait = %v after ctx ended", got)
	}
	p.clock.advance(firstWait)
	if got := p.get(home); got != nil { // returns at once
		t.Errorf("Wait = %v after the deadline", got)
	}
}

func TestRefreshInTheBackground(t *testing.T) {
	p := newOriginsTest(t, Config{Refresh: time.Minute})
	p.get(home)
	p.seen.next(t)
	p.source.set(200, "User-agent: *\nDisallow: /other/\n")
	p.clock.advance(59 * time.Second)
	p.Peek(p.request(home))
	if n := p.source.count(home); n != 1 {
		t.Fatalf("%d reads before the refresh is due, want 1", n)
	}
	p.clock.advance(time.Second)
	e := p.peek(t, home)
	if e.Outcome != Loaded || !e.Changed {
		t.Fatalf("second read: %v, changed %v", e.Outcome, e.Changed)
	}
	if rules := p.Peek(p.request(home)); !allows(rules, "/private/x") || allows(rules, "/other/x") {
		t.Error("the new file is not in force")
	}
	p.clock.advance(time.Minute)
	if e := p.peek(t, home); e.Outcome != Unchanged || e.Changed {
		t.Errorf("third read: %v, changed %v; want unchanged", e.Outcome, e.Changed)
	}
}

func TestCrawlersWaitForTheRulesThatAreDue(t *testing.T) {
	for _, overdue := range []time.Duration{0, time.Minute, maxStale + time.Minute} {
		p := newOriginsTest(t, Config{Refresh: time.Minute})
		p.get(home)
		p.source.set(200, "User-agent: *\nDisallow: /other/\n")
		p.clock.advance(time.Minute + overdue)
		if rules := p.get(home); allows(rules, "/other/x") {
			t.Errorf("%v overdue: the earlier file is in force", overdue)
		}
	}
}

// RFC 9309, section 2.3.1, except that the cached copy stays in force in place
// of a complete disallow.
func TestRulesByAnswerOfTheSource(t *testing.T) {
	broken := errors.New("no answer")
	for _, tt := range []struct {
		name    string
		resp    Response
		err     error
		outcome Outcome
		state   Outcome
		private bool // whether /private/ is allowed
	}{
		{"the same again", Response{Status: 200, Body: []byte("User-agent: *\nDisallow: /private/\n")}, nil, Unchanged, Loaded, false},
		{"empty", Response{Status: 200}, nil, Loaded, Loaded, true},
		{"203", Response{Status: 203, Body: []byte("User-agent: *\nDisallow: /x\n")}, nil, Loaded, Loaded, true},
		{"404", Response{Status: 404}, nil, Missing, Missing, true},
		{"410", Response{Status: 410}, nil, Missing, Missing, true},
		{"403", Response{Status: 403}, nil, Forbidden, Loaded, false},
		{"401", Response{Status: 401}, nil, Forbidden, Loaded, false},
		{"redirects that are not followed", Response{}, fmt.Errorf("%w: here", ErrRedirects), Failed, Loaded, false},
		{"a web page", Response{Status: 200, Body: []byte("\ufeff \n<!DOCTYPE html><p>Disallow: /x")}, nil, NotRobots, Loaded, false},
		{"JSON", Response{Status: 200, Body: []byte(`{"admin":{"listen":"localhost:2019"}}`)}, nil, NotRobots, Loaded, false},
		{"an error message", Response{Status: 200, Body: []byte("# error\nupstream timed out\n")}, nil, NotRobots, Loaded, false},
		{"only a comment", Response{Status: 200, Body: []byte("# nothing\n")}, nil, Loaded, Loaded, true},
		{"429", Response{Status: 429}, nil, Failed, Loaded, false},
		{"500", Response{Status: 500}, nil, Failed, Loaded, false},
		{"no answer", Response{}, broken, Failed, Loaded, false},
		{"no status", Response{}, nil, Failed, Loaded, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newOriginsTest(t, Config{})
			p.get(home)
			p.seen.next(t)
			p.source.mu.Lock()
			p.source.resp, p.source.err = tt.resp, tt.err
			p.source.resp.Whole = true
			p.source.mu.Unlock()
			p.clock.advance(time.Minute)
			e := p.peek(t, home)
			rules := p.Peek(p.request(home))
			if e.Outcome != tt.outcome || rules.Outcome() != tt.state {
				t.Errorf("outcome %v, state %v; want %v, %v", e.Outcome, rules.Outcome(), tt.outcome, tt.state)
			}
			if got := allows(rules, "/private/x"); got != tt.private {
				t.Errorf("/private/ allowed: %v, want %v", got, tt.private)
			}
			if kept := e.Outcome == Failed || e.Outcome == Forbidden || e.Outcome == NotRobots; kept != e.Kept {
				t.Errorf("kept = %v for %v", e.Kept, e.Outcome)
			}
		})
	}
}

func TestFirstReadFails(t *testing.T) {
	for _, deny := range []bool{false, true} {
		p := newOriginsTest(t, Config{DenyFailed: deny})
		p.source.set(503, "")
		rules := p.get(home)
		if rules.Outcome() != Failed || rules.DeniesAll() != deny {
			t.Errorf("deny %v: state %v, denies all %v", deny, rules.Outcome(), rules.DeniesAll())
		}
		p.seen.next(t)
		p.Settle()
		p.source.set(200, "")
		p.clock.advance(2 * time.Minute)
		p.peek(t, home)
		if rules := p.Peek(p.request(home)); rules.DeniesAll() {
			t.Errorf("deny %v: still denies all after the source is back", deny)
		}
	}
}

func TestSourcePanics(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.source.panics = true
	if e := p.peek(t, home); e.Outcome != Failed || !strings.Contains(e.Err.Error(), "panicked") {
		t.Errorf("outcome %v, %v", e.Outcome, e.Err)
	}
}

func TestOriginsAreLimitedAndShareEqualFiles(t *testing.T) {
	p := newOriginsTest(t, Config{MaxOrigins: 10})
	first := p.get(home)
	for i := range 100 {
		p.clock.advance(2 * time.Second)
		p.Peek(p.request(home)) // stays in use
		if other := p.get(Origin{Scheme: "http", Host: fmt.Sprintf("h%d.example", i)}); other != first {
			t.Fatal("the same file was compiled again for another origin")
		}
	}
	if n := p.Len(); n != 10 {
		t.Errorf("%d origins are held, want 10", n)
	}
	if n := p.source.count(home); n > 5 {
		t.Errorf("the origin in use was evicted: %d reads", n)
	}
}

func TestNumberOfReadsIsLimited(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.source.block = make(chan struct{})
	for i := range 10 * maxFetches {
		p.Peek(p.request(Origin{Scheme: "http", Host: fmt.Sprintf("h%d.example", i)}))
	}
	if n := len(p.first); n != maxFetches {
		t.Errorf("%d reads at once, want %d", n, maxFetches)
	}
	close(p.source.block)
}

func TestSourceForAllOriginsIsReadOnce(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.source.shared = true
	if p.get(home) != p.get(Origin{Scheme: "http", Host: "other.example"}) {
		t.Error("two all of one file")
	}
	if n := p.source.count(Origin{}); n != 1 || p.Len() != 1 {
		t.Errorf("%d reads, %d origins; want 1, 1", n, p.Len())
	}
}

func TestRereadAtMostOncePerSecond(t *testing.T) {
	p := newOriginsTest(t, Config{Refresh: time.Hour})
	p.get(home)
	p.seen.next(t)
	for range 100 {
		p.Refetch(p.request(home))
	}
	if n := p.source.count(home); n != 1 {
		t.Fatalf("%d reads within a second, want 1", n)
	}
	p.clock.advance(minRefetch)
	p.peek(t, home) // the delayed read is due
	p.clock.advance(minRefetch)
	p.Refetch(p.request(home))
	p.seen.next(t)
	if n := p.source.count(home); n != 3 {
		t.Errorf("%d reads, want 3", n)
	}
}

func TestNoReadAfterClose(t *testing.T) {
	p := newOriginsTest(t, Config{})
	p.close()
	if got := p.get(home); got != nil || p.source.count(home) != 0 {
		t.Errorf("Wait = %v after Close, %d reads", got, p.source.count(home))
	}
}

// A file that changes during a read may have been read before the change. So a
// Reread during the read must cause another read.
func TestRereadDuringARead(t *testing.T) {
	for _, slow := range []time.Duration{0, 2 * minRefetch} {
		p := newOriginsTest(t, Config{Refresh: time.Hour})
		block, begun := make(chan struct{}), make(chan struct{})
		p.source.mu.Lock()
		p.source.block, p.source.begun = block, begun
		p.source.mu.Unlock()
		p.Peek(p.request(home))
		<-begun // Fetch already has the old file
		p.source.mu.Lock()
		p.source.block, p.source.begun = nil, nil
		p.source.mu.Unlock()
		p.source.set(200, "User-agent: *\nDisallow: /other/\n")
		p.clock.advance(slow)
		p.Refetch(p.request(home))
		close(block)
		p.seen.next(t)
		p.Settle()

		p.clock.advance(minRefetch)
		p.Peek(p.request(home))
		p.Settle()
		if rules := p.Peek(p.request(home)); allows(rules, "/other/x") {
			t.Errorf("a change during a read of %v is lost until the next refresh", slow)
		}
		if n := p.source.count(home); n != 2 {
			t.Errorf("%d reads, want 2", n)
		}
	}
}

// Lookups find all entries while the table grows.
func TestLookupsWhileTheTableGrows(t *testing.T) {
	const hosts = 2000
	table, first := newOriginTable(), Origin{Host: "first"}
	table.insert(&entry{origin: first})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range hosts {
			table.insert(&entry{origin: Origin{Host: fmt.Sprint(i)}})
		}
	}()
	for n := 0; n <= hosts; n = int(table.n.Load()) {
		if table.find(first) == nil {
			t.Fatalf("not found among %d", n)
		}
	}
	<-done
	for i := range hosts {
		if table.find(Origin{Host: fmt.Sprint(i)}) == nil {
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
