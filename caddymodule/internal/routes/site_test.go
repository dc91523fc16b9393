package routes

import (
	"fmt"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// robots is a handler that the tests search for.
type robots struct {
	caddyhttp.MiddlewareHandler
	number int
}

func isRobots(h caddyhttp.MiddlewareHandler) bool {
	_, ok := h.(*robots)
	return ok
}

// hostRoute returns a route for hosts, or for any host if they are nil, with the
// routes inside it.
func hostRoute(hosts []string, inside ...caddyhttp.Route) caddyhttp.Route {
	route := caddyhttp.Route{Handlers: []caddyhttp.MiddlewareHandler{&caddyhttp.Subroute{Routes: inside}}}
	if hosts != nil {
		match := caddyhttp.MatchHost(hosts)
		route.MatcherSets = caddyhttp.MatcherSets{{&match}}
	}
	return route
}

// pathRoute returns a route with handlers, for paths or for any path.
func pathRoute(paths []string, handlers ...caddyhttp.MiddlewareHandler) caddyhttp.Route {
	route := caddyhttp.Route{Handlers: handlers}
	if paths != nil {
		route.MatcherSets = caddyhttp.MatcherSets{{caddyhttp.MatchPath(paths)}}
	}
	return route
}

// Each handler has a key of its own, even if the routes to two handlers are the
// same.
func TestKeysOfHandlers(t *testing.T) {
	handlers := make([]*robots, 7)
	for i := range handlers {
		handlers[i] = &robots{number: i}
	}
	at := func(i int, hosts []string, paths ...string) caddyhttp.Route {
		if hosts == nil {
			return pathRoute(paths, handlers[i])
		}
		return hostRoute(hosts, pathRoute(paths, handlers[i]))
	}
	sites := Find([]*Server{NewServer(&caddyhttp.Server{Listen: []string{":80"}, Routes: caddyhttp.RouteList{
		at(0, []string{"A.test", "b.test"}), at(1, []string{"a.test"}, "/shop/*"), at(2, []string{"b.test"}), at(3, []string{"c.test"}), at(4, nil), at(5, []string{"*.d.test"}), at(6, []string{"b.test"}),
	}})}, isRobots)
	for i, want := range []string{
		"[a.test b.test] :80 #0", "[a.test] :80 /shop/* #0", "[b.test] :80 #1", "[c.test] :80 #0", "[] :80 #0", "[*.d.test] :80 #0", "[b.test] :80 #2",
	} {
		key := sites[handlers[i]].Key
		if got := fmt.Sprint(key.Hosts, " ", key.Handler); got != want {
			t.Errorf("handler %d: %q, want %q", i, got, want)
		}
	}
}

// The place of a handler says which hosts and paths it gets requests for.
func TestSites(t *testing.T) {
	inside, anywhere, named := new(robots), new(robots), &robots{number: 1}
	server := NewServer(&caddyhttp.Server{
		Routes: caddyhttp.RouteList{
			hostRoute([]string{"a.test", "*.b.test"}, hostRoute([]string{"x.b.test", "c.test"}, pathRoute([]string{"/shop/*"}, inside))),
			pathRoute(nil, anywhere),
		},
		NamedRoutes: map[string]*caddyhttp.Route{"robots": {Handlers: []caddyhttp.MiddlewareHandler{named}}},
	})
	sites := Find([]*Server{server}, isRobots)
	if got := fmt.Sprint(server.Sites); got != "[a.test x.b.test c.test *.b.test *]" {
		t.Errorf("sites of the server: %s", got)
	}
	for _, tt := range []struct {
		handler *robots
		hosts   string
		matcher string
		serves  string // of x.b.test, y.b.test and a.test
		robots  bool   // passes /robots.txt
	}{
		{inside, "[x.b.test]", "path /shop/*", "true false false", false},
		{anywhere, "[*]", "", "true true true", true},
	} {
		s := sites[tt.handler]
		if got := fmt.Sprint(s.Hosts); got != tt.hosts || s.Route.Matcher() != tt.matcher {
			t.Errorf("%s: hosts %s, matcher %q", tt.hosts, got, s.Route.Matcher())
		}
		if got := fmt.Sprint(s.Serves("x.b.test"), s.Serves("y.b.test"), s.Serves("a.test")); got != tt.serves {
			t.Errorf("%s: serves %s", tt.hosts, got)
		}
		if s.Route.PassesPath("/robots.txt") != tt.robots || !s.Route.PassesPath("/shop/x") {
			t.Errorf("%s: wrong paths", tt.hosts)
		}
	}
	if sites[named] != nil {
		t.Error("the place of a handler in a named route is known")
	}
	if s := sites[anywhere]; s.SiteOf("a.test") != "a.test" || s.SiteOf("y.b.test") != "*.b.test" || s.SiteOf("y.y.b.test") != "*" {
		t.Error("wrong sites of hosts")
	}
}
