package caddymodule

import (
	"fmt"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// Handlers that the routes to them tell apart have places of their own, as have
// those that they don't.
func TestPlaces(t *testing.T) {
	handlers := make([]*Handler, 7)
	for i := range handlers {
		handlers[i] = new(Handler)
	}
	at := func(i int, hosts []string, paths ...string) caddyhttp.Route {
		route := caddyhttp.Route{Handlers: []caddyhttp.MiddlewareHandler{handlers[i]}}
		if paths != nil {
			route.MatcherSets = caddyhttp.MatcherSets{{caddyhttp.MatchPath(paths)}}
		}
		if hosts == nil {
			return route
		}
		return caddyhttp.Route{
			MatcherSets: caddyhttp.MatcherSets{{(*caddyhttp.MatchHost)(&hosts)}},
			Handlers:    []caddyhttp.MiddlewareHandler{&caddyhttp.Subroute{Routes: caddyhttp.RouteList{route}}},
		}
	}
	routes := caddyhttp.RouteList{
		at(0, []string{"A.test", "b.test"}), at(1, []string{"a.test"}, "/shop/*"), at(2, []string{"b.test"}), at(3, []string{"c.test"}), at(4, nil), at(5, []string{"*.d.test"}),
	}
	for i, want := range []string{
		"[a.test b.test] :80 #0", "[a.test] :80 /shop/* #0", "[b.test] :80 #1", "[c.test] :80 #0", "[] :80 #3", "[*.d.test] :80 #4", "",
	} {
		f := placeFinder{handler: handlers[i]}
		found := f.search(routes, enforce.Place{Handler: ":80"}, 0)
		if got := fmt.Sprint(f.found.Hosts, " ", f.found.Handler); found != (want != "") || found && got != want {
			t.Errorf("handler %d: %v, %q, want %q", i, found, got, want)
		}
	}
}
