package enforce

import (
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/managed"
)

func managedRules(t *testing.T) Rules {
	t.Helper()
	return Rules{Managed: &managed.Policy{
		Deny: []managed.Deny{
			{Crawlers: []string{"ai-training"}, Line: 21},
			{Crawlers: []string{"seo"}, Paths: []string{"/archive/"}, Line: 22},
		},
		Delay:  []managed.Delay{{Crawlers: []string{"bingbot"}, Interval: "7s", Line: 23}},
		Hidden: []managed.Hidden{{Path: "/backup/*", Line: 24}, {Path: "*.sql$", Line: 25}},
	}}
}

// Each decision names the layer and the line there.
func TestLayers(t *testing.T) {
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
		{"the site's rule", newbot, "/private/x", Disallowed, SiteLayer, 2},
		{"a copy of the site's rule", ahrefs, "/private/x", Disallowed, SiteLayer, 2},
		{"a path that the policy denies", ahrefs, "/archive/x", Disallowed, PolicyLayer, 22},
		{"a purpose that the policy denies", "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)", "/", Disallowed, PolicyLayer, 21},
		{"a group of the site's own stays", gptbot, "/", Disallowed, SiteLayer, 10},
		{"no rule", googlebot, "/", Allowed, NoLayer, 0},
		{"a hidden path", newbot, "/backup/x", Hidden, HiddenLayer, 24},
		{"for a crawler with a group of its own", googlebot, "/a/dump.sql", Hidden, HiddenLayer, 25},
		{"for one that ignores *", adsbot, "/backup/", Hidden, HiddenLayer, 24},
		{"by a detour", ccbot, "/x/..//%62ackup/", Hidden, HiddenLayer, 24},
		{"and not for a person", chrome, "/backup/x", Person, NoLayer, 0},
		{"nor for a library", curl, "/backup/x", Unbound, NoLayer, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := e.decide(tt.target, tt.ua)
			if d.Reason != tt.reason || d.Layer != tt.layer || d.Line != tt.line {
				t.Errorf("%v by %v line %d; want %v by %v line %d", d.Reason, d.Layer, d.Line, tt.reason, tt.layer, tt.line)
			}
			if d.Reason == Hidden && (d.Rule != nil || d.RuleText() != "" || d.Policy.HiddenPath(&d) == "") {
				t.Errorf("rule %q, hidden path %q", d.RuleText(), d.Policy.HiddenPath(&d))
			}
		})
	}
	e.decide("/", bingbot)
	if d := e.decide("/", bingbot); d.Reason != CrawlDelay || d.Layer != SiteLayer || d.Line != 16 { // the longer one stays
		t.Errorf("%v by %v line %d", d.Reason, d.Layer, d.Line)
	}
}

// HTTP libraries and user-triggered fetchers follow their switches.
func TestHiddenFollowsSwitches(t *testing.T) {
	for _, tt := range []struct {
		ua     string
		rules  func(*Rules)
		hidden bool
	}{
		{curl, func(*Rules) {}, false},
		{curl, func(r *Rules) { r.HTTPClients = true }, true},
		{chatgpt, func(*Rules) {}, true},
		{chatgpt, func(r *Rules) { r.IgnoreUserTriggered = true }, false},
		{googlebot, func(r *Rules) { r.Exempt = []Exemption{{Name: "Googlebot"}} }, false},
		{googlebot, func(r *Rules) { r.ExemptPaths = []string{"/backup/open/"} }, true},
	} {
		rules := managedRules(t)
		tt.rules(&rules)
		if d := newEngineTest(t, site, rules).decide("/backup/x", tt.ua); (d.Reason == Hidden) != tt.hidden {
			t.Errorf("%s: %v, want hidden %v", tt.ua, d.Reason, tt.hidden)
		}
	}
}

// A policy can't be merged where its file is another's: the site's own rules
// hold, and it says so.
func TestApart(t *testing.T) {
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
		p := rules.policy(tt.content)
		if p.Published() != tt.published || (p.MergeError() == nil) != (tt.err == "") || tt.err != "" && !strings.Contains(p.MergeError().Error(), tt.err) {
			t.Errorf("%v: published %v, error %v; want %v, %q", tt.content.state, p.Published(), p.MergeError(), tt.published, tt.err)
		}
	}
}

// The last published text outlives a reload, so that what changed can be told.
func TestWasAcrossCopies(t *testing.T) {
	copies, clock := NewCopies(), newClock()
	var was []byte
	observe := observerFunc(func(e PolicyRead) { was = e.Was })
	read := func(rules Rules) {
		compiled, err := rules.compile()
		if err != nil {
			t.Fatal(err)
		}
		p := newPolicies(Inline(site), compiled, Config{Copies: copies, Observer: observe, Now: clock.now})
		p.Reread(&Request{Origin: home, Time: clock.now()})
		p.running.Wait()
		p.Close()
		clock.advance(time.Minute)
	}
	read(managedRules(t))
	if was != nil {
		t.Errorf("before the first: %q", was)
	}
	other := managedRules(t)
	other.Managed.Deny = other.Managed.Deny[:1]
	read(other)
	if !strings.Contains(string(was), "Disallow: /archive/") {
		t.Errorf("after a reload: %q", was)
	}
}

type observerFunc func(PolicyRead)

func (f observerFunc) PolicyRead(e PolicyRead) { f(e) }

func TestDisallowsStar(t *testing.T) {
	p, err := Rules{ExemptPaths: []string{"/private/feed.xml"}}.Policy(Response{Status: 200, Body: []byte(site)})
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]bool{"/": false, "/private/x": true, "/x/..//private/": true, "/private/press/": false, "/private/feed.xml": false, "/no-google/": false} {
		if got := p.DisallowsStar(target); got != want {
			t.Errorf("%s: %v", target, got)
		}
	}
}
