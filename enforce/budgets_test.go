package enforce

import (
	"context"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// A crawler's budgets can be reset.
func TestBudgets(t *testing.T) {
	e := newEngineTest(t, fake.Site, judge.Settings{})
	agent := e.Agent("bingbot", nil)
	if agent.Crawler == nil || agent.Crawler.Name != "bingbot" {
		t.Fatalf("bingbot is %+v", agent)
	}
	keys, perAddr := e.Budgets(fake.Home, &agent, false)
	if len(keys) != 1 || perAddr {
		t.Fatalf("%d budgets, %t", len(keys), perAddr)
	}
	for _, want := range []judge.Action{judge.Pass, judge.Throttle} {
		if d := e.decide("/", fake.Bingbot); d.Action != want {
			t.Errorf("%v, want %v", d.Action, want)
		}
	}
	if err := e.limiter.Forget(context.Background(), e.clock.Now(), keys[0]); err != nil {
		t.Fatal(err)
	}
	if d := e.decide("/", fake.Bingbot); d.Action != judge.Pass {
		t.Errorf("after it was forgotten: %v", d.Reason)
	}
	wget := e.Agent("Wget", nil)
	if keys, perAddr := e.Budgets(fake.Home, &wget, false); len(keys) != 0 || !perAddr {
		t.Errorf("wget: %d budgets, %t", len(keys), perAddr)
	}
	google := e.Agent("Googlebot", nil) // does not support Crawl-delay
	if keys, _ := e.Budgets(judge.NewOrigin("https", "unread.test", 443), &google, false); len(keys) > 1 {
		t.Errorf("Googlebot: %d budgets", len(keys))
	}
	if a := e.Agent("acme-probe", nil); a.Class != crawler.Probe {
		t.Errorf("a probe that no group names: %+v", a)
	}
	if a := e.Agent("NoSuchBot", nil); a.Class != crawler.SelfDeclared || a.Token != "NoSuchBot" {
		t.Errorf("an unknown name: %+v", a)
	}
}
