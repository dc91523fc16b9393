package enforce

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/robots"
)

const (
	ahrefs  = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"
	archive = "Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot)"
)

// every returns a rate.
func every(n int, per time.Duration) robots.RequestRate {
	return robots.RequestRate{Requests: n, Per: per, Window: robots.WholeDay}
}

// A limit holds the crawlers that the file binds, or would bind with a group for
// `*`, and nobody else.
func TestWhoALimitHolds(t *testing.T) {
	hour := Limit{Paths: []string{"/archive/*", "/*?sort="}, All: every(1, time.Hour)}
	with := func(change func(*Limit)) Limit {
		l := hour
		change(&l)
		return l
	}
	const none, star = "", "User-agent: *\nDisallow: /private/\n"
	for _, tt := range []struct {
		name     string
		file     string
		settings Settings
		limit    Limit
		method   string
		ua       string
		target   string
		held     bool
	}{
		{"crawler", star, Settings{}, hour, "", gptbot, "/archive/x", true},
		{"crawler, no file", none, Settings{}, hour, "", gptbot, "/archive/x", true},
		{"crawler, file without a group for *", "User-agent: Other\nDisallow: /\n", Settings{}, hour, "", gptbot, "/archive/x", true},
		{"crawler with its own group", "User-agent: GPTBot\nDisallow: /x\n", Settings{}, hour, "", gptbot, "/archive/x", true},
		{"self-declared robot", none, Settings{}, hour, "", newbot, "/archive/x", true},
		{"POST of a self-declared robot", none, Settings{}, hour, http.MethodPost, newbot, "/archive/x", true},
		{"POST of a self-declared robot, with a group for *", star, Settings{}, hour, http.MethodPost, newbot, "/archive/x", true},
		{"POST of a crawler", star, Settings{}, hour, http.MethodPost, gptbot, "/archive/x", true},
		{"other path", star, Settings{}, hour, "", gptbot, "/x", false},
		{"second pattern", star, Settings{}, hour, "", gptbot, "/list?sort=name", true},
		{"other spelling", star, Settings{}, hour, "", gptbot, "//x/..//%61rchive/x", true},
		{"whole site", star, Settings{}, with(func(l *Limit) { l.Paths = nil }), "", gptbot, "/x", true},
		{"robots.txt", star, Settings{}, with(func(l *Limit) { l.Paths = nil }), "", gptbot, "/robots.txt", false},
		{"exempt path", star, Settings{ExemptPaths: []string{"/archive/open/"}}, hour, "", gptbot, "/archive/open/x", false},
		{"exempt crawler", star, Settings{Exempt: []Exemption{{Name: "GPTBot"}}}, hour, "", gptbot, "/archive/x", false},
		{"browser", star, Settings{Strict: true}, hour, "", chrome, "/archive/x", false},
		{"library", star, Settings{}, hour, "", curl, "/archive/x", false},
		{"library that is bound", star, Settings{HTTPClients: true}, hour, "", curl, "/archive/x", true},
		{"library with its own group", "User-agent: curl\nDisallow: /x\n", Settings{}, hour, "", curl, "/archive/x", true},
		{"program", star, Settings{}, hour, "", program, "/archive/x", false},
		{"program that is bound", none, Settings{Programs: ProgramsOn}, hour, "", program, "/archive/x", true},
		{"webhook", star, Settings{Strict: true}, hour, "", stripe, "/archive/x", false},
		{"webhook with its own group", "User-agent: Stripe\nDisallow: /x\n", Settings{}, hour, "", stripe, "/archive/x", false},
		{"probe", star, Settings{Strict: true}, hour, "", "kube-probe/1.31", "/archive/x", false},
		{"user-triggered fetcher", star, Settings{}, hour, "", chatgpt, "/archive/x", true},
		{"user-triggered fetcher, ignored", star, Settings{IgnoreUserTriggered: true}, hour, "", chatgpt, "/archive/x", false},
		{"POST of a user-triggered fetcher", none, Settings{}, hour, http.MethodPost, chatgpt, "/archive/x", false},
		{"search engine", star, Settings{}, hour, "", googlebot, "/archive/x", false},
		{"ads", star, Settings{Strict: true}, hour, "", adsbot, "/archive/x", false},
		{"search engine, included", star, Settings{}, with(func(l *Limit) { l.Include = []string{"search"} }), "", googlebot, "/archive/x", true},
		{"search engine, included by name", star, Settings{}, with(func(l *Limit) { l.Include = []string{"Googlebot"} }), "", googlebot, "/archive/x", true},
		{"other search engine", star, Settings{}, with(func(l *Limit) { l.Include = []string{"Googlebot"} }), "", bingbot, "/archive/x", false},
		{"ads, search included", star, Settings{Strict: true}, with(func(l *Limit) { l.Include = []string{"search"} }), "", adsbot, "/archive/x", false},
		{"search engine, excepted by name", star, Settings{}, with(func(l *Limit) { l.Include, l.Except = []string{"search"}, []string{"Googlebot"} }), "", googlebot, "/archive/x", false},
		{"excepted purpose", star, Settings{}, with(func(l *Limit) { l.Except = []string{"seo"} }), "", ahrefs, "/archive/x", false},
		{"excepted purpose, included name", star, Settings{}, with(func(l *Limit) { l.Except, l.Include = []string{"seo"}, []string{"AhrefsBot"} }), "", ahrefs, "/archive/x", true},
		{"excepted name", star, Settings{}, with(func(l *Limit) { l.Except = []string{"AhrefsBot"} }), "", ahrefs, "/archive/x", false},
		{"another than the excepted", star, Settings{}, with(func(l *Limit) { l.Except = []string{"seo"} }), "", archive, "/archive/x", true},
	} {
		tt.settings.Limits = []Limit{tt.limit}
		e := newEngineTest(t, tt.file, tt.settings)
		r := Request{Method: tt.method, Target: tt.target, UserAgents: []string{tt.ua}}
		if d := e.decideOn(r); d.Action != Pass {
			t.Errorf("%s: the first request: %v", tt.name, d.Reason)
		}
		d := e.decideOn(r)
		if got := d.Reason == OverLimit; got != tt.held || (d.Action == Throttle) != tt.held {
			t.Errorf("%s: %v, %v, want held %v", tt.name, d.Action, d.Reason, tt.held)
		}
		var check Decision
		bounds := e.origins.of(home).CheckFirst(&Request{Method: tt.method, Target: tt.target, UserAgents: []string{tt.ua}, Time: e.clock.now()}, nil, &check)
		if len(bounds) > 0 != tt.held || check.Action != Pass {
			t.Errorf("%s: CheckFirst finds %d lines, %v", tt.name, len(bounds), check.Reason)
		}
	}
}

// All crawlers together may send N + N/10 requests in every minute, and no fewer
// than N on average. The Retry-After is true.
func TestLimitOfAllCrawlers(t *testing.T) {
	e := newEngineTest(t, site, Settings{Limits: []Limit{{Paths: []string{"/archive/"}, All: every(30, time.Minute), File: "Caddyfile", Line: 7}}})
	random, begin := rand.New(rand.NewPCG(1, 2)), e.clock.now()
	var accepted []time.Time
	for e.clock.now().Sub(begin) < 20*time.Minute {
		ua := fmt.Sprintf("Mozilla/5.0 (compatible; Bot%dbot/1.0; +https://bot.example/)", random.IntN(400))
		switch d := e.decide("/archive/x", ua); {
		case d.Action == Pass:
			accepted = append(accepted, e.clock.now())
		case d.Reason == CrawlDelay:
		case d.Reason != OverLimit || d.Layer != LimitLayer || d.Line != 7 || d.File() != "Caddyfile" || d.RuleText() != "limit /archive/: all 30/1m":
			t.Fatalf("%v, %v %d of %s, %q", d.Reason, d.Layer, d.Line, d.File(), d.RuleText())
		case d.RetryAfter > 2*time.Second:
			t.Fatalf("Retry-After %v", d.RetryAfter)
		}
		if d := e.decide("/other/x", ua); d.Reason == OverLimit {
			t.Fatal("another path is limited")
		}
		e.clock.advance(time.Duration(random.IntN(2000)) * time.Millisecond / 10)
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
	var d Decision
	for d = e.decide("/archive/x", gimage+" xbot/1"); d.Reason != OverLimit; d = e.decide("/archive/x", ahrefs) {
		if d.Reason == CrawlDelay {
			e.clock.advance(d.RetryAfter)
		}
	}
	e.clock.advance(d.RetryAfter)
	if d := e.decide("/archive/x", archive); d.Action != Pass {
		t.Errorf("refused after Retry-After: %v", d.Reason)
	}
}

// Each crawler has its own budget, at all hosts together. Software that anyone
// runs has one for each address.
func TestLimitOfEachCrawler(t *testing.T) {
	e := newEngineTest(t, "", Settings{Limits: []Limit{{Each: every(1, time.Minute)}}})
	from := func(host, client, ua string) Reason {
		var d Decision
		e.Decide(context.Background(), &Request{Target: "/", UserAgents: []string{ua}, Origin: NewOrigin("https", host, 443), Invented: host != "a.test", Client: client, Time: e.clock.now()}, &d)
		return d.Reason
	}
	for _, tt := range []struct {
		host, client, ua string
		want             Reason
	}{
		{"a.test", "192.0.2.1", gptbot, NoRules}, {"b.test", "192.0.2.2", gptbot, OverLimit}, {"a.test", "192.0.2.1", ahrefs, NoRules},
		{"a.test", "192.0.2.1", newbot, NoRules}, {"b.test", "192.0.2.1", newbot, OverLimit},
		{"a.test", "192.0.2.1", wget, NoRules}, {"a.test", "192.0.2.2", wget, NoRules}, {"b.test", "192.0.2.1", wget, OverLimit},
	} {
		if got := from(tt.host, tt.client, tt.ua); got != tt.want && (got != Unbound || tt.want != NoRules) {
			t.Errorf("%s from %s at %s: %v, want %v", tt.ua, tt.client, tt.host, got, tt.want)
		}
	}
}

// Verified search engines that are included, the claims to be one of them, and all
// other crawlers have a budget each. An impostor is one of the others.
func TestPoolsOfALimit(t *testing.T) {
	e := newEngineTest(t, "", Settings{Limits: []Limit{{All: every(1, time.Minute), Each: every(1, time.Minute), Include: []string{"search"}}}})
	google, ahrefs := crawler.Builtin().Lookup("Googlebot"), crawler.Builtin().Lookup("AhrefsBot")
	pool := func(row *crawler.Crawler, state verify.State, n int) throttle.Key {
		s := Subject{Agent: crawler.Agent{Crawler: row, Class: row.Class}, Claim: verify.Result{State: state}}
		return e.limitKey(&Request{}, &s, 0, n)
	}
	others, verified, claims := pool(ahrefs, verify.NoMethod, BoundAll), pool(google, verify.Verified, BoundAll), pool(google, verify.Unverified, BoundAll)
	if others == verified || others == claims || verified == claims {
		t.Error("two of the pools are the same")
	}
	if pool(ahrefs, verify.Verified, BoundAll) != others || pool(google, verify.NoMethod, BoundAll) != claims || pool(google, verify.Impostor, BoundAll) != others {
		t.Error("a crawler has the wrong pool")
	}
	if pool(ahrefs, verify.Verified, BoundEach) == pool(ahrefs, verify.Unverified, BoundEach) {
		t.Error("a claim uses the budget of the verified crawler")
	}
}

// atOnce is a Limit of requests at once.
var atOnceLimit = Limit{Paths: []string{"/archive/"}, AtOnce: 2, EachAtOnce: 1}

// A request takes its place when it is let through, and gives it back with
// Release. A refused one takes none.
func TestRequestsAtOnce(t *testing.T) {
	e := newEngineTest(t, "", Settings{Limits: []Limit{atOnceLimit}})
	enter := func(ua string) (*Request, *Decision) {
		r, d := &Request{Target: "/archive/x", UserAgents: []string{ua}, Origin: home, Client: "192.0.2.1", Time: e.clock.now()}, new(Decision)
		e.Decide(context.Background(), r, d)
		return r, d
	}
	r1, first := enter(gptbot)
	r2, second := enter(ahrefs)
	_, same := enter(gptbot)
	_, third := enter(archive)
	if first.Action != Pass || second.Action != Pass {
		t.Fatalf("%v, %v", first.Reason, second.Reason)
	}
	if same.Reason != OverLimit || third.RuleText() != "limit /archive/: at_once 2" || third.RetryAfter != atOnceRetry {
		t.Errorf("%v; %v by %q, Retry-After %v", same.Reason, third.Reason, third.RuleText(), third.RetryAfter)
	}
	e.Release(r1, first, false)
	e.Release(r1, first, false)
	if _, d := enter(ahrefs); d.RuleText() != "limit /archive/: each_at_once 1" {
		t.Errorf("%v by %q", d.Reason, d.RuleText())
	}
	r3, again := enter(archive)
	if again.Action != Pass {
		t.Errorf("%v after Release", again.Reason)
	}
	e.Release(r2, second, false)
	e.Release(r3, again, false)
	if n := e.memory.flights.total(); n != 0 {
		t.Errorf("%d requests in flight", n)
	}
}

// total returns the number of requests in flight, each for each of its keys.
func (f *flights) total() (n int) {
	for i := range f {
		for _, count := range f[i].count {
			n += count
		}
	}
	return n
}

// Places survive a reload: the new engine counts the requests of the old one.
// Monitor mode counts its own.
func TestRequestsAtOnceAfterAReload(t *testing.T) {
	memory, limiter, clock := NewMemory(16, 16), throttle.NewMemory(16), newClock()
	load := func(s Settings, hosts ...string) *Engine {
		s.Limits = []Limit{{AtOnce: 1}}
		e, err := NewEngine(s, Inline(""), limiter, memory, Config{Now: clock.now, Handler: func() HandlerKey { return HandlerKey{Hosts: hosts} }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		e.origins.Load(context.Background())
		return e
	}
	r := &Request{Target: "/", UserAgents: []string{gptbot}, Origin: home, Time: clock.now()}
	decide := func(e *Engine) *Decision {
		d := new(Decision)
		e.Decide(context.Background(), r, d)
		return d
	}
	before := load(Settings{}, "b.test", "a.test")
	first := decide(before)
	after := load(Settings{}, "a.test", "b.test")
	if d := decide(after); d.Reason != OverLimit {
		t.Errorf("after a reload: %v", d.Reason)
	}
	for _, other := range []*Engine{load(Settings{}, "c.test"), load(Settings{Monitor: true}, "a.test", "b.test")} {
		d := decide(other)
		if d.Action != Pass {
			t.Errorf("another site, or monitor mode: %v", d.Reason)
		}
		other.Release(r, d, false)
	}
	before.Release(r, first, false)
	d := decide(after)
	if d.Action != Pass {
		t.Errorf("after the old request has ended: %v", d.Reason)
	}
	after.Release(r, d, false)
	if n := memory.flights.total(); n != 0 {
		t.Errorf("%d requests in flight", n)
	}
}

// A request that one budget refuses uses none of the others: those of several
// limits, and that of the crawler's Crawl-delay.
func TestRefusedRequestUsesNoBudget(t *testing.T) {
	e := newEngineTest(t, "User-agent: bingbot\nCrawl-delay: 100\n", Settings{Limits: []Limit{
		{Each: every(1, time.Hour), Include: []string{"search"}}, {Paths: []string{"/a"}, All: every(1, time.Minute), Include: []string{"search"}},
	}})
	for i, tt := range []struct {
		ua, target, rule string
	}{
		{bingbot, "/a", ""},
		{googlebot, "/a", "limit /a: all 1/1m"},
		{googlebot, "/", ""},                // the refusal has used nothing of each
		{bingbot, "/b", "limit: each 1/1h"}, // it takes longest
		{gptbot, "/a", ""},                  // another pool
		{ahrefs, "/a", "limit /a: all 1/1m"},
		{ahrefs, "/", ""},
		{archive, "/", ""},
		{archive, "/", "limit: each 1/1h"},
	} {
		if d := e.decide(tt.target, tt.ua); tt.rule != "" && (d.Action != Throttle || d.RuleText() != tt.rule) || tt.rule == "" && d.Action != Pass {
			t.Errorf("request %d: %v, %q, want %q", i, d.Reason, d.RuleText(), tt.rule)
		}
	}

	e = newEngineTest(t, "User-agent: AhrefsBot\nCrawl-delay: 100\n", Settings{Limits: []Limit{{All: every(1, 10*time.Second)}}})
	for i, tt := range []struct{ ua, rule string }{{ahrefs, ""}, {ahrefs, "Crawl-delay: 100"}, {archive, ""}} {
		if d := e.decide("/", tt.ua); d.RuleText() != tt.rule {
			t.Errorf("request %d of a group: %v, %q, want %q", i, d.Reason, d.RuleText(), tt.rule)
		}
		e.clock.advance(time.Duration(1-i) * 10 * time.Second) // the second and third come at the same time
	}
}

// A request that waits for its Crawl-delay is not in flight. If there are too many
// when its time has come, it is refused, and has used no budget.
func TestWaitingRequestIsNotInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := NewEngine(Settings{Wait: time.Minute, Limits: []Limit{{AtOnce: 1, All: every(100, 10*time.Second)}}},
			Inline("User-agent: GPTBot\nCrawl-delay: 10\n"), throttle.NewMemory(100), nil, Config{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { e.Close(); synctest.Wait() }()
		e.origins.Load(context.Background())
		ask := func(ua string) (*Request, *Decision) {
			r, d := &Request{Target: "/", UserAgents: []string{ua}, Origin: home, Time: time.Now()}, new(Decision)
			e.Decide(context.Background(), r, d)
			return r, d
		}
		r, d := ask(gptbot)
		e.Release(r, d, false)
		var waited Decision
		go func() { _, d := ask(gptbot); waited = *d }()
		synctest.Wait()
		_, other := ask(ahrefs)
		if other.Action != Pass {
			t.Errorf("while a request waits, another crawler gets %v by %q", other.Reason, other.RuleText())
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if waited.RuleText() != "limit: at_once 1" {
			t.Errorf("%v by %q", waited.Reason, waited.RuleText())
		}
		e.Release(r, other, false)
		if _, d := ask(gptbot); d.Action != Pass || d.Delay != 0 {
			t.Errorf("%v by %q after %v: the refused request has used budget", d.Reason, d.RuleText(), d.Delay)
		}
	})
}

// A request that is refused after Decide gives back what it has used, also as an
// unverified claim, unless a later one was let through.
func TestRefusedLaterGivesBudgetBack(t *testing.T) {
	e := newEngineTest(t, "User-agent: GPTBot\nCrawl-delay: 100\n", Settings{Limits: []Limit{{All: every(1, time.Hour), Each: every(1, 2*time.Hour)}}})
	r := &Request{Target: "/", UserAgents: []string{gptbot}, Origin: home, Time: e.clock.now()}
	var d Decision
	for range 3 {
		if e.Decide(context.Background(), r, &d); d.Action != Pass {
			t.Fatalf("%v by %q", d.Reason, d.RuleText())
		}
		e.clock.advance(time.Second)
		e.Release(r, &d, true)
		e.Release(r, &d, true)
		r.Time = e.clock.now()
	}
	if d := e.decide("/", gptbot); d.Action != Pass {
		t.Errorf("%v by %q", d.Reason, d.RuleText())
	}
	e.Release(r, &d, true)
	if d := e.decide("/", ahrefs); d.Reason != OverLimit {
		t.Errorf("%v: what another request has used was given back", d.Reason)
	}
}

// Of a limit for the whole site, and of one with patterns, both must be met. A
// replay applies the rates.
func TestLimitInAReplay(t *testing.T) {
	p, err := NewReplay(Settings{Limits: []Limit{{Each: every(1, time.Minute), AtOnce: 1}, {Paths: []string{"/a"}, All: every(1, time.Hour)}}})
	if err != nil {
		t.Fatal(err)
	}
	edition, at := p.Edition(Response{Status: 404}, time.Time{}, nil), newClock()
	var got []string
	for i, target := range []string{"/", "/", "/a", "/a"} {
		var d Decision
		r := &Request{Target: target, UserAgents: []string{gptbot}, Origin: home, Time: at.now()}
		p.Decide(edition, r, &d)
		if !d.Paced() {
			t.Fatalf("%s: %v is final", target, d.Reason)
		}
		p.Pace(r, &d)
		got = append(got, d.RuleText())
		at.advance(time.Duration(1+i*i) * 20 * time.Second)
	}
	if want := []string{"", "limit: each 1/1m", "", "limit /a: all 1/1h"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLimitErrors(t *testing.T) {
	for _, tt := range []struct {
		limits []Limit
		err    string
	}{
		{[]Limit{{Paths: []string{"archive/"}, AtOnce: 1}}, "must start with /"},
		{make([]Limit, MaxLimits+1), "at most 7"},
	} {
		if _, err := (Settings{Limits: tt.limits}).Rules(Response{}); err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%v: %v", tt.limits, err)
		}
	}
}
