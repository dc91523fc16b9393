package challenge

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/internal/snippet"
)

// A fleet with one User-Agent that fetches a style sheet with each page counts like lone
// addresses, also if many people have its User-Agent, and does not where pages of the paths
// are as many as for others.
func TestCohorts(t *testing.T) {
	for name, tt := range map[string]struct {
		storms string // the User-Agent of the fleet
		want   bool
	}{
		"a User-Agent of its own":         {"Mozilla/5.0 (Fleet)", true},
		"the commonest of the visitors'":  {"Mozilla/5.0 (Visitor 0)", true},
		"as many pages as all others get": {"", false},
	} {
		s := newSite(t, nil)
		visit := func(i int, agent, target string) {
			s.ask("GET", target, address(i), "User-Agent", agent)
			s.ask("GET", "/style.css", address(i), "User-Agent", agent)
		}
		for i := range 300 { // visitors of other pages, some of whom see the paths
			agent := fmt.Sprintf("Mozilla/5.0 (Visitor %d)", max(0, i%6-1))
			visit(i, agent, "/")
			if i%10 == 0 {
				visit(i, agent, "/blame/x")
			}
		}
		for i := range 3 * 60 * 5 {
			if i%5 == 0 {
				s.now = s.now.Add(time.Second)
			}
			agent := tt.storms
			if agent == "" {
				agent = fmt.Sprintf("Mozilla/5.0 (Visitor %d)", max(0, i%6-1))
			}
			visit(10_000+i, agent, "/blame/x")
		}
		if s.isOn() != tt.want {
			t.Errorf("%s: %t", name, !tt.want)
		}
	}
}

// A storm that passes the check, or that is only told, is named by its User-Agent. Where it is rare
// among other visitors, and can be written safely, there are lines that refuse it.
func TestNamedCohorts(t *testing.T) {
	const fleet = "Mozilla/5.0 (Fleet; #1) \"x\""
	for name, tt := range map[string]struct {
		agent    string
		visitors int // of other pages with it, of 200
		want     string
	}{
		"rare":             {"Mozilla/5.0 (Fleet; #1)", 1, "@fleet {\n\theader User-Agent \"Mozilla/5.0 (Fleet; #1)\"\n\tvars_regexp {http.request.orig_uri} \"^(?:/blame/)\"\n}\nrespond @fleet 403"},
		"one in a hundred": {"Mozilla/5.0 (Fleet; #1)", 2, ""},
		"with quotes":      {fleet, 0, ""},
		"cut":              {strings.Repeat("x", maxKept+1), 0, ""},
	} {
		s := newSite(t, nil)
		watch := newSite(t, func(c *Config) { *c = Config{name: "storms", over: 60, window: time.Minute, paths: pathsOf(t, "/*")} })
		isCountedWithFleet := func(agent string) bool { // by chance
			for _, site := range []*site{s, watch} {
				for storm := range site.check.Storms {
					fleets, _ := storm.cohorts.visitorsWith(tt.agent)
					if count, _ := storm.cohorts.visitorsWith(agent); count == fleets {
						return true
					}
				}
			}
			return false
		}
		var visitors []string
		for i := 0; len(visitors) < 20; i++ {
			if agent := fmt.Sprintf("Mozilla/5.0 (Visitor %d)", i); !isCountedWithFleet(agent) {
				visitors = append(visitors, agent)
			}
		}
		for i := range 200 {
			agent := visitors[i%20]
			if i < tt.visitors {
				agent = tt.agent
			}
			for range 2 { // who comes again is counted once
				s.ask("GET", "/", address(i), "User-Agent", agent)
				watch.watch("/style.css", address(i), "User-Agent", agent)
			}
		}
		for i := range 1800 {
			if i%10 == 0 {
				s.now = s.now.Add(time.Second)
				watch.now = s.now
			}
			s.ask("GET", "/blame/x", address(1000+i), "User-Agent", tt.agent)
			watch.watch("/blame/x", address(1000+i), "User-Agent", tt.agent)
		}
		for _, site := range []*site{s, watch} {
			for storm := range site.check.Storms {
				var p step.Problem
				storm.name(&p, []string{"/blame/*"})
				lines := ""
				for _, a := range p.Actions {
					lines += a.Text
				}
				if lines != tt.want || !strings.Contains(p.Message, fmt.Sprintf(", which %d of 200 visitors of other pages have", tt.visitors)) ||
					strings.Contains(p.Plain, tt.agent) {
					t.Errorf("%s, %s: %q: %s", name, site.check.name, lines, p.Message)
				}
				if n := storm.addresses.Load(); !storm.on.Load() || n < 1000 || n > 1800 {
					t.Errorf("%s, %s: %d addresses", name, site.check.name, n)
				}
			}
		}
	}
}

// The lines that refuse a User-Agent are, for Caddy, one matcher with that User-Agent and one
// respond, whatever clients send, and are for the targets that the patterns match.
func FuzzRefuse(f *testing.F) {
	f.Add(chrome, "/blame/*", "/blame/x?a=1")
	f.Add("Mozilla/5.0 (Fleet) {$HOME} {http.request.uri}", "/*/*/blame/*", "/u/r/blame/main/a/b.go")
	f.Add("\"\nrespond 403\n#", "/w/index.php?*diff=", "/w/index.php?title=T&diff=1")
	f.Add("*", "/a/b$", "/a/b?c")
	f.Add("x*", "*.php$", "/a.b+c.php")
	f.Add("a`b\\", "/a|b", "/a")
	f.Add("<<EOF", "/{path}", "/")
	f.Add(" x ", "/%41", "/A")
	f.Add("\u00e9\x00\t", "/(?i)", "/x")
	isTarget := regexp.MustCompile(`^/[a-z0-9/?=&.+:@_~-]*$`)
	f.Fuzz(func(t *testing.T, agent, pattern, target string) {
		lines := snippet.Refuse(agent, []string{pattern, "/own/*"})
		if lines == "" {
			return
		}
		text, warnings, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte("http://a.test {\n\t"+strings.ReplaceAll(lines, "\n", "\n\t")+"\n}\n"), map[string]any{"filename": "Caddyfile"})
		if err != nil {
			t.Fatalf("%q: %v", lines, err)
		}
		uri, rest, _ := strings.Cut(lines[strings.Index(lines, "\"^(?:")+1:], "\"\n")
		if rest != "}\nrespond @fleet 403" {
			t.Fatalf("%q", lines)
		}
		match := map[string]any{
			"header":      map[string][]string{"User-Agent": {agent}},
			"vars_regexp": map[string]any{"{http.request.orig_uri}": map[string]string{"name": "fleet", "pattern": uri}},
		}
		route := map[string]any{"match": []any{match}, "handle": []any{map[string]any{"handler": "static_response", "status_code": 403}}}
		subroute := map[string]any{"handler": "subroute", "routes": []any{route}}
		site := map[string]any{"match": []any{map[string]any{"host": []string{"a.test"}}}, "handle": []any{subroute}, "terminal": true}
		server := map[string]any{"listen": []string{":80"}, "routes": []any{site}}
		want, _ := json.Marshal(map[string]any{"apps": map[string]any{"http": map[string]any{"servers": map[string]any{"srv0": server}}}})
		var got any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if sorted, _ := json.Marshal(got); string(sorted) != string(want) || len(warnings) > 0 {
			t.Fatalf("%q: %s, %v, want %s", lines, sorted, warnings, want)
		}
		if isTarget.MatchString(target) {
			s := newSite(t, nil)
			s.check.paths = pathsOf(t, pattern, "/own/*")
			matches := s.check.closes(s.rules, &s.request("GET", target, "192.0.2.1").Request)
			if regexp.MustCompile(uri).MatchString(target) != matches {
				t.Fatalf("%s matches %s: %t", pattern, target, matches)
			}
		}
	})
}
