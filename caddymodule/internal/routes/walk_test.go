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
	for route, handler := range Walk(list) {
		if handler == nil {
			events = append(events, "route "+route.Matcher())
		} else if h, ok := handler.Live.(*robots); ok {
			events = append(events, fmt.Sprint(h.number, route.Around != nil))
		}
	}
	if want := []string{"route ", "1 false", "route path /a/*", "2 true", "3 false", "route path /b"}; !slices.Equal(events, want) {
		t.Errorf("%q, want %q", events, want)
	}
	for range Walk(list) {
		break
	}
}

// A walk through a configuration that is not provisioned finds the same places, and what no
// request reaches.
func TestWalkJSON(t *testing.T) {
	server := new(caddyhttp.Server)
	if err := json.Unmarshal([]byte(`{
		"errors": {"routes": [{"handle": [{"handler": "robots", "n": "in error routes"}]}]},
		"named_routes": {"x": {"handle": [{"handler": "robots", "n": "in a named route"}]}},
		"routes": [
			{"match": [{"host": ["*.a.test", "b.test"]}], "handle": [{"handler": "subroute", "routes": [
				{"match": [{"host": ["x.a.test"], "not": [{"path": ["/api/*"]}]}], "handle": [{"handler": "robots", "n": "inside"}]},
				{"group": "g", "handle": [{"handler": "file_server", "pass_thru": true}]},
				{"group": "g", "handle": [{"handler": "robots", "n": "an alternative to all"}]},
				{"handle": [{"handler": "reverse_proxy", "handle_response": []}, {"handler": "static_response"}, {"handler": "robots", "n": "behind"}]},
				{"handle": [{"handler": "subroute", "routes": [{"handle": [{"handler": "robots", "n": "behind a route"}]}]}]}
			]}], "terminal": true},
			{"match": [{"host": ["c.test"]}, {"path": ["/c"]}], "handle": [{"handler": "robots", "n": "later"}]}
		]}`), server); err != nil {
		t.Fatal(err)
	}
	var got []string
	for route, handler := range Walk(All(server)) {
		if handler != nil && handler.Name == "robots" {
			var settings struct{ N string }
			if err := handler.Decode(&settings); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(settings.N, route.Hosts(), route.Matcher(), route.IsReached(handler)))
		}
	}
	if want := []string{
		"inside[x.a.test]not path /api/*true", "an alternative to all[*.a.test b.test]false", "behind[*.a.test b.test]false",
		"behind a route[*.a.test b.test]false", "later[]true", "in a named route[]true", "in error routes[]true",
	}; !slices.Equal(got, want) {
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
