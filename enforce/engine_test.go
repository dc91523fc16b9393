package enforce

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// engineTest is an engine with one file for all origins, and a clock.
type engineTest struct {
	*Engine
	clock  *fake.Clock
	source *fake.Source
}

func newEngineTest(t testing.TB, file string, rules judge.Settings) *engineTest {
	t.Helper()
	return newEngineTestAt(t, file, rules, fake.NewClock())
}

func newEngineTestAt(t testing.TB, file string, rules judge.Settings, c *fake.Clock) *engineTest {
	t.Helper()
	limiter, source := throttle.NewMemory(1000), &fake.Source{Shared: true}
	source.Set(200, file)
	e, err := NewEngine(rules, source, limiter, nil, origins.Config{Refresh: 24 * time.Hour, Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(); e.origins.Settle() })
	e.origins.Load(context.Background())
	return &engineTest{e, c, source}
}

func (e *engineTest) decide(target string, agents ...string) judge.Decision {
	var d judge.Decision
	e.Decide(context.Background(), &judge.Request{Target: target, UserAgents: agents, Origin: fake.Home, Client: "192.0.2.1", Time: e.clock.Now()}, &d)
	return d
}

// A crawler can't hide among many User-Agent fields. No browser sends many.
func TestManyUserAgentFields(t *testing.T) {
	e := newEngineTest(t, fake.Site, judge.Settings{})
	agents := slices.Repeat([]string{fake.Chrome}, 16)
	if d := e.decide("/private/x", agents...); d.Action != judge.Pass {
		t.Errorf("%d browsers: %v", len(agents), d.Reason)
	}
	agents[15] = fake.Gptbot
	if d := e.decide("/x", agents...); d.Action != judge.Deny || d.Name() != "GPTBot" {
		t.Errorf("crawler in the last field: %v for %s", d.Action, d.Name())
	}
	agents = slices.Repeat([]string{fake.Chrome}, 17)
	if d := e.decide("/private/x", agents...); d.Action != judge.Deny || d.Group.Token() != "*" {
		t.Errorf("too many fields: %v by %s", d.Action, d.Group.Token())
	}
}

func TestInvalidExemptPaths(t *testing.T) {
	for _, p := range []string{"", "private/", "/a b", "/a#b", "/a\nDisallow: /"} {
		if _, err := NewEngine(judge.Settings{ExemptPaths: []string{p}}, origins.Inline(""), nil, nil, origins.Config{}); err == nil {
			t.Errorf("no error for the exempt path %q", p)
		}
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
		e := newEngineTest(t, "User-agent: "+token+"\nAllow: /\n\nUser-agent: *\nDisallow: /\n", judge.Settings{Registry: registry, Exempt: []judge.Exemption{{Name: token}}})
		if got := e.origins.Load(context.Background()).Unenforceable(); !slices.Equal(got, []string{token}) {
			t.Errorf("Unenforceable = %q", got)
		}
		for _, ua := range []string{token, token + "/1.0", "Mozilla/5.0 (compatible; " + token + "/1.0; +https://example.com/)"} {
			if d := e.decide("/", ua); d.Action != judge.Deny || d.Group.Token() != "*" || d.Agent.Reason != crawler.ControlToken {
				t.Errorf("%s: %v by the group %q, %v", ua, d.Action, d.Group.Token(), d.Agent.Reason)
			}
		}
		denied := newEngineTest(t, "User-agent: "+token+"\nDisallow: /\n", judge.Settings{Registry: registry})
		for _, ua := range []string{token + "/1.0", fake.Googlebot, "AcmeBot/1.0"} {
			if d := denied.decide("/", ua); d.Action != judge.Pass {
				t.Errorf("%s is denied by the group of the preference", ua)
			}
		}
	}
}

func FuzzDecide(f *testing.F) {
	f.Add(fake.Chrome, "/private/x", "example.com", fake.Site)
	f.Add(fake.Gptbot, "http://u@h/%70rivate/..%2f", "EXAMPLE.com.:443", "User-agent: *\nDisallow: /*$\nCrawl-delay: 1e9")
	f.Fuzz(func(t *testing.T, ua, target, host, file string) {
		limiter := throttle.NewMemory(16)
		e, err := NewEngine(judge.Settings{HTTPClients: true}, origins.Inline(file), limiter, nil, origins.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		now := time.Now()
		req := &judge.Request{Target: target, UserAgents: []string{ua}, Origin: judge.NewOrigin("https", host, 443), Time: now}
		e.origins.Load(context.Background())
		var d judge.Decision
		e.Decide(context.Background(), req, &d)
		switch {
		case d.Action == judge.Throttle && d.RetryAfter <= 0:
			t.Errorf("throttled with Retry-After %v", d.RetryAfter)
		case d.Action == judge.Deny && (d.Group == nil || d.Line == 0):
			t.Error("denied without a group or a line")
		case d.Action != judge.Pass && d.Agent.Class == crawler.Person:
			t.Error("a person was refused")
		}
		req.UserAgents = []string{fake.Chrome}
		if e.Decide(context.Background(), req, &d); d.Action != judge.Pass {
			t.Errorf("a browser was refused: %v by line %d", d.Reason, d.Line)
		}
	})
}

// The group of a decision is named by the token by which the client got it.
func TestGroupToken(t *testing.T) {
	const file = "User-agent: Pinterest\nUser-agent: slackbot\n" +
		"User-agent: *\nUser-agent: Googlebot\nUser-agent: Sogou web spider\nDisallow: /x\n"
	e := newEngineTest(t, file, judge.Settings{})
	for ua, want := range map[string]string{
		"Slackbot 1.0 (+https://api.slack.com/robots)":      "slackbot",
		"Googlebot-Image/1.0":                               "Googlebot",
		fake.Gptbot:                                         "*",
		"Sogou web spider/4.0 (+http://www.sogou.com/docs/": "Sogou web spider",
		fake.Newbot:                                         "*",
		fake.Chrome:                                         "",
	} {
		if d := e.decide("/x", ua); d.GroupToken() != want {
			t.Errorf("%s: group %q (%v for %s), want %q", ua, d.GroupToken(), d.Reason, d.Name(), want)
		}
	}
}

// decideOn decides on r, with defaults for the fields that are not set.
func (e *engineTest) decideOn(r judge.Request) judge.Decision {
	var d judge.Decision
	if r.Client == "" {
		r.Client = "192.0.2.1"
	}
	r.Origin, r.Time = fake.Home, e.clock.Now()
	e.Decide(context.Background(), &r, &d)
	return d
}
