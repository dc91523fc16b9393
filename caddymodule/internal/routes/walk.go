package routes

import (
	"iter"
	"maps"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// walk goes through routes and their subroutes, in their order. It yields each
// route with a nil handler first, and then with each of its handlers. around is the
// route that the routes are inside of.
func walk(around *Route, list caddyhttp.RouteList) iter.Seq2[*Route, caddyhttp.MiddlewareHandler] {
	return func(yield func(*Route, caddyhttp.MiddlewareHandler) bool) {
		for i := range list {
			route := &Route{Around: around, live: list[i].MatcherSets}
			if !yield(route, nil) {
				return
			}
			for _, handler := range list[i].Handlers {
				if !yield(route, handler) {
					return
				}
				sub, ok := handler.(*caddyhttp.Subroute)
				if !ok {
					continue
				}
				for inside, handler := range walk(route, sub.Routes) {
					if !yield(inside, handler) {
						return
					}
				}
			}
		}
	}
}

// Servers returns the running HTTP servers, sorted by name.
func Servers(ctx caddy.Context) (servers []*caddyhttp.Server) {
	app, err := ctx.AppIfConfigured("http")
	if err != nil {
		return nil
	}
	all := app.(*caddyhttp.App).Servers
	for _, name := range slices.Sorted(maps.Keys(all)) {
		servers = append(servers, all[name])
	}
	return servers
}

// HasHandler reports whether a handler of a server, and of its named routes, is
// one for which is returns true.
func HasHandler(server *caddyhttp.Server, is func(caddyhttp.MiddlewareHandler) bool) bool {
	for _, handler := range walk(nil, slices.Concat(server.Routes, namedRoutes(server))) {
		if handler != nil && is(handler) {
			return true
		}
	}
	return false
}

// namedRoutes returns the routes that the handler invoke can run.
func namedRoutes(server *caddyhttp.Server) (list caddyhttp.RouteList) {
	for _, route := range server.NamedRoutes {
		list = append(list, *route)
	}
	return list
}
