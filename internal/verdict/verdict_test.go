package verdict

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

const file = "User-agent: *\nCrawl-delay: 172800\nDisallow: /private/\n"

// checkOf returns the check of a request for a path, by the rules of a file. before may be empty.
func checkOf(t *testing.T, settings judge.Settings, file, before, agent, path string) (*Check, *judge.Decision) {
	t.Helper()
	rules := func(text string) *judge.Rules {
		rules, err := settings.Rules(judge.Response{Status: 200, Body: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		return rules
	}
	var earlier *judge.Rules
	if before != "" {
		earlier = rules(before)
	}
	r := &judge.Request{Method: "GET", Target: path, UserAgents: []string{agent}, Assumed: true, Time: time.Now()}
	shed := func(*judge.Request, *judge.Decision) []string {
		return []string{"refused while the server is busy, step 1 of 2: seo"}
	}
	return NewCheck(rules(file), earlier, r, 24*time.Hour, shed)
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, agent, path, before string
		settings                  judge.Settings
		action, want              string
	}{
		{"a rule", "GPTBot", "/private/x", "", judge.Settings{}, "deny",
			"GPTBot (crawler): disallowed, group * (line 1), line 3 of robots.txt, Disallow: /private/"},
		{"monitor mode", "GPTBot", "/private/x", "", judge.Settings{Monitor: true}, "would_deny",
			"GPTBot (crawler): disallowed, group * (line 1), line 3 of robots.txt, Disallow: /private/"},
		{"limits", "GPTBot", "/", "", judge.Settings{}, "pass",
			"GPTBot (crawler): allowed, group * (line 1); one request in 86400s instead of 172800s (line 2); refused while the server is busy, step 1 of 2: seo"},
		{"grace", "Googlebot", "/private/x", "User-agent: *\nAllow: /\n", judge.Settings{}, "pass",
			"Googlebot (crawler): grace, group * (line 1), line 3 of robots.txt, Disallow: /private/, by the version before (VERSION), for at most 24 hours"},
		{"a person", "Firefox/140.0", "/private/x", "", judge.Settings{}, "pass", "person, or another client that no rule applies to"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, d := checkOf(t, tt.settings, file, tt.before, tt.agent, tt.path)
			want := strings.Replace(tt.want, "VERSION", c.Version, 1)
			if got, _, _ := strings.Cut(c.Text(), "; refused"); c.Action != tt.action || got != strings.Split(want, "; refused")[0] {
				t.Errorf("%s: %s, want %s: %s", c.Action, c.Text(), tt.action, want)
			}
			if (len(c.Steps) > 0) != (d.Action == judge.Pass) || (c.GraceEnds != "") != (tt.before != "") {
				t.Errorf("steps %q, grace ends %q", c.Steps, c.GraceEnds)
			}
		})
	}
}

func TestTextOfStranger(t *testing.T) {
	t.Parallel()
	d := &judge.Decision{Action: judge.Throttle, Reason: judge.CrawlDelay, Subject: judge.Subject{Agent: crawler.Agent{Class: crawler.Person}}}
	if got := (&Check{Decision: Of(d)}).Text(); got != "stranger, a browser without a pass: crawl_delay" {
		t.Error(got)
	}
}

// Whatever was decided, all keys are there, and lists are never null.
func TestKeys(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/private/x"} {
		c, _ := checkOf(t, judge.Settings{}, file, "", "GPTBot", path)
		text, err := json.Marshal(c)
		if err != nil || strings.Contains(string(text), "null") {
			t.Errorf("%s %v", text, err)
		}
		for _, key := range []string{"crawler", "class", "evidence", "purpose", "verified", "action", "reason", "group", "rule", "layer", "line", "file",
			"version", "exempt_from"} {
			if !strings.Contains(string(text), `"`+key+`":`) {
				t.Errorf("%s: there is no key %s in %s", path, key, text)
			}
		}
	}
}
