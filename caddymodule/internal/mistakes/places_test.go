package mistakes_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/mistakes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// placesOf returns what is wrong with the places of the handlers in routes in JSON.
func placesOf(t *testing.T, list string) []mistakes.Place {
	t.Helper()
	var server any
	if err := json.Unmarshal([]byte(`{"routes": [`+list+`]}`), &server); err != nil {
		t.Fatal(err)
	}
	var places mistakes.Places
	for route, handler := range routes.WalkJSON(server) {
		var robots *mistakes.Robots
		if handler["handler"] == "robots" {
			robots = &mistakes.Robots{Name: "it", Forwarded: handler["forwarded"] == true}
		}
		places.Add(route, handler, robots)
	}
	return places.Found()
}

func TestPlaces(t *testing.T) {
	const (
		robots = `{"handler": "robots"}`
		page   = `{"handler": "static_response"}`
		proxy  = `{"handler": "reverse_proxy"}`
		strip  = `{"handler": "rewrite", "strip_path_prefix": "/app"}`
	)
	handle := func(match string, handlers ...string) string {
		return `{"match": [{` + match + `}], "handle": [` + strings.Join(handlers, ",") + `]}`
	}
	inside := func(list ...string) string {
		return `{"handler": "subroute", "routes": [` + strings.Join(list, ",") + `]}`
	}
	site := func(match string, handlers ...string) string {
		return strings.TrimSuffix(handle(match, handlers...), "}") + `, "terminal": true}`
	}
	const a, b, unreached = `"host": ["a.test"]`, `"host": ["b.test"]`, "no request reaches"
	for _, tt := range []struct {
		name, routes string
		want         string // "" if nothing is wrong
	}{
		{"a site", site(a, robots, proxy), ""},
		{"behind an answer", site(a, page, robots), unreached},
		{"another path inside", site(a, inside(handle(`"path": ["/a/*"]`, inside(handle(`"path": ["/b/*"]`, robots))), handle("", page))), unreached},
		{"a path inside", site(a, inside(handle(`"path": ["/a/*"]`, inside(handle(`"path": ["/a/b/*"]`, robots))), handle("", page))), ""},
		{"another path inside, after a rewrite", site(a, inside(handle(`"path": ["/app/*"]`, strip, inside(handle(`"path": ["/b/*"]`, robots))), handle("", page))), ""},
		{"another host inside", site(a, inside(handle(b, robots), handle("", page))), unreached},
		{"a host that is not known", site(`"host": ["{env.HOST}"]`, inside(handle(b, robots), handle("", page))), ""},
		{"another method inside", site(`"method": ["GET"]`, inside(handle(`"method": ["POST"]`, robots), handle("", page))), unreached},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := placesOf(t, tt.routes)
			if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0].What, tt.want) || got[0].Kind != statusapi.NoRules) {
				t.Errorf("%+v, want %q", got, tt.want)
			}
		})
	}
	door := site(a, `{"handler": "robots", "forwarded": true}`, page)
	if got := placesOf(t, door); len(got) != 1 || got[0].Severity != statusapi.Severe || !strings.Contains(got[0].What, "clients can miss forwarded_request") {
		t.Errorf("a proxy's requests that a client can miss: %+v", got)
	}
	if got := placesOf(t, door+`, {"handle": [{"handler": "static_response", "status_code": 403}]}`); len(got) != 0 {
		t.Errorf("all others are refused: %+v", got)
	}
}

// A problem is in the words of who may see it.
func TestProblemsOfPlaces(t *testing.T) {
	place := mistakes.Late([]string{"a.test", "b.test"})
	for _, tt := range []struct {
		scope   statusapi.Scope
		subject string
	}{
		{statusapi.AllSites(), "a.test, b.test"}, {statusapi.Sites("b.test", "c.test"), "b.test"}, {statusapi.Sites("c.test"), ""},
	} {
		got := place.Problems(tt.scope)
		if tt.subject == "" && len(got) > 0 || tt.subject != "" && (len(got) != 1 || got[0].Subject != tt.subject || !strings.HasPrefix(got[0].Message, "the robots handler of "+tt.subject+" has never decided")) {
			t.Errorf("%+v, want %q", got, tt.subject)
		}
	}
	none, meeting := mistakes.WithoutHandler(), mistakes.Meeting([]string{"x", "y"})
	if p := none.Problems(statusapi.AllSites()); len(p) != 1 || p[0].Kind != statusapi.NoRules || len(none.Problems(statusapi.Sites("a.test"))) > 0 {
		t.Errorf("no handler: %+v", p)
	}
	if p := meeting.Problems(statusapi.AllSites()); len(p) != 1 || p[0].Kind != "handlers" || !strings.HasSuffix(p[0].Message, ": x, and 1 pair more") {
		t.Errorf("handlers that may meet: %+v", p)
	}
}

func TestMonitored(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]string{0: "", 29 * 24 * time.Hour: "", 31*24*time.Hour + 1: "for 31 days at least"} {
		got := mistakes.Monitored(now.Add(-age), now)
		if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.Contains(got[0].Message, want) || !got[0].Since.Equal(now.Add(-age))) {
			t.Errorf("%v: %+v", age, got)
		}
	}
	if got := mistakes.Monitored(time.Time{}, now); len(got) > 0 {
		t.Errorf("since when is not known: %+v", got)
	}
}

// A file that all hosts of a pattern have is the site's, one of a single host is its
// tenant's.
func TestHosts(t *testing.T) {
	broken, fine := rulesOf(t, judge.Content{Body: []byte("User-agent: *\nDisallow: a\n")}), rulesOf(t, judge.Content{Body: []byte("User-agent: *\nDisallow: /\n")})
	problem := func(message string) statusapi.Problem {
		return statusapi.Problem{Severity: statusapi.Warning, Kind: statusapi.Mistake, Subject: message, Message: message}
	}
	var hosts mistakes.Hosts
	hosts.Add(1, "*.one.test", broken, problem("b"))
	hosts.Add(1, "*.one.test", broken, problem("a"))
	hosts.Add(1, "*.two.test", broken, problem("c"))
	hosts.Add(1, "*.two.test", fine, statusapi.Problem{})
	hosts.Add(1, "*.three.test", fine, statusapi.Problem{})
	hosts.Add(2, "*.three.test", broken, problem("d"))
	got := make(map[string]string)
	for _, p := range hosts.Problems() {
		got[p.Message] = p.Subject
	}
	if len(got) != 2 || got["a"] != "*.one.test" || got["d"] != "*.three.test" {
		t.Errorf("%v", got)
	}
}
