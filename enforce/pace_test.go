package enforce

import (
	"fmt"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// RuleText of a throttled request is the line that throttled it, also if an Allow
// rule matches the path.
func TestRuleTextOfThrottledRequests(t *testing.T) {
	const group = "User-agent: bingbot\nAllow: /\n"
	for file, want := range map[string]string{
		group + "Crawl-delay: 2.5\n":                               "Crawl-delay: 2.5",
		group + "Request-rate: 9/1s\nRequest-rate: 1/2m 0000-2359": "Request-rate: 1/2m",
		group + "Visit-time: 0005-0006\nVisit-time: 0001-0002":     "Visit-time: 0001-0002",
	} {
		e := newEngineTest(t, file, judge.Settings{})
		e.clock.Advance(2*time.Hour - e.clock.Now().Sub(e.clock.Now().Truncate(24*time.Hour)))
		d := e.decide("/", fake.Bingbot)
		if d.Action == judge.Pass {
			if d.RuleText() != "Allow: /" {
				t.Errorf("%q: the first request is decided by %q", file, d.RuleText())
			}
			d = e.decide("/", fake.Bingbot)
		}
		if d.Action != judge.Throttle || d.RuleText() != want {
			t.Errorf("%q: %v by %q, want %q", file, d.Action, d.RuleText(), want)
		}
	}
}

// Each half of the hash of a budget is different for other seeds, origins and
// names, but not for names in other case.
func TestHash(t *testing.T) {
	seen := make(map[uint64]string)
	for _, seed := range []uint8{seedBudget, seedMonitor, seedBudget + seedUnverified, seedBudget + seedPool} {
		for _, port := range []uint16{80, 443} {
			for i := range 100 {
				for j := range 100 {
					o, name := judge.Origin{Scheme: "http", Host: fmt.Sprintf("h%d.example", i), Port: port}, fmt.Sprintf("bot%d", j)
					a, b := o.Hash(seed, name)
					id := fmt.Sprint(seed, o, name)
					if seen[a] != "" || seen[b] != "" {
						t.Fatalf("%s has a hash of %s%s", id, seen[a], seen[b])
					}
					seen[a], seen[b] = id, id
				}
			}
		}
	}
	a, b := fake.Home.Hash(seedBudget, "GoogleBot-Image")
	if c, d := fake.Home.Hash(seedBudget, "googlebot-image"); c != a || d != b {
		t.Error("upper and lower case differ")
	}
}

// A request that names several crawlers must keep to the limits of each of them. If
// one refuses it, it uses no budget of the others.
func TestLimitsOfSeveralCrawlers(t *testing.T) {
	const file = "User-agent: GPTBot\nCrawl-delay: 10\n\nUser-agent: ClaudeBot\nRequest-rate: 1/20s\n\n" +
		"User-agent: CCBot\nVisit-time: 0000-0559\n\nUser-agent: *\nCrawl-delay: 40\n"
	const both = "GPTBot/1.0 ClaudeBot/1.0"
	for name, agents := range map[string][]string{
		"one field": {both}, "two fields": {"ClaudeBot/1.0", fake.Chrome, "GPTBot/1.0"}, "the same ones again": {both, "ClaudeBot/1.0", "gptbot"},
		"two without limits before": {"Googlebot/2.1 curl/8.0 GPTBot/1.0", "ClaudeBot/1.0"},
		"software":                  {"GPTBot/1.0 Scrapy/2.11 ClaudeBot/1.0"},
	} {
		e := newEngineTest(t, file, judge.Settings{})
		begin := e.clock.Now()
		for _, step := range []struct {
			after  time.Duration
			agents []string
			by     string // the line that refuses; "" if the request passes
		}{
			{0, agents, ""},
			{time.Second, []string{"GPTBot"}, "Crawl-delay: 10"},
			{time.Second, []string{"ClaudeBot"}, "Request-rate: 1/20s"},
			{time.Second, agents, "Request-rate: 1/20s"},
			{5 * time.Second, agents, "Request-rate: 1/20s"}, // GPTBot may come half an interval early
			{5 * time.Second, []string{"GPTBot"}, ""},
			{6 * time.Second, []string{fake.Wget}, ""}, // nobody has used the budgets of other crawlers
			{25 * time.Second, agents, ""},
			{25 * time.Second, []string{"ClaudeBot"}, "Request-rate: 1/20s"},
		} {
			e.clock.Advance(begin.Add(step.after).Sub(e.clock.Now()))
			d := e.decide("/", step.agents...)
			if by := d.RuleText(); (d.Action == judge.Pass) != (step.by == "") || d.Action != judge.Pass && by != step.by {
				t.Errorf("%s: %q after %v: %v for %s by %q, want %q", name, step.agents, step.after, d.Action, d.Name(), by, step.by)
			}
		}
	}
	e := newEngineTest(t, file, judge.Settings{})
	e.clock.Advance(18*time.Hour - e.clock.Now().Sub(e.clock.Now().Truncate(24*time.Hour)))
	if d := e.decide("/", "GPTBot/1.0 CCBot/2.0"); d.Reason != judge.VisitTime || d.Name() != "CCBot" {
		t.Errorf("outside Visit-time: %v for %s", d.Reason, d.Name())
	}
	if d := e.decide("/", "GPTBot/1.0"); d.Action != judge.Pass {
		t.Errorf("a refused request has used budget: %v", d.Reason)
	}
	var check judge.Decision
	e.origins.RulesOf(fake.Home).CheckFirst(&judge.Request{Target: "/", UserAgents: []string{"GPTBot/1.0 CCBot/2.0"}, Time: e.clock.Now()}, nil, &check)
	if check.Reason != judge.VisitTime || check.Name() != "CCBot" {
		t.Errorf("CheckFirst: %v for %s", check.Reason, check.Name())
	}
}

// Crawlers that are only monitored are not held together with others.
func TestSeveralCrawlersInMonitorMode(t *testing.T) {
	e := newEngineTest(t, "User-agent: *\nCrawl-delay: 10\n", judge.Settings{Monitor: true, Except: []string{"GPTBot"}})
	for i, want := range []judge.Action{judge.Pass, judge.Throttle} {
		if d := e.decide("/", "ClaudeBot/1.0 GPTBot/1.0 CCBot/2.0"); d.Action != want || d.Monitored || d.Name() != "GPTBot" {
			t.Errorf("request %d: %v for %s, monitored %v", i, d.Action, d.Name(), d.Monitored)
		}
	}
	denied := newEngineTest(t, "User-agent: ClaudeBot\nDisallow: /\n\nUser-agent: GPTBot\nDisallow: /no\n", judge.Settings{Monitor: true, Except: []string{"GPTBot"}})
	for _, agents := range [][]string{{"ClaudeBot/1.0 GPTBot/1.0"}, {"ClaudeBot/1.0", "GPTBot/1.0"}, {"GPTBot/1.0", "ClaudeBot/1.0"}} {
		if d := denied.decide("/no", agents...); d.Action != judge.Deny || d.Monitored || d.Name() != "GPTBot" {
			t.Errorf("%q: %v for %s, monitored %v", agents, d.Action, d.Name(), d.Monitored)
		}
	}
	if d := e.decide("/", "ClaudeBot/1.0"); d.Action != judge.Pass || !d.Monitored {
		t.Errorf("a monitored crawler: %v", d.Reason)
	}
}
