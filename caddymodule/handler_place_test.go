package caddymodule

import (
	"fmt"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// Each handler has a place of its own, even if the routes to two handlers are the
// same.
func TestHandlersHaveDifferentPlaces(t *testing.T) {
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
		at(0, []string{"A.test", "b.test"}), at(1, []string{"a.test"}, "/shop/*"), at(2, []string{"b.test"}), at(3, []string{"c.test"}), at(4, nil), at(5, []string{"*.d.test"}), at(6, []string{"b.test"}),
	}
	f := placeFinder{places: make(map[*Handler]enforce.HandlerKey), next: make(map[string]int)}
	f.search(routes, enforce.HandlerKey{Handler: ":80"}, 0)
	for i, want := range []string{
		"[a.test b.test] :80 #0", "[a.test] :80 /shop/* #0", "[b.test] :80 #1", "[c.test] :80 #0", "[] :80 #0", "[*.d.test] :80 #0", "[b.test] :80 #2",
	} {
		place := f.places[handlers[i]]
		if got := fmt.Sprint(place.Hosts, " ", place.Handler); got != want {
			t.Errorf("handler %d: %q, want %q", i, got, want)
		}
	}
}
