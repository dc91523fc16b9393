package counters

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots"
)

func TestCountsByCrawlerReasonAndRule(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("example.com")
	for range 3 {
		site.Count(decision(gptbot, judge.Disallowed), clock.request())
	}
	claimed := decision(gptbot, judge.Allowed)
	claimed.Claim.State = claim.Verified
	site.Count(claimed, clock.request())
	monitored := decision(goodbot, judge.CrawlDelay)
	monitored.Monitored = true
	site.Count(monitored, clock.request())
	for i := range uint32(20) {
		site.CountPerson(i)
	}

	s := c.View(statusapi.AllSites(), statusapi.SpanHour).Summary
	if s.People.Hour != 20 || s.People.Total != 20 || s.Crawlers.Hour.Requests != 5 || s.Crawlers.Total.Denied != 3 || s.Crawlers.Day.WouldThrottle != 1 {
		t.Errorf("summary: %+v, people %+v", s.Crawlers, s.People)
	}
	if got := s.Series.Denied[59]; got != 3 {
		t.Errorf("denied in the current minute: %d, want 3", got)
	}
	if want := time.Date(2026, 11, 21, 13, 31, 0, 0, time.UTC); !s.Series.Start.Equal(want) {
		t.Errorf("the series starts at %v, want %v", s.Series.Start, want)
	}
	found := crawlersByName(c, statusapi.AllSites())
	if g := found["GPTBot"]; !g.Known || !slices.Equal(g.Purposes, []string{"ai-training"}) || g.Hour.Requests != 4 || g.Hour.Passed != 1 || g.Hour.Verified != 1 {
		t.Errorf("GPTBot: %+v", g)
	}
	if g := found["GoodBot"]; g.Known || g.Class != "self-declared" || g.Hour.WouldThrottle != 1 {
		t.Errorf("GoodBot: %+v", g)
	}
	wantReasons := map[string]uint64{"disallowed deny": 3, "allowed pass": 1, "crawl_delay would_throttle": 1}
	for _, r := range s.Reasons {
		if wantReasons[r.Reason+" "+r.Action] != r.Hour || r.Total != r.Hour {
			t.Errorf("reason %+v", r)
		}
		delete(wantReasons, r.Reason+" "+r.Action)
	}
	if len(wantReasons) > 0 {
		t.Errorf("missing reasons: %v", wantReasons)
	}
	rules := make(map[int]*LineCount)
	for _, r := range c.View(statusapi.AllSites(), statusapi.SpanHour).Lines {
		rules[r.Number] = r
	}
	if r := rules[2]; r.Denied != 3 || r.Hour != 3 || r.Text != "Disallow: /private/" || r.Group != "*" || r.Layer != judge.FileLayer || r.Site != "example.com" {
		t.Errorf("line 2: %+v", r)
	}
	if r := rules[4]; r.WouldThrottle != 1 || r.Day != 1 || r.Reason != judge.CrawlDelay {
		t.Errorf("line 4: %+v", r)
	}
}

// Browsers that are refused are strangers: in no row and no sum of crawlers, no flood, and no
// people. Those that are let through are people. A restart keeps that.
func TestStrangersAreNoCrawlers(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	chrome := crawler.Agent{Class: crawler.Person, Token: ""}
	for range 3 * FloodLeast {
		c.Site("example.com").Count(decision(chrome, judge.CrawlDelay), clock.request())
		c.Site(statusapi.AnySite).Host("a.example").Count(decision(chrome, judge.Disallowed), clock.requestTo("a.example"))
	}
	c.Site("example.com").Count(decision(chrome, judge.ExemptPath), clock.request())
	c.Site("example.com").Count(decision(gptbot, judge.Disallowed), clock.request())
	var file bytes.Buffer
	if err := c.Save(&file, nil); err != nil {
		t.Fatal(err)
	}
	restarted := New(clock.now)
	if _, err := restarted.Load(&file); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Counters{c, restarted} {
		s := c.View(statusapi.AllSites(), statusapi.SpanHour).Summary
		if s.Crawlers.Total.Requests != 1 || s.Strangers.Total != 6*FloodLeast || s.People.Total != 1 || s.Series.Strangers[59] != 6*FloodLeast {
			t.Errorf("%d requests of crawlers, %d of strangers, %d of people", s.Crawlers.Total.Requests, s.Strangers.Total, s.People.Total)
		}
		if found := crawlersByName(c, statusapi.AllSites()); len(found) != 1 || len(s.Reasons) != 1 || c.Loads(FloodLeast) != nil {
			t.Errorf("crawlers %v, reasons %v, loads %v", found, s.Reasons, c.Loads(FloodLeast))
		}
		for _, site := range c.View(statusapi.AllSites(), statusapi.SpanHour).Sites {
			if site.Requests > 1 || site.Minute > 1 || site.Strangers != 3*FloodLeast {
				t.Errorf("%+v", site)
			}
		}
	}
}

func TestScopeExcludesOtherSites(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	c.Site("a.example").Count(decision(gptbot, judge.Disallowed), clock.requestTo("a.example"))
	c.Site("b.example").Count(decision(goodbot, judge.CrawlDelay), clock.requestTo("b.example"))
	c.Site("b.example").CountPerson(0)
	c.Site(statusapi.AnySite).Host("made-up.example").Count(decision(goodbot, judge.Disallowed), clock.requestTo("made-up.example"))
	scope := statusapi.Sites("a.example", "made-up.example")
	s := c.View(scope, statusapi.SpanHour).Summary
	if len(c.View(scope, statusapi.SpanHour).Sites) != 2 || s.Crawlers.Total.Requests != 2 || s.People.Total != 0 || len(s.Reasons) != 1 {
		t.Errorf("summary: %+v", s)
	}
	if found := crawlersByName(c, scope); len(found) != 2 || found["GPTBot"].Total.Requests != 1 {
		t.Errorf("crawlers: %v", found)
	}
	if rules := c.View(scope, statusapi.SpanHour).Lines; len(rules) != 2 { // at a site for any host, those of the host in the scope
		t.Errorf("rules: %+v", rules)
	}
	recent := c.Kept(scope, 0)
	if len(recent) != 2 || recent[0].Host != "made-up.example" || recent[1].Host != "a.example" {
		t.Errorf("refusals: %+v", recent)
	}
}

// Refusals of a crawler of the registry count by what is known about the client.
// Those on purpose do not count: a pace that a group gives to the crawler by name,
// monitor mode, and impostors.
func TestRefusedClaims(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("example.com")
	rules, err := judge.Settings{}.Rules(judge.Response{Status: 200, Body: []byte("User-agent: *\nCrawl-delay: 10\n\nUser-agent: GPTBot\nCrawl-delay: 10\n")})
	if err != nil {
		t.Fatal(err)
	}
	googlebot := crawler.Agent{Class: crawler.Registered, Crawler: crawler.Builtin().Lookup("Googlebot"), Token: "Googlebot"}
	count := func(a crawler.Agent, why judge.Reason, state claim.State, group *robots.Group, monitored bool) {
		d := decision(a, why)
		d.Claim.State, d.Monitored, d.Rules, d.Group = state, monitored, rules, group
		site.Count(d, clock.request())
	}
	star, named := rules.File().Star(), rules.File().Named("GPTBot")
	count(googlebot, judge.Disallowed, claim.Verified, star, false)
	count(googlebot, judge.CrawlDelay, claim.Verified, star, false)
	count(googlebot, judge.RulesPending, claim.Verified, nil, false)
	count(googlebot, judge.CrawlDelay, claim.Verified, named, false)
	count(googlebot, judge.Disallowed, claim.Verified, star, true)
	count(googlebot, judge.Allowed, claim.Verified, star, false)
	count(googlebot, judge.Disallowed, claim.Unverified, star, false)
	count(googlebot, judge.Impostor, claim.Impostor, nil, false)
	count(gptbot, judge.Disallowed, claim.NoMethod, star, false)
	count(goodbot, judge.Disallowed, claim.NoMethod, star, false)
	s := c.View(statusapi.AllSites(), statusapi.SpanHour).Summary
	if n := s.Search.Total; n.Verified != 6 || n.VerifiedRefused != 3 || n.ClaimsRefused != 1 || siteByName(c, statusapi.AllSites(), "example.com").SearchRefused != 3 {
		t.Errorf("search engines: %+v", n)
	}
	if n := s.Crawlers.Total; n.VerifiedRefused != 3 || n.ClaimsRefused != 2 {
		t.Errorf("all crawlers: %+v", n)
	}
}

// The numbers of all reasons with an action add up to the number of requests with that
// action, in each span of time.
func TestReasonsAddUp(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	site := c.Site("example.com")
	for round := range 3 {
		for why := range judge.Reasons() {
			if why == judge.Person {
				continue
			}
			for _, a := range []crawler.Agent{gptbot, goodbot} {
				d := decision(a, why)
				for range int(why) + round {
					site.Count(d, clock.request())
				}
				d.Monitored = true
				site.Count(d, clock.request())
			}
		}
		c.Fold()
		clock.add(30 * time.Hour)
	}
	s := c.View(statusapi.AllSites(), statusapi.SpanHour).Summary
	got := make(map[string]*statusapi.Windows[uint64])
	for _, r := range s.Reasons {
		action := strings.Replace(r.Action, "challenge", "throttle", 1) // these are counted together
		if got[action] == nil {
			got[action] = new(statusapi.Windows[uint64])
		}
		sum := got[action]
		sum.Hour, sum.Day, sum.Month, sum.Total = sum.Hour+r.Hour, sum.Day+r.Day, sum.Month+r.Month, sum.Total+r.Total
	}
	for action, number := range map[string]func(statusapi.Counts) uint64{
		"pass": func(c statusapi.Counts) uint64 { return c.Passed },
		"deny": func(c statusapi.Counts) uint64 { return c.Denied }, "throttle": func(c statusapi.Counts) uint64 { return c.Throttled },
		"would_deny": func(c statusapi.Counts) uint64 { return c.WouldDeny }, "would_throttle": func(c statusapi.Counts) uint64 { return c.WouldThrottle },
	} {
		w := s.Crawlers
		if want := (statusapi.Windows[uint64]{Hour: number(w.Hour), Day: number(w.Day), Month: number(w.Month), Total: number(w.Total)}); want.Total == 0 || *got[action] != want {
			t.Errorf("%s: the reasons add up to %+v, want %+v", action, *got[action], want)
		}
	}
}

// All spellings of a name that is not in the registry are one crawler.
func TestOneCrawlerForAllSpellings(t *testing.T) {
	clock := newTestClock()
	c := New(clock.now)
	for i, token := range []string{"AcmeBot", "acmebot", "ACMEBot"} {
		site := c.Site(fmt.Sprint("s", i%2, ".example"))
		site.Count(decision(crawler.Agent{Class: crawler.SelfDeclared, Token: token}, judge.Disallowed), clock.request())
	}
	if list := c.View(statusapi.AllSites(), statusapi.SpanHour).Crawlers; len(list) != 1 || list[0].Hour.Denied != 3 {
		t.Errorf("%+v", list)
	}
}
