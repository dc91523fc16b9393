package caddymodule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// place returns where in the configuration the handler stands, in a form that
// stays the same over a reload: the listeners, the hosts and the paths of the
// routes to it, and which one it is of those that these don't tell apart. A
// handler that no route leads to has a place that no other one ever has.
func (h *Handler) place(ctx caddy.Context) enforce.Place {
	if app, err := ctx.AppIfConfigured("http"); err == nil {
		for _, server := range app.(*caddyhttp.App).Servers {
			f := placeFinder{handler: h}
			if f.search(server.Routes, enforce.Place{Handler: strings.Join(server.Listen, " ")}, 0) {
				return f.found
			}
		}
	}
	return enforce.Place{Handler: fmt.Sprintf("%p", h)}
}

// placeFinder goes through the routes of a server in their order.
type placeFinder struct {
	handler *Handler
	earlier []enforce.Place // of other robots handlers
	found   enforce.Place
}

// search reports whether the handler is below routes, which stand at a place.
func (f *placeFinder) search(routes caddyhttp.RouteList, at enforce.Place, depth int) bool {
	if depth > maxRouteDepth {
		return false
	}
	for i := range routes {
		at := below(at, routes[i].MatcherSets)
		for _, handler := range routes[i].Handlers {
			switch handler := handler.(type) {
			case *Handler:
				if handler == f.handler {
					f.found = f.numbered(at)
					return true
				}
				f.earlier = append(f.earlier, at)
			case *caddyhttp.Subroute:
				if f.search(handler.Routes, at, depth+1) {
					return true
				}
			}
		}
	}
	return false
}

// numbered adds to a place how many robots handlers stand before it that it
// does not tell apart from its own.
func (f *placeFinder) numbered(at enforce.Place) enforce.Place {
	n := 0
	for _, other := range f.earlier {
		if other.Handler == at.Handler && mayShareHost(other.Hosts, at.Hosts) {
			n++
		}
	}
	at.Handler = fmt.Sprintf("%s #%d", at.Handler, n)
	return at
}

// below returns the place of a route with matchers that stands at a place.
func below(at enforce.Place, sets caddyhttp.MatcherSets) enforce.Place {
	var hosts, paths []string
	for _, set := range sets {
		for _, m := range set {
			switch m := m.(type) {
			case *caddyhttp.MatchHost:
				hosts = append(hosts, *m...)
			case *caddyhttp.MatchPath:
				paths = append(paths, *m...)
			case caddyhttp.MatchPath:
				paths = append(paths, m...)
			}
		}
	}
	if hosts != nil {
		for i := range hosts {
			hosts[i] = strings.ToLower(hosts[i])
		}
		at.Hosts = hosts
	}
	if paths != nil {
		at.Handler += " " + strings.Join(paths, ",")
	}
	return at
}

// mayShareHost reports whether two lists of hosts, of which an empty one means
// any, may be for the same host.
func mayShareHost(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(host string) bool {
		return strings.Contains(host, "*") || slices.Contains(b, host)
	}) || slices.ContainsFunc(b, func(host string) bool { return strings.Contains(host, "*") })
}
