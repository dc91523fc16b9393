package enforce

import (
	"context"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// A crawler's budgets can be read and reset.
func TestBudgets(t *testing.T) {
	e := newEngineTest(t, fake.Site, judge.Settings{})
	agent := e.Agent("bingbot", nil)
	if agent.Crawler == nil || agent.Crawler.Name != "bingbot" {
		t.Fatalf("bingbot is %+v", agent)
	}
	list := e.Budgets(fake.Home, &agent, false)
	if len(list) != 1 || list[0].PerAddr || list[0].Pool {
		t.Fatalf("%+v", list)
	}
	if r, used := e.limiter.Peek(e.clock.Now(), throttle.Use{Key: list[0].Key, Limits: list[0].Limits}); !r.OK || used {
		t.Errorf("before the first request: %+v, %t", r, used)
	}
	e.decide("/", fake.Bingbot)
	if r, used := e.limiter.Peek(e.clock.Now(), throttle.Use{Key: list[0].Key, Limits: list[0].Limits}); r.OK || !used || r.RetryAfter == 0 {
		t.Errorf("after it: %+v, %t", r, used)
	}
	if err := e.limiter.Forget(context.Background(), e.clock.Now(), list[0].Key); err != nil {
		t.Fatal(err)
	}
	if d := e.decide("/", fake.Bingbot); d.Action != judge.Pass {
		t.Errorf("after it was forgotten: %v", d.Reason)
	}
	wget := e.Agent("Wget", nil)
	if list := e.Budgets(fake.Home, &wget, false); len(list) != 1 || !list[0].PerAddr {
		t.Errorf("wget: %+v", list)
	}
	google := e.Agent("Googlebot", nil) // does not support Crawl-delay
	if list := e.Budgets(judge.NewOrigin("https", "unread.test", 443), &google, false); len(list) > 1 {
		t.Errorf("Googlebot: %+v", list)
	}
	if a := e.Agent("NoSuchBot", nil); a.Class != crawler.SelfDeclared || a.Token != "NoSuchBot" {
		t.Errorf("an unknown name: %+v", a)
	}
}
