package enforce

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// The registry can be replaced while requests are under way: budgets, policies
// and copies stay.
func TestWithAnotherRegistry(t *testing.T) {
	source := &fake.Source{}
	source.Set(200, "User-agent: *\nDisallow: /private/\nCrawl-delay: 1000\n")
	limiter := throttle.NewMemory(100)
	before, err := NewEngine(judge.Settings{}, source, limiter, nil, origins.Config{})
	if err != nil {
		t.Fatal(err)
	}
	origin, other := judge.NewOrigin("https", "a.example", 443), judge.NewOrigin("https", "b.example", 443)
	now := time.Now()
	decide := func(e *Engine, o judge.Origin, ua, target string, want judge.Reason) {
		t.Helper()
		var d judge.Decision
		e.Decide(context.Background(), &judge.Request{Target: target, UserAgents: []string{ua}, Origin: o, Time: now}, &d)
		if d.Reason != want {
			t.Errorf("%s for %s: %v, want %v", target, ua, d.Reason, want)
		}
		if d.Agent.Crawler != nil && e.Registry().At(d.Agent.Crawler.Index()) != d.Agent.Crawler {
			t.Errorf("%s is of another registry than the engine's", ua)
		}
	}
	const thing = "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/130.0 OneThing/1.0"
	decide(before, other, "bingbot", "/private/", judge.Disallowed)
	decide(before, origin, "bingbot", "/private/", judge.Disallowed)
	decide(before, origin, "bingbot", "/", judge.Allowed)
	decide(before, origin, thing, "/private/", judge.Person)

	// From here on, the source fails.
	source.Mu.Lock()
	source.Err = errors.New("gone")
	source.Mu.Unlock()
	registry, err := before.Registry().With(crawler.Crawler{Name: "OneThing", UserAgents: []string{"OneThing"}, Class: crawler.Registered, Robots: []string{"OneThing"}})
	if err != nil {
		t.Fatal(err)
	}
	reads := fake.NewRecorder[origins.FetchEvent]()
	after, err := before.With(func(s *judge.Settings) { s.Registry = registry }, reads.Record)
	if err != nil {
		t.Fatal(err)
	}
	if n := after.Origins().Len(); n != 2 {
		t.Errorf("%d origins are held, want 2", n)
	}
	decide(after, origin, thing, "/private/", judge.Disallowed)
	decide(after, origin, "bingbot", "/private/", judge.Disallowed)
	decide(after, origin, "bingbot", "/", judge.CrawlDelay) // its budget stays
	decide(before, origin, "bingbot", "/", judge.CrawlDelay)
	if source.Count(origin) != 1 {
		t.Errorf("%d reads of the source, want 1", source.Count(origin))
	}
	all := make(map[*judge.Rules]bool)
	after.Origins().All(func(_ judge.Origin, p *judge.Rules) { all[p] = true })
	if len(all) != 1 {
		t.Errorf("origins with the same file have %d all", len(all))
	}

	// A read that is due goes to the new observer.
	now = now.Add(time.Hour)
	after.Origins().Peek(&judge.Request{Origin: origin, Time: now})
	if e := reads.Next(t); e.Outcome != judge.Failed || e.Rules.Outcome() == judge.Failed {
		t.Errorf("a failing source: %+v", e)
	}
	decide(after, origin, thing, "/private/", judge.Disallowed)
	if err := after.Close(); err != nil {
		t.Error(err)
	}
	before.origins.Settle()
	after.origins.Settle()
	n := source.Count(origin)
	before.Origins().Refetch(&judge.Request{Origin: origin, Time: now.Add(time.Hour)})
	before.origins.Settle()
	if source.Count(origin) != n {
		t.Error("closing one engine left the other open")
	}
}

// The result of a read that is under way goes only to the engine that began it.
// The new engine starts its own read.
func TestWithDuringARead(t *testing.T) {
	source := &fake.Source{Shared: true, Block: make(chan struct{})}
	source.Set(200, "User-agent: *\nDisallow: /\n")
	limiter := throttle.NewMemory(100)
	before, err := NewEngine(judge.Settings{}, source, limiter, nil, origins.Config{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	before.Origins().Peek(&judge.Request{Time: now})
	after, err := before.With(func(s *judge.Settings) { s.Registry = crawler.Builtin() }, nil)
	if err != nil {
		t.Fatal(err)
	}
	after.Origins().Peek(&judge.Request{Time: now})
	close(source.Block)
	for _, e := range []*Engine{before, after} {
		e.origins.Settle()
		if p := e.Origins().Peek(&judge.Request{Time: now}); p == nil || p.RuleCount() != 1 {
			t.Error("an engine is left without a rules")
		}
	}
	after.Close()
}
