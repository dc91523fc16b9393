package limits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// Forty names that a client invents get at most half of what crawlers share while others
// come, and all of it when they are alone.
func TestInventedNamesGetHalf(t *testing.T) {
	e := newSite(t, "User-agent: Named\nDisallow: /private/\n", judge.Settings{}, Limit{All: "30/1m"})
	invented := func() (passed int) { // in ten minutes, with 240 requests a minute
		for i := range 2400 {
			if e.decide("/x", fmt.Sprintf("Mozilla/5.0 (compatible; Gather%dbot/1.0; +https://gather.example/)", i%40)).Action == judge.Pass {
				passed++
			}
			e.clock.Advance(250 * time.Millisecond)
		}
		return passed
	}
	if n := invented(); n < 300 || n > 303 {
		t.Errorf("alone, invented names get %d of 300", n)
	}
	random, real := rand.New(rand.NewPCG(1, 2)), []string{fake.Gptbot, ahrefs, archive, "Named/1.0"}
	came, passed, most := make(map[string]int), make(map[string]int), 0
	for i := range 2400 { // the same beside four crawlers, each with three or four requests a minute
		if e.decide("/x", fmt.Sprintf("Mozilla/5.0 (compatible; Gather%dbot/1.0; +https://gather.example/)", i%40)).Action == judge.Pass {
			most++
		}
		e.clock.Advance(time.Duration(random.IntN(250)) * time.Millisecond)
		if ua := real[random.IntN(len(real))]; random.IntN(17) == 0 {
			if came[ua]++; e.decide("/x", ua).Action == judge.Pass {
				passed[ua]++
			}
		}
		e.clock.Advance(125 * time.Millisecond)
	}
	if most > 153 {
		t.Errorf("invented names get %d of 300 while others come", most)
	}
	for _, ua := range real {
		if 3*passed[ua] < 2*came[ua] {
			t.Errorf("%s gets %d of %d", ua, passed[ua], came[ua])
		}
	}
	e.clock.Advance(2 * time.Minute)
	if n := invented(); n < 300 {
		t.Errorf("alone again, invented names get %d of 300", n)
	}
}

// Names that anybody can invent also use a budget of their own.
func TestBudgetsOfALimit(t *testing.T) {
	e := newSite(t, fake.Site, judge.Settings{}, Limit{All: "1/1h", AtOnce: 2})
	rules, all := e.Origins().RulesOf(fake.Home), make(map[throttle.Key]bool)
	for name, want := range map[string][2]int{ // without and with verification
		"GPTBot": {1, 1}, "AhrefsBot": {1, 1}, "Googlebot": {0, 0}, "MadeUpBot": {2, 2},
	} {
		a := e.Agent(name, nil)
		for i, verifiable := range []bool{false, true} {
			keys, perAddr := e.set.Budgets(rules, &a, verifiable)
			one := make(map[throttle.Key]bool)
			for _, key := range keys {
				one[key], all[key] = true, true
			}
			if len(one) != want[i] || perAddr {
				t.Errorf("%s, verifiable %t: %d budgets, want %d", name, verifiable, len(one), want[i])
			}
		}
	}
	if len(all) != 2 {
		t.Errorf("%d budgets, want that of crawlers, and of invented names", len(all))
	}
}

// Crawlers that one request names use a budget that they share once.
func TestSeveralCrawlersUseABudgetOnce(t *testing.T) {
	e := newSite(t, "User-agent: *\nDisallow: /x\n", judge.Settings{}, Limit{All: "11/1h", Each: "30/3h", AtOnce: 2, EachAtOnce: 1})
	var first, second judge.Decision
	both := e.enter(e.request("/", "GPTBot/1.0 ClaudeBot/1.0", "CCBot/2.0"), &first)
	if n := e.set.turns.total(); first.Action != judge.Pass || n != 5 {
		t.Fatalf("%v, %d in flight; want those of the three crawlers, one of all, and one of those that GPTBot shares", first.Reason, n)
	}
	e.enter(e.request("/", "ClaudeBot/1.0"), &second).Reset()
	if second.RuleText() != "limit: each_at_once 1" {
		t.Errorf("while the first one is in flight: %v by %q", second.Reason, second.RuleText())
	}
	both.Reset()
	if n := e.set.turns.total(); n != 0 {
		t.Errorf("%d in flight at the end", n)
	}
	for _, want := range []string{"", "limit: all 11/1h"} { // two may come at once
		second = e.decide("/", "ClaudeBot/1.0")
		if got := second.RuleText(); second.Action != judge.Pass && got != want || second.Action == judge.Pass && want != "" {
			t.Errorf("%v by %q, want %q", second.Reason, got, want)
		}
	}
}

// The crawlers' own limits count first: with as many limits as are possible, too.
func TestSeveralCrawlersWithManyLimits(t *testing.T) {
	var list []Limit
	for i := range Max {
		list = append(list, Limit{Paths: []string{fmt.Sprintf("/*%d", i)}, All: "100/1s", Each: "100/2s"})
	}
	e := newSite(t, "User-agent: *\nCrawl-delay: 10\n", judge.Settings{}, list...)
	if d := e.decide("/0123456", "GPTBot/1.0 ClaudeBot/1.0 CCBot/2.0 AhrefsBot/7.0"); d.Action != judge.Pass {
		t.Fatal(d.Reason)
	}
	for _, ua := range []string{"GPTBot/1.0", "ClaudeBot/1.0", "CCBot/2.0", "AhrefsBot/7.0"} {
		if d := e.decide("/", ua); d.Reason != judge.CrawlDelay {
			t.Errorf("%s: %v", ua, d.Reason)
		}
	}
}

// The keys of budgets are the same in every version: a fleet must not forget.
func TestKeysStay(t *testing.T) {
	hosts := []string{"b.test", "a.test"}
	e := newSiteAt(t, "", judge.Settings{}, hosts, throttle.NewMemory(16), new(Turns), fake.NewClock(),
		Limit{Paths: []string{"/b", "/a"}, Hosts: []string{"a.test"}, All: "30/1m", Each: "10/1m"})
	home := judge.Home([]string{"a.test", "b.test"})
	for ua, want := range map[string]throttle.Key{
		fake.Gptbot: {0xb0824c82cdd08a60, 0xbfbe142adfa54e3c}, fake.Newbot: {0xbc322eb5961ca2e9, 0xb008f86a3176215d},
		fake.Wget: {0x1a3aab06666d93e4, 0x333b7aa3ca19e751},
	} {
		r, d := e.request("/a", ua), new(judge.Decision)
		r.Origin = judge.NewOrigin("https", "a.test", 443)
		q := e.enter(r, d)
		var keys []throttle.Key
		for _, u := range e.uses {
			keys = append(keys, u.Key)
		}
		q.Reset()
		all := throttle.Key{0xba19df86226f186f, 0xb0d18c5ca1416bb0}
		if !slices.Contains(keys, want.In(home)) || !slices.Contains(keys, all.In(home)) {
			t.Errorf("%.40s: %x", ua, keys)
		}
	}
	if home[0] != 0x36f3bf29fd0ca2d7 || home[1] != 0x1b859f7aca55daba {
		t.Errorf("the home is %x", home)
	}
}
