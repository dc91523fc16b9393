package routes

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/enforce"
)

// Site is the place of a handler: its server, its route, and the sites that they
// serve. The zero Site is that of a handler whose place is not known.
type Site struct {
	Server *Server // nil for a handler in a named route
	Named  *Server // the server whose named route has the handler; nil for all others
	Route  *Route

	// Key stays the same over a reload, because it is made of the listeners, and
	// of the hosts and paths of the routes to the handler. A number makes it
	// unique if several handlers have the same.
	Key enforce.HandlerKey
}

// Find returns the sites of the handlers for which is returns true.
func Find(servers []*Server, is func(caddyhttp.MiddlewareHandler) bool) map[caddyhttp.MiddlewareHandler]*Site {
	sites := make(map[caddyhttp.MiddlewareHandler]*Site)
	for _, server := range servers {
		numbers := make(map[string]int) // the next ones, by Key.Handler and host
		for route, handler := range Walk(server.Live.Routes, nil) {
			if is(handler) {
				sites[handler] = &Site{Server: server, Route: route, Key: newKey(server, route, numbers)}
			}
		}
		for _, handler := range Walk(namedRoutes(server.Live), nil) {
			if is(handler) {
				sites[handler] = &Site{Named: server, Key: UnknownKey(handler)}
			}
		}
	}
	return sites
}

// UnknownKey returns the key of a handler without a route of a server. It is never
// repeated.
func UnknownKey(handler caddyhttp.MiddlewareHandler) enforce.HandlerKey {
	return enforce.HandlerKey{Handler: fmt.Sprintf("%p", handler)}
}

// newKey returns the next key of a handler in a route. It differs from all earlier
// ones with a host in common.
func newKey(server *Server, route *Route, numbers map[string]int) enforce.HandlerKey {
	key := enforce.HandlerKey{Hosts: route.Hosts(), Handler: strings.Join(server.Live.Listen, " ")}
	for _, r := range route.fromOutside() {
		if paths := r.paths(); paths != nil {
			key.Handler += " " + strings.Join(paths, ",")
		}
	}
	hosts := key.Hosts
	if len(hosts) == 0 {
		hosts = []string{""}
	}
	n := 0
	for _, host := range hosts {
		n = max(n, numbers[key.Handler+" "+host])
	}
	for _, host := range hosts {
		numbers[key.Handler+" "+host] = n + 1
	}
	key.Handler = fmt.Sprintf("%s #%d", key.Handler, n)
	return key
}

// Hosts returns the names of the sites: hosts, patterns or status.AnySite.
func (s *Site) Hosts() []string {
	if hosts := s.Route.Hosts(); len(hosts) > 0 {
		return hosts
	}
	return []string{status.AnySite}
}

// SiteOf returns the name of the site that a host belongs to, and the values of
// enforce.Request.Site and Request.Invented for the host.
func (s *Site) SiteOf(host string) (name, pattern string, invented bool) {
	if s.Server == nil {
		return status.AnySite, "", false
	}
	i, pattern, invented := s.Server.Site(host)
	return s.Server.Sites[i], pattern, invented
}

// HasScheme reports whether clients may use a scheme at the server: http without
// TLS, https with TLS, and both behind a trusted proxy.
func (s *Site) HasScheme(scheme string) bool {
	return s.Server == nil || s.Server.TrustsProxies() || (scheme == "https") == s.Server.HasTLS()
}

// PassesPath reports whether the path matchers of the routes to the handler let
// requests for a path pass.
func (s *Site) PassesPath(path string) bool {
	r, err := http.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	if err != nil || s.Server == nil {
		return true
	}
	return s.Route.passesPaths(caddyhttp.PrepareRequest(r, caddy.NewReplacer(), nil, s.Server.Live))
}

// SitesAround returns the names of the sites that a handler of a server is part
// of: those of the innermost route around it that has a host matcher, and the
// hosts that routes inside that route match. It returns nil if the handler is in
// none of the server's routes.
func SitesAround(server *caddyhttp.Server, handler caddyhttp.MiddlewareHandler) []string {
	var all []*Route
	var around *Route
	for route, h := range Walk(server.Routes, nil) {
		switch h {
		case nil:
			all = append(all, route)
		case handler:
			around = route
		}
	}
	if around == nil {
		return nil
	}
	for around.Around != nil && around.hosts() == nil {
		around = around.Around
	}
	sites := around.Hosts()
	if sites == nil {
		sites = []string{status.AnySite}
	}
	for _, route := range all {
		if !route.isInside(around) {
			continue
		}
		for _, host := range route.Hosts() {
			if !slices.Contains(sites, host) {
				sites = append(sites, host)
			}
		}
	}
	return sites
}
