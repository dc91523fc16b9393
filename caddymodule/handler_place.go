package caddymodule

import (
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// place returns the place of a handler in the configuration. It stays the same
// over a reload, because it is made of the listeners, and of the hosts and paths
// of the routes to the handler. A number makes it unique if several handlers
// have the same. A handler without a route gets a place that is never repeated.
func (a *App) place(ctx caddy.Context, h *Handler) enforce.HandlerKey {
	a.findPlaces.Do(func() {
		a.places = make(map[*Handler]enforce.HandlerKey)
		app, err := ctx.AppIfConfigured("http")
		if err != nil {
			return
		}
		for _, server := range app.(*caddyhttp.App).Servers {
			f := placeFinder{places: a.places, next: make(map[string]int)}
			f.search(server.Routes, enforce.HandlerKey{Handler: strings.Join(server.Listen, " ")}, 0)
		}
	})
	if place, ok := a.places[h]; ok {
		return place
	}
	return enforce.HandlerKey{Handler: fmt.Sprintf("%p", h)}
}

// placeFinder goes through the routes of a server in their order.
type placeFinder struct {
	places map[*Handler]enforce.HandlerKey
	next   map[string]int // the next number, by listeners, paths and host
}

// search records the places of the handlers in routes; at is the place of the
// routes.
func (f *placeFinder) search(routes caddyhttp.RouteList, at enforce.HandlerKey, depth int) {
	if depth > maxRouteDepth {
		return
	}
	for i := range routes {
		at := below(at, routes[i].MatcherSets)
		for _, handler := range routes[i].Handlers {
			switch handler := handler.(type) {
			case *Handler:
				f.places[handler] = f.numbered(at)
			case *caddyhttp.Subroute:
				f.search(handler.Routes, at, depth+1)
			}
		}
	}
}

// numbered adds a number to a place, so that it differs from all earlier places
// with a host in common.
func (f *placeFinder) numbered(at enforce.HandlerKey) enforce.HandlerKey {
	hosts := at.Hosts
	if len(hosts) == 0 {
		hosts = []string{""}
	}
	n := 0
	for _, host := range hosts {
		n = max(n, f.next[at.Handler+" "+host])
	}
	for _, host := range hosts {
		f.next[at.Handler+" "+host] = n + 1
	}
	at.Handler = fmt.Sprintf("%s #%d", at.Handler, n)
	return at
}

// below returns the place of a route with these matchers, inside the place at.
func below(at enforce.HandlerKey, sets caddyhttp.MatcherSets) enforce.HandlerKey {
	var hosts, paths []string
	for _, set := range sets {
		for _, m := range set {
			switch m := m.(type) {
			case *caddyhttp.MatchHost:
				for _, host := range *m {
					hosts = append(hosts, strings.ToLower(host))
				}
			case *caddyhttp.MatchPath:
				paths = append(paths, *m...)
			case caddyhttp.MatchPath:
				paths = append(paths, m...)
			}
		}
	}
	if hosts != nil {
		at.Hosts = hosts
	}
	if paths != nil {
		at.Handler += " " + strings.Join(paths, ",")
	}
	return at
}
