package limits

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
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

// site is a site with limits.
type site struct {
	*enforce.Engine
	set   *Set
	clock *fake.Clock
}

// newSite returns a site with a robots.txt.
func newSite(t testing.TB, file string, settings judge.Settings, list ...Limit) *site {
	return newSiteAt(t, file, settings, nil, throttle.NewMemory(1000), new(Turns), fake.NewClock(), list...)
}

func newSiteAt(t testing.TB, file string, settings judge.Settings, hosts []string, limiter throttle.Limiter, turns *Turns, clock *fake.Clock, list ...Limit) *site {
	t.Helper()
	settings.StepBudgets = true
	e, err := enforce.NewEngine(settings, origins.Inline(file), limiter, nil, origins.Config{
		Refresh: 24 * time.Hour, Now: clock.Now, Handler: func() origins.HandlerKey { return origins.HandlerKey{Hosts: hosts} },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	e.Origins().Load(context.Background())
	set, err := New(list, func() []string { return hosts }, turns)
	if err != nil {
		t.Fatal(err)
	}
	return &site{e, set, clock}
}

// enter decides on a request, as a step does. The caller ends it.
func (s *site) enter(r *judge.Request, d *judge.Decision) *Request {
	var c judge.Client
	s.Identify(&c, r, s.Resolve(context.Background(), r))
	c.Judge(d)
	q := s.set.Enter(r, d)
	s.Pace(context.Background(), r, d, q.Uses())
	if d.Action != judge.Pass {
		q.Withdraw()
	}
	return q
}

// request returns a request of some User-Agents.
func (s *site) request(target string, agents ...string) *judge.Request {
	return &judge.Request{Target: target, UserAgents: agents, Origin: fake.Home, Client: "192.0.2.1", Time: s.clock.Now()}
}

// decide decides on a request that ends at once.
func (s *site) decide(target string, agents ...string) (d judge.Decision) {
	s.enter(s.request(target, agents...), &d).Leave()
	return d
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
		{"search engine, included", star, judge.Settings{}, with(func(l *Limit) { l.Include = []string{"search"} }), "", fake.Googlebot, "/archive/x", true},
		{"search engine, included by name", star, judge.Settings{}, with(func(l *Limit) { l.Include = []string{"Googlebot"} }), "", fake.Googlebot, "/archive/x", true},
		{"other search engine", star, judge.Settings{}, with(func(l *Limit) { l.Include = []string{"Googlebot"} }), "", fake.Bingbot, "/archive/x", false},
		{"ads, search included", star, judge.Settings{Strict: true}, with(func(l *Limit) { l.Include = []string{"search"} }), "", fake.Adsbot, "/archive/x", false},
		{"search engine, excepted by name", star, judge.Settings{}, with(func(l *Limit) { l.Include, l.Except = []string{"search"}, []string{"Googlebot"} }), "", fake.Googlebot, "/archive/x", false},
		{"excepted purpose", star, judge.Settings{}, with(func(l *Limit) { l.Except = []string{"seo"} }), "", ahrefs, "/archive/x", false},
		{"excepted purpose, included name", star, judge.Settings{}, with(func(l *Limit) { l.Except, l.Include = []string{"seo"}, []string{"AhrefsBot"} }), "", ahrefs, "/archive/x", true},
		{"excepted name", star, judge.Settings{}, with(func(l *Limit) { l.Except = []string{"AhrefsBot"} }), "", ahrefs, "/archive/x", false},
		{"another than the excepted", star, judge.Settings{}, with(func(l *Limit) { l.Except = []string{"seo"} }), "", archive, "/archive/x", true},
	} {
		e := newSite(t, tt.file, tt.settings, tt.limit)
		r, d := e.request(tt.target, tt.ua), new(judge.Decision)
		r.Method = tt.method
		e.enter(r, d).Leave()
		if d.Action != judge.Pass {
			t.Errorf("%s: the first request: %v", tt.name, d.Reason)
		}
		e.enter(r, d).Leave()
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
	e := newSite(t, fake.Site, judge.Settings{}, Limit{Paths: []string{"/archive/"}, All: every(30, time.Minute), File: "Caddyfile", Line: 7})
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
	e := newSite(t, "", judge.Settings{}, Limit{Each: every(1, time.Minute)})
	from := func(host, client, ua string) judge.Reason {
		r, d := e.request("/", ua), new(judge.Decision)
		r.Origin, r.Invented, r.Client = judge.NewOrigin("https", host, 443), host != "a.test", client
		e.enter(r, d).Leave()
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

// Verified search engines that are included, the claims to be one of them, and all
// other crawlers have a budget each. An impostor is one of the others.
func TestPoolsOfALimit(t *testing.T) {
	e := newSite(t, "", judge.Settings{}, Limit{All: every(1, time.Minute), Each: every(1, time.Minute), Include: []string{"search"}})
	google, ahrefs := crawler.Builtin().Lookup("Googlebot"), crawler.Builtin().Lookup("AhrefsBot")
	pool := func(row *crawler.Crawler, state claim.State, n int) throttle.Key {
		by := &judge.Subject{Agent: crawler.Agent{Crawler: row, Class: row.Class}, Claim: claim.Result{State: state}}
		settings := e.Origins().RulesOf(fake.Home).Compiled()
		return e.set.key(new(judge.Request), settings, by, 0, n, roleIn(e.set.rolesIn(settings.Registry)[0], by).poolOf(by))
	}
	others, verified, claims := pool(ahrefs, claim.NoMethod, boundAll), pool(google, claim.Verified, boundAll), pool(google, claim.Unverified, boundAll)
	if others == verified || others == claims || verified == claims {
		t.Error("two of the pools are the same")
	}
	if pool(ahrefs, claim.Verified, boundAll) != others || pool(google, claim.NoMethod, boundAll) != claims || pool(google, claim.Impostor, boundAll) != others {
		t.Error("a crawler has the wrong pool")
	}
	if pool(ahrefs, claim.Verified, boundEach) == pool(ahrefs, claim.Unverified, boundEach) {
		t.Error("a claim uses the budget of the verified crawler")
	}
}

// atOnce is a Limit of requests at once.
var atOnceLimit = Limit{Paths: []string{"/archive/"}, AtOnce: 2, EachAtOnce: 1}

// A request takes its turn when it is let through, until it ends. A refused one takes none.
func TestRequestsAtOnce(t *testing.T) {
	e := newSite(t, "", judge.Settings{}, atOnceLimit)
	enter := func(ua string) (d judge.Decision, q *Request) {
		q = e.enter(e.request("/archive/x", ua), &d)
		return d, q
	}
	first, one := enter(fake.Gptbot)
	second, two := enter(ahrefs)
	same, _ := enter(fake.Gptbot)
	third, _ := enter(archive)
	if first.Action != judge.Pass || second.Action != judge.Pass {
		t.Fatalf("%v, %v", first.Reason, second.Reason)
	}
	if same.Reason != Reason || third.RuleText() != "limit /archive/: at_once 2" || third.RetryAfter != atOnceRetry {
		t.Errorf("%v; %v by %q, Retry-After %v", same.Reason, third.Reason, third.RuleText(), third.RetryAfter)
	}
	one.Withdraw()
	one.Leave()
	if d, _ := enter(ahrefs); d.RuleText() != "limit /archive/: each_at_once 1" {
		t.Errorf("%v by %q", d.Reason, d.RuleText())
	}
	again, three := enter(archive)
	if again.Action != judge.Pass {
		t.Errorf("%v after Leave", again.Reason)
	}
	two.Leave()
	three.Leave()
	if n := e.set.turns.total(); n != 0 {
		t.Errorf("%d requests in flight", n)
	}
}

// total returns the number of requests in flight, each for each of its keys.
func (f *Turns) total() (n int) {
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
	turns, limiter, clock := new(Turns), throttle.NewMemory(16), fake.NewClock()
	load := func(s judge.Settings, hosts ...string) *site {
		return newSiteAt(t, "", s, hosts, limiter, turns, clock, Limit{AtOnce: 1})
	}
	decide := func(e *site) (d judge.Decision, q *Request) {
		q = e.enter(e.request("/", fake.Gptbot), &d)
		return d, q
	}
	before := load(judge.Settings{}, "b.test", "a.test")
	_, first := decide(before)
	after := load(judge.Settings{}, "a.test", "b.test")
	if d, _ := decide(after); d.Reason != Reason {
		t.Errorf("after a reload: %v", d.Reason)
	}
	for _, other := range []*site{load(judge.Settings{}, "c.test"), load(judge.Settings{Monitor: true}, "a.test", "b.test")} {
		d, q := decide(other)
		if d.Action != judge.Pass {
			t.Errorf("another site, or monitor mode: %v", d.Reason)
		}
		q.Leave()
	}
	first.Leave()
	d, q := decide(after)
	if d.Action != judge.Pass {
		t.Errorf("after the old request has ended: %v", d.Reason)
	}
	q.Leave()
	if n := turns.total(); n != 0 {
		t.Errorf("%d requests in flight", n)
	}
}

// A request that one budget refuses uses none of the others: those of several
// limits, and that of the crawler's Crawl-delay.
func TestRefusedRequestUsesNoBudget(t *testing.T) {
	e := newSite(t, "User-agent: bingbot\nCrawl-delay: 100\n", judge.Settings{},
		Limit{Each: every(1, time.Hour), Include: []string{"search"}}, Limit{Paths: []string{"/a"}, All: every(1, time.Minute), Include: []string{"search"}})
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

	e = newSite(t, "User-agent: AhrefsBot\nCrawl-delay: 100\n", judge.Settings{}, Limit{All: every(1, 10*time.Second)})
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
	e := newSite(t, "User-agent: GPTBot\nCrawl-delay: 100\n", judge.Settings{}, Limit{All: every(1, time.Hour), Each: every(1, 2*time.Hour)})
	r := e.request("/", fake.Gptbot)
	var d judge.Decision
	for range 3 {
		q := e.enter(r, &d)
		if d.Action != judge.Pass {
			t.Fatalf("%v by %q", d.Reason, d.RuleText())
		}
		e.clock.Advance(time.Second)
		e.GiveBack(r, &d, q.Uses())
		e.GiveBack(r, &d, q.Uses())
		q.Leave()
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
	set, err := New([]Limit{{Each: every(1, time.Minute), AtOnce: 1}, {Paths: []string{"/a"}, All: every(1, time.Hour)}}, nil, new(Turns))
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
		p.Pace(r, &d, set.Rates(r, &d).Uses())
		got = append(got, d.RuleText())
		at.Advance(time.Duration(1+i*i) * 20 * time.Second)
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
		{make([]Limit, Max+1), "at most 7"},
	} {
		if _, err := New(tt.limits, nil, nil); err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%v: %v", tt.limits, err)
		}
	}
}

// While others come, no crawler holds more than half of the turns, rounded up. Names
// that are neither verified nor known share one half. A crawler that is alone gets all.
func TestNobodyHoldsAllTurns(t *testing.T) {
	e := newSite(t, "User-agent: Named\nDisallow: /private/\n", judge.Settings{}, Limit{AtOnce: 5})
	enter := func(ua string) (passed bool, leave func()) {
		var d judge.Decision
		q := e.enter(e.request("/x", ua), &d)
		return d.Action == judge.Pass, q.Leave
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
		e.set.turns.arrive(throttle.Key{64 * rand.Uint64N(1<<50)}, 1, e.clock.Now().UnixNano())
	}
	e.clock.Advance(otherCame + time.Second)
	e.set.turns.arrive(throttle.Key{0}, 1, e.clock.Now().UnixNano())
	if n := len(e.set.turns[0].came); n != 1 {
		t.Errorf("%d lines are remembered, want the last one", n)
	}
}

// Forty names that a client invents get at most half of what crawlers share while others
// come, and all of it when they are alone.
func TestInventedNamesGetHalf(t *testing.T) {
	e := newSite(t, "User-agent: Named\nDisallow: /private/\n", judge.Settings{}, Limit{All: every(30, time.Minute)})
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

// Each pool of a limit has a name of its own.
func TestNamesOfPools(t *testing.T) {
	e := newSite(t, fake.Site, judge.Settings{}, Limit{All: every(1, time.Hour), AtOnce: 2, Include: []string{"search"}})
	keys, rules := make(map[throttle.Key]string), e.Origins().RulesOf(fake.Home)
	for name, want := range map[string]string{
		"GPTBot": "crawlers", "AhrefsBot": "crawlers", "Googlebot": "search_unverified", "bingbot": "search_unverified",
	} {
		a := e.Agent(name, nil)
		for _, verifiable := range []bool{false, true} {
			for _, b := range e.set.Budgets(rules, &a, verifiable) {
				if b.Sharers != want && !(verifiable && want == "search_unverified" && b.Sharers == "search") {
					t.Errorf("%s: pool %q, want %q", name, b.Sharers, want)
				}
				if other, known := keys[b.Key]; known && other != b.Sharers {
					t.Errorf("%s: a pool of %q and %q", name, other, b.Sharers)
				}
				keys[b.Key] = b.Sharers
			}
		}
	}
	if len(keys) != 6 {
		t.Errorf("%d pools of two lines: %v", len(keys), keys)
	}
	made := e.Agent("MadeUpBot", nil)
	if list := e.set.Budgets(rules, &made, false); len(list) != 3 || list[1].Sharers != "invented" || keys[list[1].Key] != "" {
		t.Errorf("an invented name: %+v", list)
	}
}

// Crawlers that one request names use a budget that they share once.
func TestSeveralCrawlersUseABudgetOnce(t *testing.T) {
	e := newSite(t, "User-agent: *\nDisallow: /x\n", judge.Settings{}, Limit{All: every(11, time.Hour), Each: every(30, time.Hour), AtOnce: 1, EachAtOnce: 1})
	var first, second judge.Decision
	both := e.enter(e.request("/", "GPTBot/1.0 ClaudeBot/1.0", "CCBot/2.0"), &first)
	if n := e.set.turns.total(); first.Action != judge.Pass || n != 5 {
		t.Fatalf("%v, %d in flight; want those of the three crawlers, one of all, and one of those that GPTBot shares", first.Reason, n)
	}
	e.enter(e.request("/", "ClaudeBot/1.0"), &second).Leave()
	if second.RuleText() != "limit: each_at_once 1" {
		t.Errorf("while the first one is in flight: %v by %q", second.Reason, second.RuleText())
	}
	both.Leave()
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
		list = append(list, Limit{Paths: []string{fmt.Sprintf("/*%d", i)}, All: every(100, time.Second), Each: every(100, time.Second)})
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

// Paths of limits hold in every spelling.
func TestSpellingsOfPaths(t *testing.T) {
	e := newSite(t, "", judge.Settings{}, Limit{Paths: []string{"/slow%2Fx"}, All: every(1, time.Hour)})
	for target, held := range map[string]bool{"/slow%2Fx": true, "/./slow%2Fx": true, "//slow%2fx": true, "/slow/x": false} {
		var d judge.Decision
		e.Origins().RulesOf(fake.Home).Check(e.request(target, fake.Gptbot), &d)
		if lines := e.set.Lines(e.request(target, fake.Gptbot), &d); len(lines) > 0 != held {
			t.Errorf("%s: %d lines", target, len(lines))
		}
	}
}

// The keys of budgets are the same in every version: a fleet must not forget.
func TestKeysStay(t *testing.T) {
	hosts := []string{"b.test", "a.test"}
	e := newSiteAt(t, "", judge.Settings{}, hosts, throttle.NewMemory(16), new(Turns), fake.NewClock(),
		Limit{Paths: []string{"/b", "/a"}, Hosts: []string{"a.test"}, All: every(30, time.Minute), Each: every(10, time.Minute)})
	home := judge.Home([]string{"a.test", "b.test"})
	for ua, want := range map[string]throttle.Key{
		fake.Gptbot: {0xb0824c82cdd08a60, 0xbfbe142adfa54e3c}, fake.Newbot: {0xbc322eb5961ca2e9, 0xb008f86a3176215d},
		fake.Wget: {0x1a3aab06666d93e4, 0x333b7aa3ca19e751},
	} {
		r, d := e.request("/a", ua), new(judge.Decision)
		r.Origin = judge.NewOrigin("https", "a.test", 443)
		q := e.enter(r, d)
		var keys []throttle.Key
		for _, u := range q.Uses() {
			keys = append(keys, u.Key)
		}
		q.Leave()
		all := throttle.Key{0xba19df86226f186f, 0xb0d18c5ca1416bb0}
		if !slices.Contains(keys, want.In(home)) || !slices.Contains(keys, all.In(home)) {
			t.Errorf("%.40s: %x", ua, keys)
		}
	}
	if home[0] != 0x36f3bf29fd0ca2d7 || home[1] != 0x1b859f7aca55daba {
		t.Errorf("the home is %x", home)
	}
}
