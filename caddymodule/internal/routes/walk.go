package routes

import (
	"iter"
	"maps"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// maxDepth is the depth to which subroutes are walked.
const maxDepth = 10

// Walk goes through routes and their subroutes, in their order. It yields each
// route with a nil handler first, and then with each of its handlers. It skips the
// routes for which enter returns false; a nil enter enters all routes.
func Walk(list caddyhttp.RouteList, enter func(*caddyhttp.Route) bool) iter.Seq2[*Route, caddyhttp.MiddlewareHandler] {
	return func(yield func(*Route, caddyhttp.MiddlewareHandler) bool) {
		walk(list, nil, 0, enter, yield)
	}
}

// walk is Walk inside the route around. It returns false if yield did.
func walk(list caddyhttp.RouteList, around *Route, depth int, enter func(*caddyhttp.Route) bool, yield func(*Route, caddyhttp.MiddlewareHandler) bool) bool {
	if depth > maxDepth {
		return true
	}
	for i := range list {
		if enter != nil && !enter(&list[i]) {
			continue
		}
		route := &Route{Around: around, live: list[i].MatcherSets}
		if !yield(route, nil) {
			return false
		}
		for _, handler := range list[i].Handlers {
			if !yield(route, handler) {
				return false
			}
			if sub, ok := handler.(*caddyhttp.Subroute); ok && !walk(sub.Routes, route, depth+1, enter, yield) {
				return false
			}
		}
	}
	return true
}

// WalkJSON is Walk for a part of a configuration in JSON. It enters all routes,
// also those inside handlers other than subroutes. It walks through lists in their
// order, and through objects by the names of their fields.
func WalkJSON(tree any) iter.Seq2[*Route, map[string]any] {
	return func(yield func(*Route, map[string]any) bool) { walkJSON(tree, nil, yield) }
}

// walkJSON is WalkJSON inside the route around. It returns false if yield did.
func walkJSON(tree any, around *Route, yield func(*Route, map[string]any) bool) bool {
	switch node := tree.(type) {
	case []any:
		for _, child := range node {
			if !walkJSON(child, around, yield) {
				return false
			}
		}
	case map[string]any:
		_, matches := node["match"].([]any)
		_, handles := node["handle"].([]any)
		if matches || handles {
			around = &Route{Around: around, sets: setsOfJSON(node["match"])}
			if !yield(around, nil) {
				return false
			}
		}
		if _, ok := node["handler"].(string); ok && !yield(around, node) {
			return false
		}
		for _, name := range slices.Sorted(maps.Keys(node)) {
			if !walkJSON(node[name], around, yield) {
				return false
			}
		}
	}
	return true
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

// HasHandler reports whether a handler of a server, also of its named routes, is
// one for which is returns true.
func HasHandler(server *caddyhttp.Server, is func(caddyhttp.MiddlewareHandler) bool) bool {
	for _, handler := range Walk(slices.Concat(server.Routes, namedRoutes(server)), nil) {
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
