package managed_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/managed"
)

// User-Agents.
const (
	chrome    = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	bingbot   = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"
	gptbot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	chatgpt   = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot"
	adsbot    = "AdsBot-Google (+http://www.google.com/adsbot.html)"
	newbot    = "NewBot/1.0 (+https://newbot.example/)"
	curl      = "curl/8.5.0"
	ahrefs    = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"
	ccbot     = "CCBot/2.0 (https://commoncrawl.org/faq/)"
	claudebot = "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"
)

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

func policy() *managed.Policy {
	return &managed.Policy{
		File: "Caddyfile",
		Deny: []managed.Deny{
			{Crawlers: []string{"ai-training"}, Line: 21},
			{Crawlers: []string{"seo"}, Paths: []string{"/archive/"}, Line: 22},
		},
		Delay:  []managed.Delay{{Crawlers: []string{"bingbot"}, Interval: "7s", Line: 23}},
		Hidden: []managed.Hidden{{Path: "/backup/*", Line: 24}, {Path: "*.sql$", Line: 25}},
	}
}

// answer is a source that serves all origins.
type answer enforce.Response

func (a answer) Fetch(context.Context, enforce.Origin) (enforce.Response, error) {
	return enforce.Response(a), nil
}

func (answer) PerOrigin() bool { return false }

// start returns an engine that has loaded the rules.
func start(t *testing.T, settings enforce.Settings, source enforce.Source, cfg enforce.Config) (*enforce.Engine, *enforce.Rules) {
	t.Helper()
	if settings.Managed == nil {
		settings.Managed = policy().Additions
	}
	limiter := throttle.NewMemory(1000)
	e, err := enforce.NewEngine(settings, source, limiter, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	e.Origins().Prefetch(context.Background(), &enforce.Request{Time: time.Now()})
	return e, e.Origins().Peek(&enforce.Request{Time: time.Now()})
}

func decide(e *enforce.Engine, target, agent string) (d enforce.Decision) {
	e.Decide(context.Background(), &enforce.Request{Target: target, UserAgents: []string{agent}, Client: "192.0.2.1", Time: time.Now()}, &d)
	return d
}

// Each decision has the layer and the line in that layer.
func TestLayerAndLineOfDecisions(t *testing.T) {
	e, _ := start(t, enforce.Settings{}, enforce.Inline(site), enforce.Config{})
	for _, tt := range []struct {
		name   string
		ua     string
		target string
		reason enforce.Reason
		layer  enforce.Layer
		line   int
		file   string
	}{
		{"rule of the site", newbot, "/private/x", enforce.Disallowed, enforce.FileLayer, 2, "robots.txt"},
		{"copy of a rule of the site", ahrefs, "/private/x", enforce.Disallowed, enforce.FileLayer, 2, "robots.txt"},
		{"path that the policy denies", ahrefs, "/archive/x", enforce.Disallowed, enforce.PolicyLayer, 22, "Caddyfile"},
		{"purpose that the policy denies", claudebot, "/", enforce.Disallowed, enforce.PolicyLayer, 21, "Caddyfile"},
		{"group of the site for the crawler itself", gptbot, "/", enforce.Disallowed, enforce.FileLayer, 10, "robots.txt"},
		{"no rule", googlebot, "/", enforce.Allowed, enforce.NoLayer, 0, ""},
		{"hidden path", newbot, "/backup/x", enforce.Hidden, enforce.HiddenLayer, 24, "Caddyfile"},
		{"hidden path, crawler with its own group", googlebot, "/a/dump.sql", enforce.Hidden, enforce.HiddenLayer, 25, "Caddyfile"},
		{"hidden path, crawler that ignores *", adsbot, "/backup/", enforce.Hidden, enforce.HiddenLayer, 24, "Caddyfile"},
		{"hidden path in another spelling", ccbot, "/x/..//%62ackup/", enforce.Hidden, enforce.HiddenLayer, 24, "Caddyfile"},
		{"hidden path, person", chrome, "/backup/x", enforce.Person, enforce.NoLayer, 0, ""},
		{"hidden path, library", curl, "/backup/x", enforce.Unbound, enforce.NoLayer, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := decide(e, tt.target, tt.ua)
			if d.Reason != tt.reason || d.Layer != tt.layer || d.Line != tt.line || d.File() != tt.file {
				t.Errorf("%v by %v line %d of %s; want %v by %v line %d of %s", d.Reason, d.Layer, d.Line, d.File(), tt.reason, tt.layer, tt.line, tt.file)
			}
			if hidden := d.Reason == enforce.Hidden; hidden != (d.HiddenPath() != "") || hidden && (d.Rule.Line > 0 || d.RuleText() != "") {
				t.Errorf("rule %q, hidden path %q", d.RuleText(), d.HiddenPath())
			}
		})
	}
	decide(e, "/", bingbot)
	if d := decide(e, "/", bingbot); d.Reason != enforce.CrawlDelay || d.Layer != enforce.FileLayer || d.Line != 16 { // the site's Crawl-delay is longer
		t.Errorf("%v by %v line %d", d.Reason, d.Layer, d.Line)
	}
}

// Hidden paths are denied to HTTP libraries and user-triggered fetchers only if
// the settings say so.
func TestHiddenPathsByClientAndSettings(t *testing.T) {
	for _, tt := range []struct {
		ua       string
		settings enforce.Settings
		hidden   bool
	}{
		{curl, enforce.Settings{}, false},
		{curl, enforce.Settings{HTTPClients: true}, true},
		{chatgpt, enforce.Settings{}, true},
		{chatgpt, enforce.Settings{IgnoreUserTriggered: true}, false},
		{googlebot, enforce.Settings{Exempt: []enforce.Exemption{{Name: "Googlebot"}}}, false},
		{googlebot, enforce.Settings{ExemptPaths: []string{"/backup/open/"}}, true},
	} {
		e, _ := start(t, tt.settings, enforce.Inline(site), enforce.Config{})
		if d := decide(e, "/backup/x", tt.ua); (d.Reason == enforce.Hidden) != tt.hidden {
			t.Errorf("%s: %v, want hidden %v", tt.ua, d.Reason, tt.hidden)
		}
	}
}

// If the lines of the policy can't be published, the site's own file is in
// force, and MergeError says why.
func TestMergeError(t *testing.T) {
	for _, tt := range []struct {
		answer    answer
		outcome   enforce.Outcome
		published bool
		err       string
	}{
		{answer{Status: 200, Body: []byte(site)}, enforce.Loaded, true, ""},
		{answer{Status: 200, Body: []byte(site), Apart: true}, enforce.Loaded, false, "do not come through"},
		{answer{Status: 404}, enforce.Missing, true, ""},
		{answer{Status: 200, Body: []byte("<html>")}, enforce.NotRobots, true, ""},
		{answer{Status: 500}, enforce.Failed, true, ""},
		{answer{Status: 200, Body: []byte(strings.Repeat("#\n", 300_000))}, enforce.Loaded, false, "500 KiB"},
	} {
		e, p := start(t, enforce.Settings{}, tt.answer, enforce.Config{})
		if p.Outcome() != tt.outcome || p.Published() != tt.published || (p.MergeError() == nil) != (tt.err == "") || tt.err != "" && !strings.Contains(p.MergeError().Error(), tt.err) {
			t.Errorf("%v: published %v, error %v; want %v, %v, %q", p.Outcome(), p.Published(), p.MergeError(), tt.outcome, tt.published, tt.err)
		}
		if tt.published != (managed.MergedIn(p) != nil) {
			t.Errorf("%v: the merge is %v", p.Outcome(), managed.MergedIn(p))
		}
		if p := e.Origins().Pending(); !p.Published() || p.MergeError() != nil {
			t.Errorf("before the first fetch: published %v, error %v", p.Published(), p.MergeError())
		}
	}
}

// After a reload, FetchEvent.Was has the text that was published before.
func TestFetchEventWasAfterAReload(t *testing.T) {
	copies := enforce.NewCopies()
	var was []byte
	load := func(p *managed.Policy) {
		e, _ := start(t, enforce.Settings{Managed: p.Additions}, enforce.Inline(site), enforce.Config{Copies: copies, Fetched: func(e enforce.FetchEvent) { was = e.Was }})
		e.Close()
	}
	load(policy())
	if was != nil {
		t.Errorf("before the first fetch: %q", was)
	}
	other := policy()
	other.Deny = other.Deny[:1]
	load(other)
	if !strings.Contains(string(was), "Disallow: /archive/") {
		t.Errorf("after a reload: %q", was)
	}
}
