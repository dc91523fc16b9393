package config

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Each setting can be switched off in a handler: by a value of its own, or by off.
func TestEverySettingCanBeSwitchedOff(t *testing.T) {
	withValues := []string{
		"source", "refresh", "on_error", "max_origins", "mode", "dialect", "exempt_paths", "programs", "crawl_delay", "forwarded_request", // another value
		"crawlers", // a name that no request has changes nothing
		"places",   // of other settings
		"steps",    // by their names
		"off",
		"enforced", // belongs to the mode
	}
	for i, name := range names() {
		isSwitch := reflect.TypeFor[Settings]().Field(i).Type == reflect.TypeFor[*bool]()
		if isSwitch || slices.Contains(withValues, name) {
			continue
		}
		line := map[string]string{"answers": "answer", "hosts": "host"}[name]
		s, err := Parse(caddyfile.NewTestDispenser("robots {\n "+cmp.Or(line, name)+" off\n}"), nil)
		if err != nil || !slices.Equal(s.Off, []string{name}) {
			t.Errorf("%s can't be switched off: %v", name, err)
		}
	}
}

func TestOff(t *testing.T) {
	for _, tt := range []struct{ block, off, err string }{
		{"verify off\n policy off", "verify,policy", ""},
		{"policy no-training", "", ""},
		{"verify off\n verify off", "", "verify is given twice"},
		{"exempt off\n exempt off", "", "exempt off is given twice"},
		{"exempt off\n exempt UptimeRobot", "", "exempt is off, and is also given"},
		{"crawl_delay off", "", "crawl_delay"},
		{"limit off", "limit", ""},
		{"limit off\n limit {\n all 1/1m\n }", "", "limit is off, and is also given"},
	} {
		s, err := Parse(caddyfile.NewTestDispenser("robots {\n "+tt.block+"\n}"), nil)
		if tt.err == "" && (err != nil || strings.Join(s.Off, ",") != tt.off) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%q: %q, %v; want %q, %q", tt.block, s.Off, err, tt.off, tt.err)
		}
	}
}

// A value behind robots stands for the line of a step, also beside a block.
func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"robots no-training":                       "",
		"robots no-ai {\nmode monitor\n}":          "",
		"robots no-trainig":                        `unexpected "no-trainig": robots takes no-training or no-ai, and its options in a block, at Testfile:1`,
		"robots no-ai no-training":                 `unexpected "no-training": robots takes no-training or no-ai, and its options in a block, at Testfile:1`,
		"robots no-ai {\npolicy {\ndeny seo\n}\n}": "policy is given twice: behind robots, and in its block, at Testfile:2",
		"robots no-ai {\npolicy off\n}":            "policy is off, and is also given",
	} {
		s, err := Parse(caddyfile.NewTestDispenser(text), nil)
		if want == "" && (err != nil || s.Steps["policy"] == nil || s.Places["policy"] != "Testfile:1") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, %q; want %q", text, s.Places, err, want)
		}
	}
}

// An explicit line has precedence over what strict implies, and a site's block over
// the global option.
func TestStrictAndExplicitLines(t *testing.T) {
	const (
		ignored = "user_triggered off\ncrawler AdsBot-Google {\nstar no\n}\ncrawler Googlebot {\ncrawl_delay no\n}\n"
		file    = "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n"
	)
	for _, tt := range []struct {
		global, site string
		want         bool // the group for * applies
	}{
		{"", "strict on\n" + ignored, false},
		{"", ignored + "strict on\n", false},
		{"strict on\n" + ignored, "", false},
		{"strict on\n", ignored, false},
		{ignored, "strict on\n", true},
		{"strict on\n" + ignored, "strict on\n", true},
		{"strict on\n" + ignored, "strict off\n", false},
		{"", "strict on\n", true},
		{"strict on\nuser_triggered on\n", "", true},
	} {
		global, err := ParseGlobal(caddyfile.NewTestDispenser("robots {\n" + tt.global + "}"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(caddyfile.NewTestDispenser("robots {\n"+tt.site+"}"), global.Defaults)
		if err == nil {
			err = s.Complete(global.Defaults)
		}
		if err != nil {
			t.Fatal(err)
		}
		settings, err := s.EngineSettings()
		if err != nil {
			t.Fatal(err)
		}
		if settings.Registry, err = s.AddCrawlers(crawler.Builtin()); err != nil {
			t.Fatal(err)
		}
		rules, err := settings.Rules(judge.Response{Status: 200, Body: []byte(file)})
		if err != nil {
			t.Fatal(err)
		}
		for _, ua := range []string{"AdsBot-Google (+http://www.google.com/adsbot.html)", "ChatGPT-User/1.0", "Googlebot/2.1"} {
			var d judge.Decision
			target := "/private/"
			if ua == "Googlebot/2.1" {
				target = "/"
			}
			rules.Check(&judge.Request{Target: target, UserAgents: []string{ua}}, &d)
			if applies := d.Action == judge.Deny || d.Limits != nil; applies != tt.want {
				t.Errorf("global %q, site %q: %s: %v with %v", tt.global, tt.site, ua, d.Reason, d.Limits)
			}
		}
	}
}
