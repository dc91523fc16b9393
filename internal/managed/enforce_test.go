package managed_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

const claudebot = "Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@anthropic.com)"

func policy() *managed.Policy {
	return &managed.Policy{
		File: "Caddyfile",
		Deny: []managed.Statement{
			{Values: []string{"ai-training"}, Line: 21},
			{Values: []string{"seo"}, Paths: []string{"/archive/"}, Line: 22},
		},
		Hidden: []managed.Statement{{Paths: []string{"/backup/*"}, Line: 24}, {Paths: []string{"*.sql$"}, Line: 25}},
	}
}

// answer is a source that serves all origins.
type answer judge.Response

func (a answer) Fetch(context.Context, judge.Origin) (judge.Response, error) {
	return judge.Response(a), nil
}

func (answer) PerOrigin() bool { return false }

// start returns an engine that has loaded the rules.
func start(t *testing.T, settings judge.Settings, source origins.Source, cfg origins.Config) (*enforce.Engine, *judge.Rules) {
	t.Helper()
	if settings.Edit == nil {
		settings.Edit = policy().Additions
	}
	limiter := throttle.NewMemory(1000)
	e, err := enforce.NewEngine(settings, source, limiter, nil, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	e.Origins().Prefetch(context.Background(), &judge.Request{Time: time.Now()})
	return e, e.Origins().Peek(&judge.Request{Time: time.Now()})
}

func decide(e *enforce.Engine, target, agent string) (d judge.Decision) {
	e.Decide(context.Background(), &judge.Request{Target: target, UserAgents: []string{agent}, Client: "192.0.2.1", Time: time.Now()}, &d)
	return d
}

// Each decision has the layer and the line in that layer.
func TestLayerAndLineOfDecisions(t *testing.T) {
	e, _ := start(t, judge.Settings{}, origins.Inline(fake.Site), origins.Config{})
	for _, tt := range []struct {
		name   string
		ua     string
		target string
		reason judge.Reason
		layer  judge.Layer
		line   int
		file   string
	}{
		{"rule of the site", fake.Newbot, "/private/x", judge.Disallowed, judge.FileLayer, 2, "robots.txt"},
		{"copy of a rule of the site", fake.Agents["ahrefs"], "/private/x", judge.Disallowed, judge.FileLayer, 2, "robots.txt"},
		{"path that the policy denies", fake.Agents["ahrefs"], "/archive/x", judge.Disallowed, managed.Layer, 22, "Caddyfile"},
		{"purpose that the policy denies", claudebot, "/", judge.Disallowed, managed.Layer, 21, "Caddyfile"},
		{"group of the site for the crawler itself", fake.Gptbot, "/", judge.Disallowed, judge.FileLayer, 10, "robots.txt"},
		{"no rule", fake.Googlebot, "/", judge.Allowed, judge.NoLayer, 0, ""},
		{"hidden path", fake.Newbot, "/backup/x", managed.HiddenReason, managed.HiddenLayer, 24, "Caddyfile"},
		{"hidden path, crawler with its own group", fake.Googlebot, "/a/dump.sql", managed.HiddenReason, managed.HiddenLayer, 25, "Caddyfile"},
		{"hidden path, crawler that ignores *", fake.Adsbot, "/backup/", managed.HiddenReason, managed.HiddenLayer, 24, "Caddyfile"},
		{"hidden path in another spelling", fake.Agents["ccbot"], "/x/..//%62ackup/", managed.HiddenReason, managed.HiddenLayer, 24, "Caddyfile"},
		{"hidden path, person", fake.Chrome, "/backup/x", judge.Person, judge.NoLayer, 0, ""},
		{"hidden path, library", fake.Curl, "/backup/x", judge.Unbound, judge.NoLayer, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := decide(e, tt.target, tt.ua)
			if d.Reason != tt.reason || d.Layer != tt.layer || d.Line != tt.line || d.File() != tt.file {
				t.Errorf("%v by %v line %d of %s; want %v by %v line %d of %s", d.Reason, d.Layer, d.Line, d.File(), tt.reason, tt.layer, tt.line, tt.file)
			}
			if hidden := d.Reason == managed.HiddenReason; hidden != (d.HiddenPath() != "") || hidden && (d.Rule.Line > 0 || d.RuleText() != "") {
				t.Errorf("rule %q, hidden path %q", d.RuleText(), d.HiddenPath())
			}
		})
	}
	decide(e, "/", fake.Bingbot)
	if d := decide(e, "/", fake.Bingbot); d.Reason != judge.CrawlDelay || d.Layer != judge.FileLayer || d.Line != 16 {
		t.Errorf("%v by %v line %d", d.Reason, d.Layer, d.Line)
	}
}

// If the lines of the policy can't be published, the site's own file is in
// force, and MergeError says why.
func TestMergeError(t *testing.T) {
	for _, tt := range []struct {
		answer    answer
		outcome   judge.Outcome
		published bool
		err       string
	}{
		{answer{Status: 200, Body: []byte(fake.Site)}, judge.Loaded, true, ""},
		{answer{Status: 200, Body: []byte(fake.Site), Apart: true}, judge.Loaded, false, "do not come through"},
		{answer{Status: 404}, judge.Missing, true, ""},
		{answer{Status: 200, Body: []byte("<html>")}, judge.NotRobots, true, ""},
		{answer{Status: 500}, judge.Failed, true, ""},
		{answer{Status: 200, Body: []byte(strings.Repeat("#\n", 300_000))}, judge.Loaded, false, "500 KiB"},
	} {
		e, p := start(t, judge.Settings{}, tt.answer, origins.Config{})
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
