package routes

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// routeOf returns a route of a configuration with matchers, inside another one.
func routeOf(t *testing.T, match string, around *Route) *Route {
	t.Helper()
	route := new(caddyhttp.Route)
	if err := json.Unmarshal([]byte(match), &route.MatcherSetsRaw); err != nil {
		t.Fatal(err)
	}
	return &Route{Around: around, route: route}
}

func TestMatcherText(t *testing.T) {
	for _, tt := range []struct{ match, want string }{
		{`null`, ""},
		{`[{"host":["a.test"]}]`, ""},
		{`[{"host":["a.test"],"path":["/a/*"]}]`, "path /a/*"},
		{`[{"host":["a.test"],"path":["/a/*"]},{"host":["b.test"]}]`, ""},
		{`[{"path":["/a/*","/b"],"method":["GET"]}]`, "method GET and path /a/* /b"},
		{`[{"path":["/a/*"]},{"method":["GET"]}]`, "(path /a/* or method GET)"},
		{`[{"not":[{"path":["/a/*"]}]}]`, "not path /a/*"},
		{`[{"not":[{"path":["/a/*"]},{"method":["GET"]}]}]`, "not (path /a/* or method GET)"},
		{`[{"not":[{"path":["/a/*"],"method":["GET"]}]}]`, "not (method GET and path /a/*)"},
		{`[{"not":[{"host":["a.test"]}]}]`, "not host …"},
		{`[{"not":[{"host":["a.test","b.test"],"path":["/a"]}]}]`, "not (host … and path /a)"},
		{`[{"header":{"Authorization":["secret"]},"query":{"key":["secret"]}}]`, "header and query"},
		{`[{"expression":{"name":"x","expr":"{header.X-Token} == 'secret'"}}]`, "expression"},
		{`[{"tls":{}}]`, "tls"},
	} {
		if got := routeOf(t, tt.match, nil).Matcher(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.match, got, tt.want)
		}
	}
	inside := routeOf(t, `[{"query":{}}]`, routeOf(t, `[{"path":["/a"]},{"method":["GET"]}]`, nil))
	if got := inside.Matcher(); got != "(path /a or method GET) and query" {
		t.Errorf("two routes: %q", got)
	}
	long := routeOf(t, `[{"path":["`+strings.Repeat("é", maxMatcherText)+`"]}]`, nil)
	if got := long.Matcher(); got != "path "+strings.Repeat("é", (maxMatcherText-len("path "))/2)+"…" {
		t.Errorf("cut: %q", got)
	}
}
