package enforce

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
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
	hour := judge.Limit{Paths: []string{"/archive/*", "/*?sort="}, All: every(1, time.Hour)}
	with := func(change func(*judge.Limit)) judge.Limit {
		l := hour
		change(&l)
		return l
	}
	const none, star = "", "User-agent: *\nDisallow: /private/\n"
	for _, tt := range []struct {
		name     string
		file     string
		settings judge.Settings
		limit    judge.Limit
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
		{"whole site", star, judge.Settings{}, with(func(l *judge.Limit) { l.Paths = nil }), "", fake.Gptbot, "/x", true},
		{"robots.txt", star, judge.Settings{}, with(func(l *judge.Limit) { l.Paths = nil }), "", fake.Gptbot, "/robots.txt", false},
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
		{"search engine, included", star, judge.Settings{}, with(func(l *judge.Limit) { l.Include = []string{"search"} }), "", fake.Googlebot, "/archive/x", true},
		{"search engine, included by name", star, judge.Settings{}, with(func(l *judge.Limit) { l.Include = []string{"Googlebot"} }), "", fake.Googlebot, "/archive/x", true},
		{"other search engine", star, judge.Settings{}, with(func(l *judge.Limit) { l.Include = []string{"Googlebot"} }), "", fake.Bingbot, "/archive/x", false},
		{"ads, search included", star, judge.Settings{Strict: true}, with(func(l *judge.Limit) { l.Include = []string{"search"} }), "", fake.Adsbot, "/archive/x", false},
		{"search engine, excepted by name", star, judge.Settings{}, with(func(l *judge.Limit) { l.Include, l.Except = []string{"search"}, []string{"Googlebot"} }), "", fake.Googlebot, "/archive/x", false},
		{"excepted purpose", star, judge.Settings{}, with(func(l *judge.Limit) { l.Except = []string{"seo"} }), "", ahrefs, "/archive/x", false},
		{"excepted purpose, included name", star, judge.Settings{}, with(func(l *judge.Limit) { l.Except, l.Include = []string{"seo"}, []string{"AhrefsBot"} }), "", ahrefs, "/archive/x", true},
		{"excepted name", star, judge.Settings{}, with(func(l *judge.Limit) { l.Except = []string{"AhrefsBot"} }), "", ahrefs, "/archive/x", false},
		{"another than the excepted", star, judge.Settings{}, with(func(l *judge.Limit) { l.Except = []string{"seo"} }), "", archive, "/archive/x", true},
	} {
		tt.settings.Limits = []judge.Limit{tt.limit}
		e := newEngineTest(t, tt.file, tt.settings)
		r := judge.Request{Method: tt.method, Target: tt.target, UserAgents: []string{tt.ua}}
		if d := e.decideOn(r); d.Action != judge.Pass {
			t.Errorf("%s: the first request: %v", tt.name, d.Reason)
		}
		d := e.decideOn(r)
		if got := d.Reason == judge.OverLimit; got != tt.held || (d.Action == judge.Throttle) != tt.held {
			t.Errorf("%s: %v, %v, want held %v", tt.name, d.Action, d.Reason, tt.held)
		}
		var check judge.Decision
		bounds := e.origins.RulesOf(fake.Home).CheckFirst(&judge.Request{Method: tt.method, Target: tt.target, UserAgents: []string{tt.ua}, Time: e.clock.Now()}, nil, &check)
		if len(bounds) > 0 != tt.held || check.Action != judge.Pass {
			t.Errorf("%s: CheckFirst finds %d lines, %v", tt.name, len(bounds), check.Reason)
		}
	}
}

// All crawlers together may send N + N/10 requests in every minute, and no fewer
// than N on average. The Retry-After is true.
func TestLimitOfAllCrawlers(t *testing.T) {
	e := newEngineTest(t, fake.Site, judge.Settings{Limits: []judge.Limit{{Paths: []string{"/archive/"}, All: every(30, time.Minute), File: "Caddyfile", Line: 7}}})
	random, begin := rand.New(rand.NewPCG(1, 2)), e.clock.Now()
	var accepted []time.Time
	for e.clock.Now().Sub(begin) < 20*time.Minute {
		ua := fmt.Sprintf("Mozilla/5.0 (compatible; Bot%dbot/1.0; +https://bot.example/)", random.IntN(400))
		switch d := e.decide("/archive/x", ua); {
		case d.Action == judge.Pass:
			accepted = append(accepted, e.clock.Now())
		case d.Reason == judge.CrawlDelay:
		case d.Reason != judge.OverLimit || d.Layer != judge.LimitLayer || d.Line != 7 || d.File() != "Caddyfile" || d.RuleText() != "limit /archive/: all 30/1m":
			t.Fatalf("%v, %v %d of %s, %q", d.Reason, d.Layer, d.Line, d.File(), d.RuleText())
		case d.RetryAfter > 2*time.Second:
			t.Fatalf("Retry-After %v", d.RetryAfter)
		}
		if d := e.decide("/other/x", ua); d.Reason == judge.OverLimit {
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
	for d = e.decide("/archive/x", fake.Gimage+" xbot/1"); d.Reason != judge.OverLimit; d = e.decide("/archive/x", ahrefs) {
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
	e := newEngineTest(t, "", judge.Settings{Limits: []judge.Limit{{Each: every(1, time.Minute)}}})
	from := func(host, client, ua string) judge.Reason {
		var d judge.Decision
		e.Decide(context.Background(), &judge.Request{Target: "/", UserAgents: []string{ua}, Origin: judge.NewOrigin("https", host, 443), Invented: host != "a.test", Client: client, Time: e.clock.Now()}, &d)
		return d.Reason
	}
	for _, tt := range []struct {
		host, client, ua string
		want             judge.Reason
	}{
		{"a.test", "192.0.2.1", fake.Gptbot, judge.NoRules}, {"b.test", "192.0.2.2", fake.Gptbot, judge.OverLimit}, {"a.test", "192.0.2.1", ahrefs, judge.NoRules},
		{"a.test", "192.0.2.1", fake.Newbot, judge.NoRules}, {"b.test", "192.0.2.1", fake.Newbot, judge.OverLimit},
		{"a.test", "192.0.2.1", fake.Wget, judge.NoRules}, {"a.test", "192.0.2.2", fake.Wget, judge.NoRules}, {"b.test", "192.0.2.1", fake.Wget, judge.OverLimit},
	} {
		if got := from(tt.host, tt.client, tt.ua); got != tt.want && (got != judge.Unbound || tt.want != judge.NoRules) {
			t.Errorf("%s from %s at %s: %v, want %v", tt.ua, tt.client, tt.host, got, tt.want)
		}
	}
}

// Verified search engines that are included, the claims to be one of them, and all
// other crawlers have a budget each. An impostor is one of the others.
func TestPoolsOfALimit(t *testing.T) {
	const all, each = 0, 1 // indices of judge.CompiledLimit.Bounds
	e := newEngineTest(t, "", judge.Settings{Limits: []judge.Limit{{All: every(1, time.Minute), Each: every(1, time.Minute), Include: []string{"search"}}}})
	google, ahrefs := crawler.Builtin().Lookup("Googlebot"), crawler.Builtin().Lookup("AhrefsBot")
	pool := func(row *crawler.Crawler, state claim.State, n int) throttle.Key {
		s := judge.Subject{Agent: crawler.Agent{Crawler: row, Class: row.Class}, Claim: claim.Result{State: state}}
		return e.limitKey(&judge.Request{}, &s, 0, n)
	}
	others, verified, claims := pool(ahrefs, claim.NoMethod, all), pool(google, claim.Verified, all), pool(google, claim.Unverified, all)
	if others == verified || others == claims || verified == claims {
		t.Error("two of the pools are the same")
	}
	if pool(ahrefs, claim.Verified, all) != others || pool(google, claim.NoMethod, all) != claims || pool(google, claim.Impostor, all) != others {
		t.Error("a crawler has the wrong pool")
	}
	if pool(ahrefs, claim.Verified, each) == pool(ahrefs, claim.Unverified, each) {
		t.Error("a claim uses the budget of the verified crawler")
	}
}

// atOnce is a Limit of requests at once.
var atOnceLimit = judge.Limit{Paths: []string{"/archive/"}, AtOnce: 2, EachAtOnce: 1}

// A request takes its place when it is let through, and gives it back with
// Release. A refused one takes none.
func TestRequestsAtOnce(t *testing.T) {
	e := newEngineTest(t, "", judge.Settings{Limits: []judge.Limit{atOnceLimit}})
	enter := func(ua string) (*judge.Request, *judge.Decision) {
		r, d := &judge.Request{Target: "/archive/x", UserAgents: []string{ua}, Origin: fake.Home, Client: "192.0.2.1", Time: e.clock.Now()}, new(judge.Decision)
		e.Decide(context.Background(), r, d)
		return r, d
	}
	r1, first := enter(fake.Gptbot)
	r2, second := enter(ahrefs)
	_, same := enter(fake.Gptbot)
	_, third := enter(archive)
	if first.Action != judge.Pass || second.Action != judge.Pass {
		t.Fatalf("%v, %v", first.Reason, second.Reason)
	}
	if same.Reason != judge.OverLimit || third.RuleText() != "limit /archive/: at_once 2" || third.RetryAfter != atOnceRetry {
		t.Errorf("%v; %v by %q, Retry-After %v", same.Reason, third.Reason, third.RuleText(), third.RetryAfter)
	}
	e.Release(r1, first, false)
	e.Release(r1, first, false)
	if _, d := enter(ahrefs); d.RuleText() != "limit /archive/: each_at_once 1" {
		t.Errorf("%v by %q", d.Reason, d.RuleText())
	}
	r3, again := enter(archive)
	if again.Action != judge.Pass {
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
	memory, limiter, clock := NewMemory(16, 16), throttle.NewMemory(16), fake.NewClock()
	load := func(s judge.Settings, hosts ...string) *Engine {
		s.Limits = []judge.Limit{{AtOnce: 1}}
		e, err := NewEngine(s, origins.Inline(""), limiter, memory, origins.Config{Now: clock.Now, Handler: func() origins.HandlerKey { return origins.HandlerKey{Hosts: hosts} }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		e.origins.Load(context.Background())
		return e
	}
	r := &judge.Request{Target: "/", UserAgents: []string{fake.Gptbot}, Origin: fake.Home, Time: clock.Now()}
	decide := func(e *Engine) *judge.Decision {
		d := new(judge.Decision)
		e.Decide(context.Background(), r, d)
		return d
	}
	before := load(judge.Settings{}, "b.test", "a.test")
	first := decide(before)
	after := load(judge.Settings{}, "a.test", "b.test")
	if d := decide(after); d.Reason != judge.OverLimit {
		t.Errorf("after a reload: %v", d.Reason)
	}
	for _, other := range []*Engine{load(judge.Settings{}, "c.test"), load(judge.Settings{Monitor: true}, "a.test", "b.test")} {
		d := decide(other)
		if d.Action != judge.Pass {
			t.Errorf("another site, or monitor mode: %v", d.Reason)
		}
		other.Release(r, d, false)
	}
	before.Release(r, first, false)
	d := decide(after)
	if d.Action != judge.Pass {
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
	e := newEngineTest(t, "User-agent: bingbot\nCrawl-delay: 100\n", judge.Settings{Limits: []judge.Limit{
		{Each: every(1, time.Hour), Include: []string{"search"}}, {Paths: []string{"/a"}, All: every(1, time.Minute), Include: []string{"search"}},
	}})
	for i, tt := range []struct {
		ua, target, rule string
	}{
		{fake.Bingbot, "/a", ""},
		{fake.Googlebot, "/a", "limit /a: all 1/1m"},
		{fake.Googlebot, "/", ""},                // the refusal has used nothing of each
		{fake.Bingbot, "/b", "limit: each 1/1h"}, // it takes longest
		{fake.Gptbot, "/a", ""},                  // another pool
		{ahrefs, "/a", "limit /a: all 1/1m"},
		{ahrefs, "/", ""},
		{archive, "/", ""},
		{archive, "/", "limit: each 1/1h"},
	} {
		if d := e.decide(tt.target, tt.ua); tt.rule != "" && (d.Action != judge.Throttle || d.RuleText() != tt.rule) || tt.rule == "" && d.Action != judge.Pass {
			t.Errorf("request %d: %v, %q, want %q", i, d.Reason, d.RuleText(), tt.rule)
		}
	}

	e = newEngineTest(t, "User-agent: AhrefsBot\nCrawl-delay: 100\n", judge.Settings{Limits: []judge.Limit{{All: every(1, 10*time.Second)}}})
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
	e := newEngineTest(t, "User-agent: GPTBot\nCrawl-delay: 100\n", judge.Settings{Limits: []judge.Limit{{All: every(1, time.Hour), Each: every(1, 2*time.Hour)}}})
	r := &judge.Request{Target: "/", UserAgents: []string{fake.Gptbot}, Origin: fake.Home, Time: e.clock.Now()}
	var d judge.Decision
	for range 3 {
		if e.Decide(context.Background(), r, &d); d.Action != judge.Pass {
			t.Fatalf("%v by %q", d.Reason, d.RuleText())
		}
		e.clock.Advance(time.Second)
		e.Release(r, &d, true)
		e.Release(r, &d, true)
		r.Time = e.clock.Now()
	}
	if d := e.decide("/", fake.Gptbot); d.Action != judge.Pass {
		t.Errorf("%v by %q", d.Reason, d.RuleText())
	}
	e.Release(r, &d, true)
	if d := e.decide("/", ahrefs); d.Reason != judge.OverLimit {
		t.Errorf("%v: what another request has used was given back", d.Reason)
	}
}

// Of a limit for the whole site, and of one with patterns, both must be met. A
// replay applies the rates.
func TestLimitInAReplay(t *testing.T) {
	p, err := NewReplay(judge.Settings{Limits: []judge.Limit{{Each: every(1, time.Minute), AtOnce: 1}, {Paths: []string{"/a"}, All: every(1, time.Hour)}}})
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
		p.Pace(r, &d)
		got = append(got, d.RuleText())
		at.Advance(time.Duration(1+i*i) * 20 * time.Second)
	}
	if want := []string{"", "limit: each 1/1m", "", "limit /a: all 1/1h"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLimitErrors(t *testing.T) {
	for _, tt := range []struct {
		limits []judge.Limit
		err    string
	}{
		{[]judge.Limit{{Paths: []string{"archive/"}, AtOnce: 1}}, "must start with /"},
		{make([]judge.Limit, judge.MaxLimits+1), "at most 7"},
	} {
		if _, err := (judge.Settings{Limits: tt.limits}).Rules(judge.Response{}); err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%v: %v", tt.limits, err)
		}
	}
}

// While others come, no crawler holds more than half of the turns, rounded up. Names
// that are neither verified nor known share one half. A crawler that is alone gets all.
func TestNobodyHoldsAllTurns(t *testing.T) {
	e := newEngineTest(t, "User-agent: Named\nDisallow: /private/\n", judge.Settings{Limits: []judge.Limit{{AtOnce: 5}}})
	enter := func(ua string) (passed bool, leave func()) {
		r, d := &judge.Request{Target: "/x", UserAgents: []string{ua}, Origin: fake.Home, Client: "192.0.2.1", Time: e.clock.Now()}, new(judge.Decision)
		e.Decide(context.Background(), r, d)
		return d.Action == judge.Pass, func() { e.Release(r, d, false) }
	}
	bot := func(n int) string {
		return fmt.Sprintf("Mozilla/5.0 (compatible; Gather%dbot/1.0; +https://gather.example/)", n)
	}
	fill := func(ua func(int) string) (n int) {
		for i := range 6 {
			if passed, leave := enter(ua(i)); passed {
				defer leave()
				n++
			}
		}
		return n
	}
	same := func(ua string) func(int) string { return func(int) string { return ua } }
	if n := fill(same(fake.Gptbot)); n != 5 {
		t.Errorf("alone, a crawler gets %d of 5", n)
	}
	_, leave := enter(ahrefs)
	leave()
	e.clock.Advance(-10 * time.Minute)
	if n := fill(same(fake.Gptbot)); n != 5 {
		t.Errorf("alone, after the clock was set back, a crawler gets %d of 5", n)
	}
	e.clock.Advance(10 * time.Minute)
	_, leave = enter(ahrefs)
	leave()
	for name, tt := range map[string]struct {
		ua   func(int) string
		most int
	}{"a known crawler": {same(fake.Gptbot), 3}, "one that robots.txt names": {same("Named/1.0"), 3}, "invented names": {bot, 3}} {
		if n := fill(tt.ua); n != tt.most {
			t.Errorf("%s gets %d of 5 while another comes, want %d", name, n, tt.most)
		}
	}
	for i := range 6 {
		if passed, leave := enter(bot(i)); passed {
			defer leave()
		}
	}
	if n := fill(same(ahrefs)); n != 2 {
		t.Errorf("beside invented names that hold half, a crawler gets %d of 5, want 2", n)
	}
	e.clock.Advance(otherCame + time.Second)
	if n := fill(same(fake.Gptbot)); n != 2 {
		t.Errorf("%d of the 2 free ones", n)
	}
	for range 1000 { // limits of earlier configurations
		e.memory.flights.arrive(throttle.Key{64 * rand.Uint64N(1<<50)}, 1, e.clock.Now().UnixNano())
	}
	e.clock.Advance(otherCame + time.Second)
	e.memory.flights.arrive(throttle.Key{0}, 1, e.clock.Now().UnixNano())
	if n := len(e.memory.flights[0].came); n != 1 {
		t.Errorf("%d lines are remembered, want the last one", n)
	}
}

// Forty names that a client invents get at most half of what crawlers share while others
// come, and all of it when they are alone.
func TestInventedNamesGetHalf(t *testing.T) {
	e := newEngineTest(t, "User-agent: Named\nDisallow: /private/\n", judge.Settings{Limits: []judge.Limit{{All: every(30, time.Minute)}}})
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
