package limits

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// A limit holds the crawlers that the file binds, or would bind with a group for
// `*`, and nobody else.
func TestWhoALimitHolds(t *testing.T) {
	hour := Limit{Paths: []string{"/archive/*", "/*?sort="}, All: "1/1h"}
	with := func(change func(*Limit)) Limit {
		l := hour
		change(&l)
		return l
	}
	const none, star = "", "User-agent: *\nDisallow: /private/\n"
	for _, tt := range []struct {
		name     string
		file     string
		settings judge.Settings
		limit    Limit
		method   string
		ua       string
		target   string
		held     bool
	}{
		{"crawler", star, judge.Settings{}, hour, "", fake.Gptbot, "/archive/x", true},
		{"crawler, no file", none, judge.Settings{}, hour, "", fake.Gptbot, "/archive/x", true},
		{"crawler, file without a group for *", "User-agent: Other\nDisallow: /\n", judge.Settings{}, hour, "", fake.Gptbot, "/archive/x", true},
		{"crawler with its own group", "User-agent: GPTBot\nDisallow: /x\n", judge.Settings{}, hour, "", fake.Gptbot, "/archive/x", true},
		{"self-declared robot", none, judge.Settings{}, hour, "", fake.Newbot, "/archive/x", true},
		{"POST of a self-declared robot", none, judge.Settings{}, hour, http.MethodPost, fake.Newbot, "/archive/x", true},
		{"POST of a self-declared robot, with a group for *", star, judge.Settings{}, hour, http.MethodPost, fake.Newbot, "/archive/x", true},
		{"POST of a crawler", star, judge.Settings{}, hour, http.MethodPost, fake.Gptbot, "/archive/x", true},
		{"other path", star, judge.Settings{}, hour, "", fake.Gptbot, "/x", false},
		{"second pattern", star, judge.Settings{}, hour, "", fake.Gptbot, "/list?sort=name", true},
		{"other spelling", star, judge.Settings{}, hour, "", fake.Gptbot, "//x/..//%61rchive/x", true},
		{"whole site", star, judge.Settings{}, with(func(l *Limit) { l.Paths = nil }), "", fake.Gptbot, "/x", true},
		{"robots.txt", star, judge.Settings{}, with(func(l *Limit) { l.Paths = nil }), "", fake.Gptbot, "/robots.txt", false},
		{"exempt path", star, judge.Settings{ExemptPaths: []string{"/archive/open/"}}, hour, "", fake.Gptbot, "/archive/open/x", false},
		{"exempt crawler", star, judge.Settings{Exempt: []judge.Exemption{{Name: "GPTBot"}}}, hour, "", fake.Gptbot, "/archive/x", false},
		{"browser", star, judge.Settings{Strict: true}, hour, "", fake.Chrome, "/archive/x", false},
		{"library", star, judge.Settings{}, hour, "", fake.Curl, "/archive/x", false},
		{"library that is bound", star, judge.Settings{HTTPClients: true}, hour, "", fake.Curl, "/archive/x", true},
		{"library with its own group", "User-agent: curl\nDisallow: /x\n", judge.Settings{}, hour, "", fake.Curl, "/archive/x", true},
		{"program", star, judge.Settings{}, hour, "", fake.Program, "/archive/x", false},
		{"program that is bound", none, judge.Settings{Programs: true}, hour, "", fake.Program, "/archive/x", true},
		{"webhook", star, judge.Settings{Strict: true}, hour, "", fake.Stripe, "/archive/x", false},
		{"webhook with its own group", "User-agent: Stripe\nDisallow: /x\n", judge.Settings{}, hour, "", fake.Stripe, "/archive/x", false},
		{"probe", star, judge.Settings{Strict: true}, hour, "", "kube-probe/1.31", "/archive/x", false},
		{"user-triggered fetcher", star, judge.Settings{}, hour, "", fake.Chatgpt, "/archive/x", true},
		{"user-triggered fetcher, ignored", star, judge.Settings{IgnoreUserTriggered: true}, hour, "", fake.Chatgpt, "/archive/x", false},
		{"POST of a user-triggered fetcher", none, judge.Settings{}, hour, http.MethodPost, fake.Chatgpt, "/archive/x", false},
		{"search engine", star, judge.Settings{}, hour, "", fake.Googlebot, "/archive/x", false},
		{"ads", star, judge.Settings{Strict: true}, hour, "", fake.Adsbot, "/archive/x", false},
		{"excepted purpose", star, judge.Settings{}, with(func(l *Limit) { l.Except = []string{"seo"} }), "", ahrefs, "/archive/x", false},
		{"excepted name", star, judge.Settings{}, with(func(l *Limit) { l.Except = []string{"AhrefsBot"} }), "", ahrefs, "/archive/x", false},
		{"another than the excepted", star, judge.Settings{}, with(func(l *Limit) { l.Except = []string{"seo"} }), "", archive, "/archive/x", true},
	} {
		e := newSite(t, tt.file, tt.settings, tt.limit)
		r, d := e.request(tt.target, tt.ua), new(judge.Decision)
		r.Method = tt.method
		e.enter(r, d).Reset()
		if d.Action != judge.Pass {
			t.Errorf("%s: the first request: %v", tt.name, d.Reason)
		}
		e.enter(r, d).Reset()
		if got := d.Reason == Reason; got != tt.held || (d.Action == judge.Throttle) != tt.held {
			t.Errorf("%s: %v, %v, want held %v", tt.name, d.Action, d.Reason, tt.held)
		}
		var check judge.Decision
		e.Origins().RulesOf(fake.Home).Check(r, &check)
		if lines := e.set.Lines(r, &check); len(lines) > 0 != tt.held || check.Action != judge.Pass {
			t.Errorf("%s: %d lines hold it, %v", tt.name, len(lines), check.Reason)
		}
	}
}

// All crawlers together may send N + N/10 requests in every minute, and no fewer
// than N on average. The Retry-After is true.
func TestLimitOfAllCrawlers(t *testing.T) {
	e := newSite(t, fake.Site, judge.Settings{}, Limit{Paths: []string{"/archive/"}, All: "30/1m", File: "Caddyfile", Line: 7})
	random, begin := rand.New(rand.NewPCG(1, 2)), e.clock.Now()
	var accepted []time.Time
	for e.clock.Now().Sub(begin) < 20*time.Minute {
		ua := fmt.Sprintf("Mozilla/5.0 (compatible; Bot%dbot/1.0; +https://bot.example/)", random.IntN(400))
		switch d := e.decide("/archive/x", ua); {
		case d.Action == judge.Pass:
			accepted = append(accepted, e.clock.Now())
		case d.Reason == judge.CrawlDelay:
		case d.Reason != Reason || d.Layer != Layer || d.Line != 7 || d.File() != "Caddyfile" || d.RuleText() != "limit /archive/: all 30/1m":
			t.Fatalf("%v, %v %d of %s, %q", d.Reason, d.Layer, d.Line, d.File(), d.RuleText())
		case d.RetryAfter > 2*time.Second:
			t.Fatalf("Retry-After %v", d.RetryAfter)
		}
		if d := e.decide("/other/x", ua); d.Reason == Reason {
			t.Fatal("another path is limited")
		}
		e.clock.Advance(time.Duration(random.IntN(2000)) * time.Millisecond / 10)
	}
	for i, from := range accepted {
		n := 0
		for _, at := range accepted[i:] {
			if at.Sub(from) < time.Minute {
				n++
			}
		}
		if n > 33 {
			t.Fatalf("%d requests in the minute from %v", n, from)
		}
	}
	if n := len(accepted); n < 20*30 {
		t.Errorf("only %d requests in 20 minutes", n)
	}
	var d judge.Decision
	for d = e.decide("/archive/x", fake.Gimage+" xbot/1"); d.Reason != Reason; d = e.decide("/archive/x", ahrefs) {
		if d.Reason == judge.CrawlDelay {
			e.clock.Advance(d.RetryAfter)
		}
	}
	e.clock.Advance(d.RetryAfter)
	if d := e.decide("/archive/x", archive); d.Action != judge.Pass {
		t.Errorf("refused after Retry-After: %v", d.Reason)
	}
}

// Each crawler has its own budget, at all hosts together. Software that anyone
// runs has one for each address.
func TestLimitOfEachCrawler(t *testing.T) {
	e := newSite(t, "", judge.Settings{}, Limit{Each: "1/1m"})
	from := func(host, client, ua string) judge.Reason {
		r, d := e.request("/", ua), new(judge.Decision)
		r.Origin, r.Invented, r.Client = judge.NewOrigin("https", host, 443), host != "a.test", client
		e.enter(r, d).Reset()
		return d.Reason
	}
	for _, tt := range []struct {
		host, client, ua string
		want             judge.Reason
	}{
		{"a.test", "192.0.2.1", fake.Gptbot, judge.NoRules}, {"b.test", "192.0.2.2", fake.Gptbot, Reason}, {"a.test", "192.0.2.1", ahrefs, judge.NoRules},
		{"a.test", "192.0.2.1", fake.Newbot, judge.NoRules}, {"b.test", "192.0.2.1", fake.Newbot, Reason},
		{"a.test", "192.0.2.1", fake.Wget, judge.NoRules}, {"a.test", "192.0.2.2", fake.Wget, judge.NoRules}, {"b.test", "192.0.2.1", fake.Wget, Reason},
	} {
		if got := from(tt.host, tt.client, tt.ua); got != tt.want && (got != judge.Unbound || tt.want != judge.NoRules) {
			t.Errorf("%s from %s at %s: %v, want %v", tt.ua, tt.client, tt.host, got, tt.want)
		}
	}
}

// atOnce is a Limit of requests at once.
var atOnceLimit = Limit{Paths: []string{"/archive/"}, AtOnce: 2, EachAtOnce: 1}

// A request that one budget refuses uses none of the others: those of several
// limits, and that of the crawler's Crawl-delay.
func TestRefusedRequestUsesNoBudget(t *testing.T) {
	e := newSite(t, "User-agent: CCBot\nCrawl-delay: 100\n", judge.Settings{},
		Limit{Each: "1/1h"}, Limit{Paths: []string{"/a"}, All: "1/1m"})
	for i, tt := range []struct {
		ua, target, rule string
	}{
		{"CCBot/2.0", "/a", ""},
		{ahrefs, "/a", "limit /a: all 1/1m"},
		{ahrefs, "/", ""},                       // the refusal has used nothing of each
		{"CCBot/2.0", "/b", "limit: each 1/1h"}, // it takes longest
		{archive, "/", ""},
		{archive, "/", "limit: each 1/1h"},
	} {
		if d := e.decide(tt.target, tt.ua); tt.rule != "" && (d.Action != judge.Throttle || d.RuleText() != tt.rule) || tt.rule == "" && d.Action != judge.Pass {
			t.Errorf("request %d: %v, %q, want %q", i, d.Reason, d.RuleText(), tt.rule)
		}
	}

	e = newSite(t, "User-agent: AhrefsBot\nCrawl-delay: 100\n", judge.Settings{}, Limit{All: "1/10s"})
	for i, tt := range []struct{ ua, rule string }{{ahrefs, ""}, {ahrefs, "Crawl-delay: 100"}, {archive, ""}} {
		if d := e.decide("/", tt.ua); d.RuleText() != tt.rule {
			t.Errorf("request %d of a group: %v, %q, want %q", i, d.Reason, d.RuleText(), tt.rule)
		}
		e.clock.Advance(time.Duration(1-i) * 10 * time.Second) // the second and third come at the same time
	}
}

// A request that is refused after Decide gives back what it has used, also as an
// unverified claim, unless a later one was let through.
func TestRefusedLaterGivesBudgetBack(t *testing.T) {
	e := newSite(t, "User-agent: GPTBot\nCrawl-delay: 100\n", judge.Settings{}, Limit{All: "1/1h", Each: "1/2h"})
	r := e.request("/", fake.Gptbot)
	var d judge.Decision
	for range 3 {
		q := e.enter(r, &d)
		if d.Action != judge.Pass {
			t.Fatalf("%v by %q", d.Reason, d.RuleText())
		}
		e.clock.Advance(time.Second)
		e.GiveBack(r, &d, e.uses)
		e.GiveBack(r, &d, e.uses)
		q.Reset()
		r.Time = e.clock.Now()
	}
	if d := e.decide("/", fake.Gptbot); d.Action != judge.Pass {
		t.Errorf("%v by %q", d.Reason, d.RuleText())
	}
	e.GiveBack(r, &d, nil)
	if d := e.decide("/", ahrefs); d.Reason != Reason {
		t.Errorf("%v: what another request has used was given back", d.Reason)
	}
}

// Of a limit for the whole site, and of one with patterns, both must be met. A
// replay applies the rates.
func TestLimitInAReplay(t *testing.T) {
	p, err := enforce.NewReplay(judge.Settings{StepBudgets: true})
	if err != nil {
		t.Fatal(err)
	}
	set, err := New([]Limit{{Each: "1/1m", AtOnce: 1}, {Paths: []string{"/a"}, All: "1/1h"}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	edition, at := p.Edition(judge.Response{Status: 404}, time.Time{}, nil), fake.NewClock()
	var got []string
	for i, target := range []string{"/", "/", "/a", "/a"} {
		var d judge.Decision
		r := &judge.Request{Target: target, UserAgents: []string{fake.Gptbot}, Origin: fake.Home, Time: at.Now()}
		p.Decide(edition, r, &d)
		if !d.Paced() {
			t.Fatalf("%s: %v is final", target, d.Reason)
		}
		p.Pace(r, &d, set.Enter(new(Request), r, &d, nil))
		got = append(got, d.RuleText())
		at.Advance(time.Duration(1+i*i) * 20 * time.Second)
	}
	if want := []string{"", "limit: each 1/1m", "", "limit /a: all 1/1h"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
