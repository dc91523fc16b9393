package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Errors in a policy or an answer name the line.
func TestPolicyAndAnswerErrors(t *testing.T) {
	for text, want := range map[string]string{
		"policy":                                           "policy has no rules: give no-ai or no-training",
		"policy no-trainig":                                `unknown preset "no-trainig" (the presets are no-ai and no-training); did you mean no-training?, at Testfile:2`,
		"policy {\nhidden\n}":                              "hidden needs at least one value",
		"policy {\ndeny ai-trainig\n}":                     "did you mean ai-training?, at Testfile:3",
		"policy {\ndeny /x seo\n}":                         `"seo" comes after a path`,
		"policy {\nsignal search\n}":                       `"search" is not key=value`,
		"policy no-ai {\ndenny GPTBot\n}":                  `unknown subdirective "denny": did you mean deny?`,
		"policy {\nhidden secret\n}":                       "its path must start with / or *, and have no white space",
		"policy {\nlicense a b\n}":                         "license takes one value, not 2",
		"policy no-ai\npolicy no-ai":                       "policy is given twice",
		"policy no-training {\nallow GPTBott\n}":           "did you mean GPTBot?",
		"answer disallowed":                                "want a verdict (challenge, disallowed, hidden, impostor, pending, shed, throttled, unavailable)",
		"challenge":                                        "challenge needs the paths of pages, such as challenge /blame/* /search*, or the word disallowed, at Testfile:2",
		"challenge /x disallowed":                          "write either disallowed or patterns of paths",
		"challenge blame/*":                                "must start with / or *: write /blame/*",
		"challenge /x {\nover 5\n}":                        `over: "5" is not a rate: write it as 30/1m`,
		"challenge /x {\nover 5/1s\n}":                     "the time is not between 10s and 10m0s",
		"challenge /x {\nover 5/1h\n}":                     "the time is not between 10s and 10m0s",
		"challenge /x {\nover 0/1m\n}":                     "is not a rate",
		"challenge /x {\nfor 1m\n}":                        "for: 1m0s is below 10m0s, at Testfile:3",
		"challenge /x {\nfor 25h\n}":                       "challenge for 25h0m0s is not between 10m0s and 24h0m0s",
		"challenge /x {\nbetween 1m\n}":                    `unknown subdirective "between"`,
		"challenge /x\nchallenge /y":                       "challenge is given twice",
		"answer challenge mark x":                          "want the file of the page, or mark",
		"deny GPTBot":                                      `unknown subdirective "deny": this block has answer, challenge, `,
		"policy no-training deny X":                        `unknown preset "deny"`,
		"source inline \"User-agent: *\\nDisallow: /x\"":   "\\n does not begin a new line in a Caddyfile: break the line in the file, after \"source inline <<TXT\", at Testfile:2",
		"source inline \"User-agent: *\nDisallow: /x\\n\"": "does not begin a new line",
		"host a.test":                                      "host: want names or patterns of hosts, and then off, monitor or enforce",
		"host * off":                                       "host \"*\": write the hosts",
		"host a.test off\nhost A.test. monitor":            "host a.test is given twice, at Testfile:3",
		"verify on":                                        "verify on: write verify alone",
		"hidden /secret":                                   `unknown subdirective "hidden": this block has answer, `,
		"limit /a 30/1m":                                   `limit: path pattern "30/1m" must start with / or *`,
		"limit {\npolicy no-ai\n}":                         `unknown subdirective "policy": this block has all, at_once, each, each_at_once, except, hosts, at Testfile:3`,
		"challenge /x 20/1m":                               `challenge: path pattern "20/1m" must start with / or *`,
		"shed in_flight 64":                                `shed: unexpected "in_flight": it takes its options in a block`,
		"crawler Foo verify dns x.test":                    "crawler takes one value, not 4",
		"crawl_delay 10":                                   "the delay itself is a line of robots.txt, at Testfile:2",
		"source robots.txt":                                `source "robots.txt": want site, file, inline or url`,
		"exempt GPTBot 192.0.2.1":                          `the registry has no crawler "192.0.2.1"`,
		"exempt /feed.xml":                                 `"/feed.xml" is a path`,
		"answer denied 403":                                `answer "denied": want challenge, disallowed`,
		"answer disallowed 200":                            "answer disallowed 200: want the status 4xx other than 429",
		"answer disallowed 429":                            "want the status 4xx other than 429",
		"answer disallowed 503":                            "want the status 4xx other than 429",
		"answer impostor 500":                              "want the status 4xx other than 429",
		"answer throttled 403":                             "want the status 429 or 503",
		"answer throttled abort":                           "want the status 429 or 503",
		"answer pending redir /":                           "want the status 429 or 503",
		"answer unavailable 500":                           "want the status 503",
		"answer hidden 403":                                "want the status 404 or 410",
		"answer hidden redir /x":                           "want the status 404 or 410",
		"answer disallowed redir":                          "want one of a status, redir URL and abort",
		"answer disallowed redir mailto:x@y":               "want an http or https URL",
		"answer disallowed redir relative":                 "want an http or https URL",
		"answer disallowed soon":                           "want one of a status, redir URL and abort",
		"answer throttled 429 Slower, please.":             "a text is one value, in quotes, at Testfile:2",
		"answer disallowed redir /a b":                     "a text is one value, in quotes",
		"answer hidden 404\nanswer hidden 410":             "answer hidden is given twice, at Testfile:3",
	} {
		_, err := Parse(caddyfile.NewTestDispenser("robots {\n"+text+"\n}"), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n%v\nwant\n%s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error shows a hidden path: %v", err)
		}
	}
}

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
		if !isSwitch && !slices.Contains(withValues, name) && !slices.Contains(switchable, name) {
			t.Errorf("%s can't be switched off", name)
		}
	}
	if len(switchable) != 6 || !slices.IsSorted(switchable) {
		t.Errorf("%q", switchable)
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
