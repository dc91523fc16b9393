package enforce

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// User-Agents as they are really sent.
const (
	chrome    = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	safari    = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1"
	gptbot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	gimage    = "Googlebot-Image/1.0"
	bingbot   = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36"
	adsbot    = "AdsBot-Google (+http://www.google.com/adsbot.html)"
	chatgpt   = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ChatGPT-User/1.0; +https://openai.com/bot)"
	newbot    = "Mozilla/5.0 (compatible; NewThingBot/0.1; +https://newthing.example/bot)"
	curl      = "curl/8.5.0"
	wget      = "Wget/1.21.3"
)

// engineTest is an engine on a fixed file and clock.
type engineTest struct {
	*Engine
	clock *clock
}

func newEngineTest(t testing.TB, file string, rules Rules) *engineTest {
	t.Helper()
	limiter := throttle.NewMemory(1000)
	c := newClock()
	e, err := NewEngine(rules, Inline(file), limiter, Config{Refresh: 24 * time.Hour, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(); e.policies.running.Wait(); limiter.Close() })
	e.policies.Load(context.Background())
	return &engineTest{e, c}
}

func (e *engineTest) decide(target string, agents ...string) Decision {
	var d Decision
	e.Decide(context.Background(), &Request{Target: target, UserAgents: agents, Origin: home, Client: "192.0.2.1", Time: e.clock.now()}, &d)
	return d
}

const site = `User-agent: *
Disallow: /private/
Allow: /private/press/
Crawl-delay: 5

User-agent: Googlebot
Disallow: /no-google/

User-agent: GPTBot
Disallow: /

User-agent: FriendOfTheSite
Disallow: /friends/

User-agent: bingbot
Crawl-delay: 10
`

func TestWhoIsBoundByWhat(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rules  Rules
		ua     string
		target string
		action Action
		reason Reason
		group  string
	}{
		{"a browser is bound by nothing", Rules{}, chrome, "/private/x", Pass, Person, ""},
		{"also with everything switched on", Rules{Strict: true, HTTPClients: true}, safari, "/private/x", Pass, Person, ""},
		{"a crawler is bound by its group alone", Rules{}, googlebot, "/private/x", Pass, Allowed, "Googlebot"},
		{"and denied by it", Rules{}, googlebot, "/no-google/", Deny, Disallowed, "Googlebot"},
		{"a crawler falls to the group of its second token", Rules{}, gimage, "/no-google/", Deny, Disallowed, "Googlebot"},
		{"a crawler without a group falls to *", Rules{}, "CCBot/2.0 (https://commoncrawl.org/faq/)", "/private/x", Deny, Disallowed, "*"},
		{"an Allow that is longer wins", Rules{}, newbot, "/private/press/kit", Pass, Allowed, "*"},
		{"an unknown crawler falls to *", Rules{}, newbot, "/private/x", Deny, Disallowed, "*"},
		{"a crawler that documents that it ignores * is free", Rules{}, adsbot, "/private/x", Pass, Unbound, ""},
		{"unless strict", Rules{Strict: true}, adsbot, "/private/x", Deny, Disallowed, "*"},
		{"a user-triggered fetcher is bound by *", Rules{}, chatgpt, "/private/x", Deny, Disallowed, "*"},
		{"unless switched off", Rules{IgnoreUserTriggered: true}, chatgpt, "/private/x", Pass, Unbound, ""},
		{"an HTTP library is free", Rules{}, curl, "/private/x", Pass, Unbound, ""},
		{"unless switched on", Rules{HTTPClients: true}, curl, "/private/x", Deny, Disallowed, "*"},
		{"no User-Agent is a library's", Rules{}, "", "/private/x", Pass, Unbound, ""},
		{"and held to * as one", Rules{HTTPClients: true}, "", "/private/x", Deny, Disallowed, "*"},
		{"an offline browser is bound by *", Rules{}, wget, "/private/x", Deny, Disallowed, "*"},
		{"whatever the file names counts", Rules{}, "FriendOfTheSite/3.1", "/friends/", Deny, Disallowed, "FriendOfTheSite"},
		{"the exempt are free by name", Rules{Exempt: []Exemption{{Name: "gptbot"}}}, gptbot, "/", Pass, Exempt, ""},
		{"and by token", Rules{Exempt: []Exemption{{Name: "NewThingBot"}}}, newbot, "/private/x", Pass, Exempt, ""},
		{"exempt paths are free", Rules{ExemptPaths: []string{"/.well-known/*"}}, gptbot, "/.well-known/acme", Pass, ExemptPath, ""},
		{"but not by a detour", Rules{ExemptPaths: []string{"/.well-known/*"}}, gptbot, "/.well-known/../x", Deny, Disallowed, "GPTBot"},
		{"robots.txt is free", Rules{}, gptbot, "/robots.txt", Pass, ExemptPath, ""},
		{"and is no password", Rules{}, gptbot, "/robots.txt/../private/", Deny, Disallowed, "GPTBot"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newEngineTest(t, site, tt.rules).decide(tt.target, tt.ua)
			if d.Action != tt.action || d.Reason != tt.reason || d.GroupToken() != tt.group {
				t.Errorf("%v, %v, group %q; want %v, %v, %q", d.Action, d.Reason, d.GroupToken(), tt.action, tt.reason, tt.group)
			}
		})
	}
}

func TestADecisionNamesTheLine(t *testing.T) {
	e := newEngineTest(t, site, Rules{})
	if d := e.decide("/private/x", newbot); d.Line != 2 || d.Rule.Pattern != "/private/" {
		t.Errorf("line %d, rule %v; want line 2, /private/", d.Line, d.Rule)
	}
	e.decide("/", bingbot)
	if d := e.decide("/", bingbot); d.Action != Throttle || d.Line != 16 {
		t.Errorf("%v by line %d; want throttle by line 16", d.Action, d.Line)
	}
}

func TestSeveralUserAgentsAreAllRead(t *testing.T) {
	e := newEngineTest(t, site, Rules{})
	if d := e.decide("/x", chrome, gptbot); d.Action != Deny || d.Crawler() != "GPTBot" {
		t.Errorf("%v for %s; want a denial for GPTBot", d.Action, d.Crawler())
	}
	if d := e.decide("/x", googlebot, chrome); d.Action != Pass || d.Crawler() != "Googlebot" {
		t.Errorf("%v for %s", d.Action, d.Crawler())
	}
	if d := e.decide("/x", "Mozilla/5.0 (compatible; Googlebot/2.1; GPTBot/1.2)"); d.Action != Deny {
		t.Errorf("%v where one of two crawlers in a User-Agent is denied", d.Action)
	}
}

// A polite crawler is not exact, and a refused request uses no budget.
func TestCrawlDelay(t *testing.T) {
	e := newEngineTest(t, site, Rules{})
	for i := range 20 {
		if d := e.decide("/", bingbot); d.Action != Pass {
			t.Fatalf("request %d after its delay: %v", i, d.Reason)
		}
		d := e.decide("/", bingbot)
		if d.Action != Throttle || d.Reason != CrawlDelay {
			t.Fatalf("a second request at once: %v, %v", d.Action, d.Reason)
		}
		e.clock.advance(10 * time.Second)
	}
	d := e.decide("/", bingbot)
	d = e.decide("/", bingbot)
	e.clock.advance(d.RetryAfter)
	if d := e.decide("/", bingbot); d.Action != Pass {
		t.Errorf("refused after Retry-After: %v", d.Reason)
	}
}

func TestBudgetsAreOnesOwn(t *testing.T) {
	e := newEngineTest(t, site, Rules{HTTPClients: true})
	for _, ua := range []string{newbot, "OtherThingBot/1.0", "CCBot/2.0", bingbot} {
		if d := e.decide("/", ua); d.Action != Pass {
			t.Errorf("%s pays for another crawler: %v", ua, d.Reason)
		}
	}
	ask := func(client string) Action {
		var d Decision
		e.Decide(context.Background(), &Request{Target: "/", UserAgents: []string{curl}, Origin: home, Client: client, Time: e.clock.now()}, &d)
		return d.Action
	}
	for _, c := range []string{"192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8:0:1::1"} {
		if ask(c) != Pass {
			t.Errorf("curl at %s pays for another address", c)
		}
	}
	for _, c := range []string{"192.0.2.1", "2001:db8::2", "::ffff:192.0.2.2"} {
		if ask(c) != Throttle {
			t.Errorf("curl at %s has a second budget", c)
		}
	}
	if d := e.decide("/private/x", bingbot); d.Action != Throttle {
		t.Errorf("bingbot: %v", d.Action)
	}
}

// A 429 there costs the site its place in the index.
func TestCrawlersWithoutCrawlDelayAreHeldToTheirOwnGroupOnly(t *testing.T) {
	const file = "User-agent: *\nCrawl-delay: 5\nUser-agent: Amazonbot\nCrawl-delay: 5\n"
	for _, tt := range []struct {
		ua     string
		strict bool
		want   Action
	}{
		{googlebot, false, Pass},
		{googlebot, true, Throttle},
		{"Mozilla/5.0 (compatible; Amazonbot/0.1; +https://developer.amazon.com/support/amazonbot)", false, Throttle},
		{"CCBot/2.0", false, Throttle},
	} {
		e := newEngineTest(t, file, Rules{Strict: tt.strict})
		e.decide("/", tt.ua)
		if d := e.decide("/", tt.ua); d.Action != tt.want {
			t.Errorf("%s, strict %v: %v, want %v", tt.ua, tt.strict, d.Action, tt.want)
		}
	}
}

// While no robots.txt was read, crawlers are asked to come back, and all others
// are let through at once.
func TestWithoutAPolicyCrawlersComeBackLater(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rules  Rules
		ua     string
		target string
		action Action
		reason Reason
	}{
		{"a crawler", Rules{}, gptbot, "/x", Throttle, PolicyPending},
		{"an unknown crawler", Rules{}, newbot, "/x", Throttle, PolicyPending},
		{"a crawler that ignores *, which a group could name", Rules{}, adsbot, "/x", Throttle, PolicyPending},
		{"a person", Rules{}, chrome, "/x", Pass, Person},
		{"a library", Rules{}, curl, "/x", Pass, NoPolicy},
		{"a library that is bound by *", Rules{HTTPClients: true}, curl, "/x", Throttle, PolicyPending},
		{"who is exempt", Rules{Exempt: []Exemption{{Name: "GPTBot"}}}, gptbot, "/x", Pass, Exempt},
		{"an exempt path", Rules{ExemptPaths: []string{"/.well-known/*"}}, gptbot, "/.well-known/x", Pass, ExemptPath},
		{"the robots.txt", Rules{}, gptbot, "/robots.txt", Pass, ExemptPath},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := &fakeSource{block: make(chan struct{})}
			c := newClock()
			e, err := NewEngine(tt.rules, src, throttle.NewMemory(16), Config{Now: c.now})
			if err != nil {
				t.Fatal(err)
			}
			defer e.policies.running.Wait()
			defer e.Close()
			defer close(src.block)
			ctx, gone := context.WithCancel(context.Background())
			gone() // so that nobody waits
			var d Decision
			e.Decide(ctx, &Request{Target: tt.target, UserAgents: []string{tt.ua}, Origin: home, Time: c.now()}, &d)
			if d.Action != tt.action || d.Reason != tt.reason {
				t.Errorf("%v, %v; want %v, %v", d.Action, d.Reason, tt.action, tt.reason)
			}
			if tt.action == Throttle && d.RetryAfter != 5*time.Second {
				t.Errorf("to come back in %v", d.RetryAfter)
			}
		})
	}
}

// A source that fails under on_error deny refuses crawlers for the time being.
func TestAFailingSourceRefusesCrawlersWhereTheOperatorWantsIt(t *testing.T) {
	src := &fakeSource{shared: true}
	src.set(500, "")
	e, err := NewEngine(Rules{}, src, throttle.NewMemory(16), Config{DenyFailed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.policies.Load(context.Background())
	for ua, want := range map[string]Reason{gptbot: Unavailable, adsbot: Unavailable, chrome: Person, curl: NoPolicy} {
		var d Decision
		e.Decide(context.Background(), &Request{Target: "/x", UserAgents: []string{ua}, Origin: home, Time: time.Now()}, &d)
		if d.Reason != want || (want == Unavailable) != (d.Action == Deny && d.RetryAfter > 0) {
			t.Errorf("%.40s: %v, %v", ua, d.Action, d.Reason)
		}
	}
}

// No field hides a crawler, and no browser sends more than a few.
func TestAllUserAgentFieldsAreRead(t *testing.T) {
	e := newEngineTest(t, site, Rules{})
	agents := slices.Repeat([]string{chrome}, maxUserAgents)
	if d := e.decide("/private/x", agents...); d.Action != Pass {
		t.Errorf("%d browsers: %v", len(agents), d.Reason)
	}
	agents[maxUserAgents-1] = gptbot
	if d := e.decide("/x", agents...); d.Action != Deny || d.Crawler() != "GPTBot" {
		t.Errorf("the last field: %v for %s", d.Action, d.Crawler())
	}
	agents = slices.Repeat([]string{chrome}, maxUserAgents+1)
	if d := e.decide("/private/x", agents...); d.Action != Deny || d.GroupToken() != "*" {
		t.Errorf("more fields than are read: %v by %s", d.Action, d.GroupToken())
	}
}

// On hosts that clients can make up, a crawler gets a budget of its own only
// once it has read the host's robots.txt.
func TestInventedHostsShareOneBudget(t *testing.T) {
	e := newEngineTest(t, site, Rules{})
	ask := func(host, site, ua, target string, invented bool) Decision {
		var d Decision
		e.Decide(context.Background(), &Request{
			Target: target, UserAgents: []string{ua}, Origin: NewOrigin("https", host, 443), Time: e.clock.now(), Invented: invented, Site: site,
		}, &d)
		return d
	}
	if d := ask("a.test", "*.test", bingbot, "/", true); d.Action != Pass {
		t.Fatalf("the first request: %v", d.Reason)
	}
	if d := ask("b.test", "*.test", bingbot, "/", true); d.Action != Throttle {
		t.Errorf("the second host: %v", d.Action)
	}
	if d := ask("b.test", "", bingbot, "/", false); d.Action != Pass {
		t.Errorf("a host that the site names: %v", d.Action)
	}
	ask("c.test", "*.test", bingbot, "/robots.txt", true)
	if d := ask("c.test", "*.test", bingbot, "/", true); d.Action != Pass {
		t.Errorf("after reading the robots.txt: %v", d.Action)
	}
	e.clock.advance(25 * time.Hour)
	ask("a.test", "*.test", bingbot, "/", true)
	if d := ask("c.test", "*.test", bingbot, "/", true); d.Action != Throttle {
		t.Errorf("a day after reading the robots.txt: %v", d.Action)
	}
}

// Two handlers on one request hold it to the same pace once, and to different
// paces each.
func TestARequestIsHeldToOnePaceOnce(t *testing.T) {
	e := newEngineTest(t, site, Rules{})
	other := newEngineTest(t, "User-agent: *\nCrawl-delay: 30\n", Rules{})
	request := func(taken *throttle.Terms) *Request {
		return &Request{Target: "/", UserAgents: []string{bingbot}, Origin: home, Time: e.clock.now(), Taken: taken}
	}
	var first, second Decision
	e.Decide(context.Background(), request(nil), &first)
	if e.Decide(context.Background(), request(first.Terms), &second); second.Action != Pass {
		t.Errorf("the second handler: %v", second.Reason)
	}
	for _, want := range []Action{Pass, Throttle} {
		if other.Decide(context.Background(), request(first.Terms), &second); second.Action != want {
			t.Errorf("another pace: %v, want %v", second.Action, want)
		}
	}
}

// Monitor mode takes nothing of the budget that an enforcing handler holds.
func TestMonitorHasBudgetsOfItsOwn(t *testing.T) {
	limiter := throttle.NewMemory(100)
	var engines []*Engine
	for _, monitor := range []bool{true, false} {
		e, err := NewEngine(Rules{Monitor: monitor}, Inline(site), limiter, Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		e.policies.Load(context.Background())
		engines = append(engines, e)
	}
	now := time.Now()
	for _, want := range []Action{Pass, Throttle} {
		for i, e := range engines {
			var d Decision
			if e.Decide(context.Background(), &Request{Target: "/", UserAgents: []string{bingbot}, Origin: home, Time: now}, &d); d.Action != want {
				t.Errorf("engine %d: %v, want %v", i, d.Action, want)
			}
		}
	}
}

func TestRulesThatAreWrongAreNamed(t *testing.T) {
	for _, p := range []string{"", "private/", "/a b", "/a#b", "/a\nDisallow: /"} {
		if _, err := NewEngine(Rules{ExemptPaths: []string{p}}, Inline(""), nil, Config{}); err == nil {
			t.Errorf("the exempt path %q is taken", p)
		}
	}
}

func TestControlTokensAreNeverAppliedToTheParent(t *testing.T) {
	e := newEngineTest(t, "User-agent: Google-Extended\nDisallow: /\n", Rules{})
	if d := e.decide("/", googlebot); d.Action != Pass {
		t.Errorf("Googlebot: %v", d.Reason)
	}
	if got := e.policies.Load(context.Background()).Unenforceable(); len(got) != 1 || got[0] != "Google-Extended" {
		t.Errorf("Unenforceable = %q", got)
	}
}

func FuzzDecide(f *testing.F) {
	f.Add(chrome, "/private/x", "example.com", site)
	f.Add(gptbot, "http://u@h/%70rivate/..%2f", "EXAMPLE.com.:443", "User-agent: *\nDisallow: /*$\nCrawl-delay: 1e9")
	f.Fuzz(func(t *testing.T, ua, target, host, file string) {
		limiter := throttle.NewMemory(16)
		defer limiter.Close()
		e, err := NewEngine(Rules{HTTPClients: true}, Inline(file), limiter, Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		now := time.Now()
		req := &Request{Target: target, UserAgents: []string{ua}, Origin: NewOrigin("https", host, 443), Time: now}
		e.policies.Load(context.Background())
		var d Decision
		e.Decide(context.Background(), req, &d)
		switch {
		case d.Action == Throttle && d.RetryAfter <= 0:
			t.Errorf("throttled, and to come back in %v", d.RetryAfter)
		case d.Action == Deny && (d.Group == nil || d.Line == 0):
			t.Error("denied by nothing")
		case d.Action != Pass && d.Agent.Class == crawler.Person:
			t.Error("a person was stopped")
		}
		req.UserAgents = []string{chrome}
		if e.Decide(context.Background(), req, &d); d.Action != Pass {
			t.Errorf("a browser was stopped: %v by line %d", d.Reason, d.Line)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	e := newEngineTest(b, site+"User-agent: FreeBot\nDisallow: /private/\n", Rules{ExemptPaths: []string{"/.well-known/*"}})
	for _, bb := range []struct{ name, ua, target string }{
		{"browser", chrome, "/articles/2026/some-article.html"},
		{"crawler_allowed", googlebot, "/articles/2026/some-article.html"},
		{"crawler_denied", gptbot, "/articles/2026/some-article.html"},
		{"crawler_throttled", bingbot, "/articles/2026/some-article.html"},
		{"crawler_disguised", newbot, "/articles/..%2f%70rivate//some-article.html"},
		{"crawler_4KB_path", googlebot, "/" + strings.Repeat("articles/", 450)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			req := &Request{Target: bb.target, UserAgents: []string{bb.ua}, Origin: home, Time: e.clock.now()}
			var d Decision
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				e.Decide(ctx, req, &d)
			}
		})
	}
}

func BenchmarkPolicy(b *testing.B) {
	rules, err := Rules{}.compile()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		rules.compile(content{body: []byte(site)})
	}
}

// BenchmarkGrace measures a decision while a grace runs, and while none does.
func BenchmarkGrace(b *testing.B) {
	for _, bb := range []struct {
		name, ua, target string
		grace            Grace
		file             string // after a change; "" for none
	}{
		{"off/browser", chrome, "/archive/x", GraceOff, ""}, {"search/browser", chrome, "/archive/x", GraceSearch, ""},
		{"off/allowed", googlebot, "/x", GraceOff, ""}, {"search/allowed", googlebot, "/x", GraceSearch, ""},
		{"off/denied", googlebot, "/private/x", GraceOff, ""}, {"search/denied", googlebot, "/private/x", GraceSearch, ""},
		{"running/browser", chrome, "/archive/x", GraceSearch, closed}, {"running/allowed", googlebot, "/x", GraceSearch, closed},
		{"running/denied", googlebot, "/private/x", GraceSearch, closed}, {"running/graced", googlebot, "/archive/x", GraceSearch, closed},
	} {
		b.Run(bb.name, func(b *testing.B) {
			c := newClock()
			e, err := NewEngine(Rules{Grace: bb.grace}, Inline(open), throttle.NewMemory(16), Config{Now: c.now})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			e.policies.Load(context.Background())
			req := &Request{Target: bb.target, UserAgents: []string{bb.ua}, Origin: home, Client: "192.0.2.1", Time: c.now()}
			var d Decision
			ctx := context.Background()
			e.Decide(ctx, req, &d)
			if bb.file != "" {
				c.advance(time.Second)
				e.policies.source = Inline(bb.file)
				e.policies.Load(ctx)
				req.Time = c.now()
			}
			b.ReportAllocs()
			for b.Loop() {
				e.Decide(ctx, req, &d)
			}
		})
	}
}
