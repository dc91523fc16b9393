package enforce

import (
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/managed"
)

func managedRules(t *testing.T) Settings {
	t.Helper()
	return Settings{Managed: &managed.Policy{
		Deny: []managed.Deny{
			{Crawlers: []string{"ai-training"}, Line: 21},
			{Crawlers: []string{"seo"}, Paths: []string{"/archive/"}, Line: 22},
		},
		Delay:  []managed.Delay{{Crawlers: []string{"bingbot"}, Interval: "7s", Line: 23}},
		Hidden: []managed.Hidden{{Path: "/backup/*", Line: 24}, {Path: "*.sql$", Line: 25}},
	}}
}

// Each decision has the layer and the line in that layer.
func TestLayerAndLineOfDecisions(t *testing.T) {
	const (
		ahrefs = "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"
		ccbot  = "CCBot/2.0 (https://commoncrawl.org/faq/)"
	)
	e := newEngineTest(t, site, managedRules(t))
	for _, tt := range []struct {
		name   string
		ua     string
		target string
		reason Reason
		layer  Layer
		line   int
	}{
		{"rule of the site", newbot, "/private/x", Disallowed, FileLayer, 2},
		{"copy of a rule of the site", ahrefs, "/private/x", Disallowed, FileLayer, 2},
		{"path that the policy denies", ahrefs, "/archive/x", Disallowed, PolicyLayer, 22},
		{"purpose that the policy denies", "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)", "/", Disallowed, PolicyLayer, 21},
		{"group of the site for the crawler itself", gptbot, "/", Disallowed, FileLayer, 10},
		{"no rule", googlebot, "/", Allowed, NoLayer, 0},
		{"hidden path", newbot, "/backup/x", Hidden, HiddenLayer, 24},
		{"hidden path, crawler with its own group", googlebot, "/a/dump.sql", Hidden, HiddenLayer, 25},
		{"hidden path, crawler that ignores *", adsbot, "/backup/", Hidden, HiddenLayer, 24},
		{"hidden path in another spelling", ccbot, "/x/..//%62ackup/", Hidden, HiddenLayer, 24},
		{"hidden path, person", chrome, "/backup/x", Person, NoLayer, 0},
		{"hidden path, library", curl, "/backup/x", Unbound, NoLayer, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := e.decide(tt.target, tt.ua)
			if d.Reason != tt.reason || d.Layer != tt.layer || d.Line != tt.line {
				t.Errorf("%v by %v line %d; want %v by %v line %d", d.Reason, d.Layer, d.Line, tt.reason, tt.layer, tt.line)
			}
			if d.Reason == Hidden && (d.Rule != nil || d.RuleText() != "" || d.Rules.HiddenPath(&d) == "") {
				t.Errorf("rule %q, hidden path %q", d.RuleText(), d.Rules.HiddenPath(&d))
			}
		})
	}
	e.decide("/", bingbot)
	if d := e.decide("/", bingbot); d.Reason != CrawlDelay || d.Layer != FileLayer || d.Line != 16 { // the site's Crawl-delay is longer
		t.Errorf("%v by %v line %d", d.Reason, d.Layer, d.Line)
	}
}

// Hidden paths are denied to HTTP libraries and user-triggered fetchers only if
// the rules say so.
func TestHiddenPathsByClientAndRules(t *testing.T) {
	for _, tt := range []struct {
		ua     string
		rules  func(*Settings)
		hidden bool
	}{
		{curl, func(*Settings) {}, false},
		{curl, func(r *Settings) { r.HTTPClients = true }, true},
		{chatgpt, func(*Settings) {}, true},
		{chatgpt, func(r *Settings) { r.IgnoreUserTriggered = true }, false},
		{googlebot, func(r *Settings) { r.Exempt = []Exemption{{Name: "Googlebot"}} }, false},
		{googlebot, func(r *Settings) { r.ExemptPaths = []string{"/backup/open/"} }, true},
	} {
		rules := managedRules(t)
		tt.rules(&rules)
		if d := newEngineTest(t, site, rules).decide("/backup/x", tt.ua); (d.Reason == Hidden) != tt.hidden {
			t.Errorf("%s: %v, want hidden %v", tt.ua, d.Reason, tt.hidden)
		}
	}
}

// If the lines of the policy can't be published, the site's own file is in
// force, and MergeError says why.
func TestMergeError(t *testing.T) {
	rules, err := managedRules(t).compile()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		content   content
		published bool
		err       string
	}{
		{content{body: []byte(site), state: Loaded}, true, ""},
		{content{body: []byte(site), state: Loaded, apart: true}, false, "do not come through"},
		{content{state: Missing}, true, ""},
		{content{state: NotRobots, body: []byte("<html>")}, true, ""},
		{content{state: Failed}, false, ""},
		{content{state: Pending}, false, ""},
		{content{body: []byte(strings.Repeat("#\n", 300_000)), state: Loaded}, false, "500 KiB"},
	} {
		p := rules.rulesOf(tt.content)
		if p.Published() != tt.published || (p.MergeError() == nil) != (tt.err == "") || tt.err != "" && !strings.Contains(p.MergeError().Error(), tt.err) {
			t.Errorf("%v: published %v, error %v; want %v, %q", tt.content.state, p.Published(), p.MergeError(), tt.published, tt.err)
		}
	}
}

// After a reload, FetchEvent.Was has the text that was published before.
func TestPolicyReadWasAfterAReload(t *testing.T) {
	copies, clock := NewCopies(), newClock()
	var was []byte
	observe := observerFunc(func(e FetchEvent) { was = e.Was })
	read := func(rules Settings) {
		compiled, err := rules.compile()
		if err != nil {
			t.Fatal(err)
		}
		p := newOrigins(Inline(site), compiled, Config{Copies: copies, Observer: observe, Now: clock.now})
		p.Refetch(&Request{Origin: home, Time: clock.now()})
		p.running.Wait()
		p.Close()
		clock.advance(time.Minute)
	}
	read(managedRules(t))
	if was != nil {
		t.Errorf("before the first read: %q", was)
	}
	other := managedRules(t)
	other.Managed.Deny = other.Managed.Deny[:1]
	read(other)
	if !strings.Contains(string(was), "Disallow: /archive/") {
		t.Errorf("after a reload: %q", was)
	}
}
