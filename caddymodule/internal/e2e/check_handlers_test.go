package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// robotsWith returns a robots directive, with a matcher, that disallows /private/
// to all crawlers, with further lines.
func robotsWith(matcher, lines string) string {
	return "robots " + matcher + " {\n\t\tsource inline \"User-agent: *\nDisallow: /private/\nDisallow: /api/private/\"\n\t\t" + lines + "\n\t}\n\t"
}

// check asks the admin API for a decision.
func (s *server) check(host, path, agent, more string) statusapi.Check {
	s.t.Helper()
	return adminValue[statusapi.Check](s, fmt.Sprintf("check?ua=%s&url=%s%s", url.QueryEscape(agent), url.QueryEscape(fmt.Sprintf("http://%s:%d%s", host, s.port, path)), more))
}

// A check gives the decision that the server makes, whatever routes are in front of
// the handlers.
func TestAdminAPICheckEvaluatesMatchers(t *testing.T) {
	t.Parallel()
	const curl = "curl/8.5.0"
	tests := []struct {
		name, site string
		agent      string
		paths      string
	}{
		{"two handlers behind path matchers",
			"@rest not path /api/*\n\t@api path /api/*\n\t" + robotsWith("@rest", "http_clients on") + robotsWith("@api", "") + "respond page",
			curl, "/private/x /api/private/x /x /api/x /robots.txt"},
		{"the other order",
			"@rest not path /api/*\n\t@api path /api/*\n\t" + robotsWith("@api", "") + robotsWith("@rest", "http_clients on") + "respond page",
			curl, "/private/x /api/private/x /api/%70rivate/x"},
		{"handle blocks",
			"handle /api/* {\n\t" + robotsWith("", "") + "respond page\n\t}\n\thandle {\n\t" + robotsWith("", "http_clients on") + "respond page\n\t}",
			curl, "/private/x /api/private/x"},
		{"handle_path", "handle_path /site/* {\n\t@in path /in/*\n\t" + robotsWith("@in", "http_clients on") + "respond page\n\t}\n\trespond other",
			curl, "/site/in/x /site/x /private/x"},
		{"a path that no handler has", "@api path /api/*\n\t" + robotsWith("@api", "http_clients on") + "respond page",
			curl, "/private/x /api/private/x"},
		{"a User-Agent matcher", "@bots header User-Agent *GPT*\n\t@rest not header User-Agent *GPT*\n\t" + robotsWith("@bots", "exempt_paths /private/*") + robotsWith("@rest", "") + "respond page",
			gptbot, "/private/x /api/private/x"},
		{"the other User-Agent", "@bots header User-Agent *GPT*\n\t@rest not header User-Agent *GPT*\n\t" + robotsWith("@bots", "exempt_paths /private/*") + robotsWith("@rest", "") + "respond page",
			bingbot, "/private/x /api/private/x"},
		{"a query matcher", "@a query a=1\n\t" + robotsWith("@a", "") + "respond page", gptbot, "/private/x?a=1 /private/x?a=2 /private/x"},
		{"a response before the handler", "route {\n\trespond /private/open page\n\t" + robotsWith("", "") + "respond page\n\t}", gptbot, "/private/open /private/x"},
		{"a rewrite before the handler", "route {\n\trewrite /old/* /new/x\n\t@new path /new/*\n\t" + strings.ReplaceAll(robotsWith("@new", "http_clients on"), "/private/", "/old/") + "respond page\n\t}", curl, "/old/x /new/x /x"},
	}
	config := "http://other.test:$PORT {\n\t" + robotsWith("", "") + "\n}\n"
	for i, tt := range tests {
		config += fmt.Sprintf("http://shop%d.test:$PORT {\n\troute {\n\t%s\n\t}\n}\n", i, tt.site)
	}
	s := start(t, config)
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			shop := fmt.Sprintf("shop%d.test", i)
			for _, path := range strings.Fields(tt.paths) {
				want := map[int]string{200: "pass", 403: "deny"}[s.rawAt(shop, path, tt.agent).status]
				if c := s.check(shop, path, tt.agent, ""); c.Action != want || !c.Certain || c.Message == "" {
					t.Errorf("%s: the server decides %s, and the check is %+v", path, want, c)
				}
			}
		})
	}
}

func TestAdminAPICheckWithSeveralHandlers(t *testing.T) {
	t.Parallel()
	s := start(t, "http://shop.test:$PORT {\n\t@inside {\n\t\tremote_ip 192.0.2.0/24\n\t\tnot path /api/*\n\t}\n\t@expression expression `{header.X-Test} == \"1\"`\n\t@api path /api/*\n\t"+
		"route {\n\t"+robotsWith("@inside", "")+robotsWith("@expression", "mode monitor")+robotsWith("@api", "exempt_paths /api/*")+"respond page\n\t}\n}\n")

	c := s.check("shop.test", "/private/x", "GPTBot", "")
	if c.Action != "deny" || c.Certain || !strings.Contains(c.Matcher, "remote_ip ranges 192.0.2.0/24") || len(c.Others) != 1 || c.More != 0 || !strings.Contains(c.Message, "not certain which of 2 robots handlers") {
		t.Errorf("matchers that can't be evaluated: %+v", c)
	} else if o := c.Others[0]; o.Action != "would_deny" || o.Certain || o.Matcher != "expression" || len(o.Others) != 0 {
		t.Errorf("the other one: %+v", o)
	}
	c = s.check("shop.test", "/api/private/x", "GPTBot", "")
	if c.Action != "pass" || c.Reason != "exempt_path" || c.Certain || c.Matcher != "path /api/*" || len(c.Others) != 1 || c.Others[0].Action != "would_deny" {
		t.Errorf("one handler is surely reached, and another one may decide before: %+v", c)
	}
	var matchers []string
	for _, p := range adminValue[statusapi.Origins](s, "origins?site=shop.test").Origins {
		matchers = append(matchers, p.Matcher)
	}
	if slices.Sort(matchers); len(matchers) != 3 || matchers[0] != "expression" || !slices.Contains(matchers, "path /api/*") {
		t.Errorf("policies of handlers with the matchers %q", matchers)
	}
	if out, _ := s.status(); !strings.Contains(out, "(path /api/*)") {
		t.Errorf("status shows no matchers:\n%s", out)
	}
}

func TestAdminAPICheckWithoutAHandler(t *testing.T) {
	t.Parallel()
	s := start(t, "http://shop.test:$PORT {\n\t@api path /api/*\n\t"+robotsWith("@api", "")+"respond page\n}\n")
	if c := s.check("shop.test", "/private/x", "GPTBot", ""); c.Action != "pass" || c.Reason != "no_handler" || c.OriginID != "" || c.Site != "shop.test" || c.Message == "" {
		t.Errorf("%+v", c)
	}
}

func TestAdminAPICheckOfAnExemptCrawler(t *testing.T) {
	t.Parallel()
	s := start(t, "http://shop.test:$PORT {\n\t"+robotsWith("", "exempt GPTBot from 192.0.2.0/24 2001:db8::/32\n\t\texempt bingbot from 127.0.0.1 ::1")+"\n\trespond page\n}\n")
	s.wants(403, s.at("shop.test", gptbot, "/private/x"), "another address")
	s.wants(200, s.at("shop.test", bingbot, "/private/x"), "an exempt address")
	for _, tt := range []struct{ agent, client, action, exempt string }{
		{"GPTBot", "", "deny", "[192.0.2.0/24 2001:db8::/32]"},
		{"GPTBot", "192.0.2.7", "pass", "[]"},
		{"GPTBot", "2001:db8::7", "pass", "[]"},
		{"GPTBot", "127.0.0.1", "deny", "[]"},
		{"bingbot", "127.0.0.1", "pass", "[]"},
		{"CCBot", "", "deny", "[]"},
	} {
		c := s.check("shop.test", "/private/x", tt.agent, "&client="+tt.client)
		if c.Action != tt.action || fmt.Sprint(c.ExemptFrom) != tt.exempt || strings.Contains(c.Message, "exempt for requests from 192.0.2.0/24, 2001:db8::/32") != (tt.exempt != "[]") {
			t.Errorf("%s from %q: %+v", tt.agent, tt.client, c)
		}
	}
	s.adminRequest(http.MethodGet, "check?ua=GPTBot&url=http://shop.test/&client=localhost", 400, nil)
}

// A product token that nobody knows may be misspelt: the rules for * would seem to allow the
// URL. A whole User-Agent need not be known.
func TestAdminAPICheckOfAMisspeltToken(t *testing.T) {
	t.Parallel()
	s := start(t, "http://shop.test:$PORT {\n\trobots {\n\t\tsource inline \"User-agent: AcmeThing\nDisallow: /private/\"\n\t}\n\trespond page\n}\n")
	for agent, want := range map[string]string{
		"GPTBto": "did you mean GPTBot?", "AcmeThign": "did you mean AcmeThing?", "zzzz": "sends this token.",
	} {
		got := s.adminRequest(http.MethodGet, fmt.Sprintf("check?ua=%s&url=http://shop.test:%d/private/x", agent, s.port), 400, nil)
		if !strings.Contains(got.body, "robots: ua="+agent+": no crawler in the registry or robots.txt") || !strings.Contains(got.body, want) {
			t.Errorf("%s: %s", agent, got.body)
		}
	}
	for _, agent := range []string{"GPTBto/1.0", "", "GPTBot", "acmething", "Google-Extended", chrome} {
		if c := s.check("shop.test", "/private/x", agent, ""); (c.Action == "deny") != (agent == "acmething") {
			t.Errorf("%q: %+v", agent, c)
		}
	}
}
