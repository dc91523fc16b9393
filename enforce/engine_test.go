package enforce

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// engineTest is an engine with one file for all origins, and a clock.
type engineTest struct {
	*Engine
	clock  *clock
	source *fakeSource
}

func newEngineTest(t testing.TB, file string, rules Settings) *engineTest {
	t.Helper()
	return newEngineTestAt(t, file, rules, newClock())
}

func newEngineTestAt(t testing.TB, file string, rules Settings, c *clock) *engineTest {
	t.Helper()
	limiter, source := throttle.NewMemory(1000), &fakeSource{shared: true}
	source.set(200, file)
	e, err := NewEngine(rules, source, limiter, nil, Config{Refresh: 24 * time.Hour, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(); e.origins.Settle() })
	e.origins.Load(context.Background())
	return &engineTest{e, c, source}
}

func (e *engineTest) decide(target string, agents ...string) Decision {
	var d Decision
	e.Decide(context.Background(), &Request{Target: target, UserAgents: agents, Origin: home, Client: "192.0.2.1", Time: e.clock.now()}, &d)
	return d
}

func TestDecisionByClientAndRules(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rules  Settings
		ua     string
		target string
		action Action
		reason Reason
		group  string
	}{
		{"browser", Settings{}, chrome, "/private/x", Pass, Person, ""},
		{"browser, with all options", Settings{Strict: true, HTTPClients: true}, safari, "/private/x", Pass, Person, ""},
		{"crawler with its own group, path of the group for *", Settings{}, googlebot, "/private/x", Pass, Allowed, "Googlebot"},
		{"crawler with its own group, path of that group", Settings{}, googlebot, "/no-google/", Deny, Disallowed, "Googlebot"},
		{"crawler with a group for its second token", Settings{}, gimage, "/no-google/", Deny, Disallowed, "Googlebot"},
		{"crawler without its own group", Settings{}, "CCBot/2.0 (https://commoncrawl.org/faq/)", "/private/x", Deny, Disallowed, "*"},
		{"longer Allow rule", Settings{}, newbot, "/private/press/kit", Pass, Allowed, "*"},
		{"unknown crawler", Settings{}, newbot, "/private/x", Deny, Disallowed, "*"},
		{"crawler that is documented to ignore *", Settings{}, adsbot, "/private/x", Pass, Unbound, ""},
		{"crawler that is documented to ignore *, strict", Settings{Strict: true}, adsbot, "/private/x", Deny, Disallowed, "*"},
		{"user-triggered fetcher", Settings{}, chatgpt, "/private/x", Deny, Disallowed, "*"},
		{"user-triggered fetcher, with IgnoreUserTriggered", Settings{IgnoreUserTriggered: true}, chatgpt, "/private/x", Pass, Unbound, ""},
		{"HTTP library", Settings{}, curl, "/private/x", Pass, Unbound, ""},
		{"HTTP library, with HTTPClients", Settings{HTTPClients: true}, curl, "/private/x", Deny, Disallowed, "*"},
		{"empty User-Agent", Settings{}, "", "/private/x", Pass, Unbound, ""},
		{"empty User-Agent, with HTTPClients", Settings{HTTPClients: true}, "", "/private/x", Deny, Disallowed, "*"},
		{"offline browser", Settings{}, wget, "/private/x", Deny, Disallowed, "*"},
		{"client that only the file names", Settings{}, "FriendOfTheSite/3.1", "/friends/", Deny, Disallowed, "FriendOfTheSite"},
		{"exempt by name", Settings{Exempt: []Exemption{{Name: "gptbot"}}}, gptbot, "/", Pass, Exempt, ""},
		{"exempt by token", Settings{Exempt: []Exemption{{Name: "NewThingBot"}}}, newbot, "/private/x", Pass, Exempt, ""},
		{"exempt path", Settings{ExemptPaths: []string{"/.well-known/*"}}, gptbot, "/.well-known/acme", Pass, ExemptPath, ""},
		{"path with dot segments that leads out of an exempt path", Settings{ExemptPaths: []string{"/.well-known/*"}}, gptbot, "/.well-known/../x", Deny, Disallowed, "GPTBot"},
		{"robots.txt", Settings{}, gptbot, "/robots.txt", Pass, ExemptPath, ""},
		{"path with dot segments that leads out of robots.txt", Settings{}, gptbot, "/robots.txt/../private/", Deny, Disallowed, "GPTBot"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newEngineTest(t, site, tt.rules).decide(tt.target, tt.ua)
			if d.Action != tt.action || d.Reason != tt.reason || d.Group.Token() != tt.group {
				t.Errorf("%v, %v, group %q; want %v, %v, %q", d.Action, d.Reason, d.Group.Token(), tt.action, tt.reason, tt.group)
			}
		})
	}
}

func TestDecisionHasTheLine(t *testing.T) {
	e := newEngineTest(t, site, Settings{})
	if d := e.decide("/private/x", newbot); d.Line != 2 || d.Rule.Pattern != "/private/" {
		t.Errorf("line %d, rule %v; want line 2, /private/", d.Line, d.Rule)
	}
	e.decide("/", bingbot)
	if d := e.decide("/", bingbot); d.Action != Throttle || d.Line != 16 {
		t.Errorf("%v by line %d; want throttle by line 16", d.Action, d.Line)
	}
}

func TestSeveralUserAgents(t *testing.T) {
	e := newEngineTest(t, site, Settings{})
	if d := e.decide("/x", chrome, gptbot); d.Action != Deny || d.Crawler() != "GPTBot" {
		t.Errorf("%v for %s; want deny for GPTBot", d.Action, d.Crawler())
	}
	if d := e.decide("/x", googlebot, chrome); d.Action != Pass || d.Crawler() != "Googlebot" {
		t.Errorf("%v for %s", d.Action, d.Crawler())
	}
	if d := e.decide("/x", "Mozilla/5.0 (compatible; Googlebot/2.1; GPTBot/1.2)"); d.Action != Deny {
		t.Errorf("%v for a User-Agent with two crawlers, of which one is denied", d.Action)
	}
}

// A crawler can't hide among many User-Agent fields. No browser sends many.
func TestManyUserAgentFields(t *testing.T) {
	e := newEngineTest(t, site, Settings{})
	agents := slices.Repeat([]string{chrome}, 16)
	if d := e.decide("/private/x", agents...); d.Action != Pass {
		t.Errorf("%d browsers: %v", len(agents), d.Reason)
	}
	agents[15] = gptbot
	if d := e.decide("/x", agents...); d.Action != Deny || d.Crawler() != "GPTBot" {
		t.Errorf("crawler in the last field: %v for %s", d.Action, d.Crawler())
	}
	agents = slices.Repeat([]string{chrome}, 17)
	if d := e.decide("/private/x", agents...); d.Action != Deny || d.Group.Token() != "*" {
		t.Errorf("too many fields: %v by %s", d.Action, d.Group.Token())
	}
}

func TestInvalidExemptPaths(t *testing.T) {
	for _, p := range []string{"", "private/", "/a b", "/a#b", "/a\nDisallow: /"} {
		if _, err := NewEngine(Settings{ExemptPaths: []string{p}}, Inline(""), nil, nil, Config{}); err == nil {
			t.Errorf("no error for the exempt path %q", p)
		}
	}
}

func TestControlTokensDoNotApplyToTheCrawler(t *testing.T) {
	e := newEngineTest(t, "User-agent: Google-Extended\nDisallow: /\n", Settings{})
	if d := e.decide("/", googlebot); d.Action != Pass {
		t.Errorf("Googlebot: %v", d.Reason)
	}
	if got := e.origins.Load(context.Background()).Unenforceable(); len(got) != 1 || got[0] != "Google-Extended" {
		t.Errorf("Unenforceable = %q", got)
	}
}

// A client that sends a preference as its User-Agent gets no group and no
// exemption by it: the group for `*` applies.
func TestPreferencesAreNoCrawlers(t *testing.T) {
	row := crawler.Crawler{Name: "Any-Training", Operator: "Any", Purposes: []crawler.Purpose{crawler.AITraining}, Class: crawler.Registered, ControlOnly: true, Robots: []string{"Any-Training"}}
	registry, refused := crawler.Builtin().Extend([]crawler.Crawler{row})
	if len(refused) > 0 {
		t.Fatal(refused)
	}
	for _, token := range []string{"Google-Extended", "Applebot-Extended", "Any-Training"} {
		e := newEngineTest(t, "User-agent: "+token+"\nAllow: /\n\nUser-agent: *\nDisallow: /\n", Settings{Registry: registry, Exempt: []Exemption{{Name: token}}})
		if got := e.origins.Load(context.Background()).Unenforceable(); !slices.Equal(got, []string{token}) {
			t.Errorf("Unenforceable = %q", got)
		}
		for _, ua := range []string{token, token + "/1.0", "Mozilla/5.0 (compatible; " + token + "/1.0; +https://example.com/)"} {
			if d := e.decide("/", ua); d.Action != Deny || d.Group.Token() != "*" || d.Agent.Reason != crawler.ControlToken {
				t.Errorf("%s: %v by the group %q, %v", ua, d.Action, d.Group.Token(), d.Agent.Reason)
			}
		}
		denied := newEngineTest(t, "User-agent: "+token+"\nDisallow: /\n", Settings{Registry: registry})
		for _, ua := range []string{token + "/1.0", googlebot, "AcmeBot/1.0"} {
			if d := denied.decide("/", ua); d.Action != Pass {
				t.Errorf("%s is denied by the group of the preference", ua)
			}
		}
	}
}

func FuzzDecide(f *testing.F) {
	f.Add(chrome, "/private/x", "example.com", site)
	f.Add(gptbot, "http://u@h/%70rivate/..%2f", "EXAMPLE.com.:443", "User-agent: *\nDisallow: /*$\nCrawl-delay: 1e9")
	f.Fuzz(func(t *testing.T, ua, target, host, file string) {
		limiter := throttle.NewMemory(16)
		e, err := NewEngine(Settings{HTTPClients: true}, Inline(file), limiter, nil, Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		now := time.Now()
		req := &Request{Target: target, UserAgents: []string{ua}, Origin: NewOrigin("https", host, 443), Time: now}
		e.origins.Load(context.Background())
		var d Decision
		e.Decide(context.Background(), req, &d)
		switch {
		case d.Action == Throttle && d.RetryAfter <= 0:
			t.Errorf("throttled with Retry-After %v", d.RetryAfter)
		case d.Action == Deny && (d.Group == nil || d.Line == 0):
			t.Error("denied without a group or a line")
		case d.Action != Pass && d.Agent.Class == crawler.Person:
			t.Error("a person was refused")
		}
		req.UserAgents = []string{chrome}
		if e.Decide(context.Background(), req, &d); d.Action != Pass {
			t.Errorf("a browser was refused: %v by line %d", d.Reason, d.Line)
		}
	})
}

// The group of a decision is named by the token by which the client got it.
func TestGroupToken(t *testing.T) {
	const file = "User-agent: Pinterest\nUser-agent: slackbot\n" +
		"User-agent: *\nUser-agent: Googlebot\nUser-agent: Sogou web spider\nDisallow: /x\n"
	e := newEngineTest(t, file, Settings{})
	for ua, want := range map[string]string{
		"Slackbot 1.0 (+https://api.slack.com/robots)": "slackbot",
		"Googlebot-Image/1.0":                          "Googlebot",
		gptbot:                                         "*",
		"Sogou web spider/4.0 (+http://www.sogou.com/docs/": "Sogou web spider",
		newbot: "*",
		chrome: "",
	} {
		if d := e.decide("/x", ua); d.GroupToken() != want {
			t.Errorf("%s: group %q (%v for %s), want %q", ua, d.GroupToken(), d.Reason, d.Name(), want)
		}
	}
}
