package routes

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// A walk yields each route before its handlers, and the handlers in the order in
// which requests reach them.
func TestWalk(t *testing.T) {
	one, two, three := &robots{number: 1}, &robots{number: 2}, &robots{number: 3}
	list := caddyhttp.RouteList{
		{Handlers: []caddyhttp.MiddlewareHandler{one, &caddyhttp.Subroute{Routes: caddyhttp.RouteList{pathRoute([]string{"/a/*"}, two)}}, three}},
		pathRoute([]string{"/b"}),
	}
	var events []string
	for route, handler := range walk(nil, list) {
		switch h := handler.(type) {
		case nil:
			events = append(events, "route "+route.Matcher())
		case *robots:
			events = append(events, fmt.Sprint(h.number, route.Around != nil))
		}
	}
	if want := []string{"route ", "1 false", "route path /a/*", "2 true", "3 false", "route path /b"}; !slices.Equal(events, want) {
		t.Errorf("%q, want %q", events, want)
	}
	for range walk(nil, list) {
		break
	}
}

// A walk through JSON finds the handlers in any routes, with the same places.
func TestWalkJSON(t *testing.T) {
	var server any
	if err := json.Unmarshal([]byte(`{
		"listen": [":443"],
		"tls_connection_policies": [{"match": {"sni": ["a.test"]}}],
		"errors": {"routes": [{"handle": [{"handler": "robots", "n": "in error routes"}]}]},
		"routes": [
			{"match": [{"host": ["*.a.test", "b.test"]}], "handle": [{"handler": "subroute", "routes": [
				{"match": [{"host": ["x.a.test"], "not": [{"path": ["/api/*"]}]}], "handle": [{"handler": "robots", "n": "inside"}]}
			]}]},
			{"match": [{"host": ["c.test"]}, {"path": ["/c"]}], "handle": [
				{"handler": "reverse_proxy", "handle_response": [{"match": {"status_code": [2]}, "routes": [{"handle": [{"handler": "robots", "n": "in a handler"}]}]}]}
			]}
		]}`), &server); err != nil {
		t.Fatal(err)
	}
	var got []string
	for route, handler := range WalkJSON(server) {
		if handler["handler"] == "robots" {
			got = append(got, fmt.Sprint(handler["n"], route.Hosts(), route.Matcher()))
		}
	}
	if want := []string{"in error routes[]", "inside[x.a.test]not path /api/*", "in a handler[]"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestMatchesHost(t *testing.T) {
	for _, tt := range []struct {
		pattern, host string
		want          bool
	}{
		{"*.a.test", "x.a.test", true}, {"*.a.test", "a.test", false}, {"*.a.test", "x.y.a.test", false}, {"a.*.test", "a.b.test", true},
		{"A.test", "a.test", true}, {"a.test", "b.test", false}, {"*", "localhost", true}, {"*", "a.test", false},
	} {
		if MatchesHost(tt.pattern, tt.host) != tt.want {
			t.Errorf("%s for %s: want %t", tt.pattern, tt.host, tt.want)
		}
	}
}
