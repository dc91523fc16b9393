package routes

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/words"
)

// walk goes through routes and their subroutes, in their order. It yields each
// route with a nil handler first, and then with each of its handlers. around is the
// route that the routes are inside of.
func walk(around *Route, list caddyhttp.RouteList) iter.Seq2[*Route, caddyhttp.MiddlewareHandler] {
	return func(yield func(*Route, caddyhttp.MiddlewareHandler) bool) { walkInto(around, list, yield) }
}

// walkInto is walk as a function that returns whether yield wants more.
func walkInto(around *Route, list caddyhttp.RouteList, yield func(*Route, caddyhttp.MiddlewareHandler) bool) bool {
	for i := range list {
		route := &Route{Around: around, live: list[i].MatcherSets}
		if !yield(route, nil) {
			return false
		}
		for _, handler := range list[i].Handlers {
			sub, isSubroute := handler.(*caddyhttp.Subroute)
			if !yield(route, handler) || isSubroute && !walkInto(route, sub.Routes, yield) {
				return false
			}
		}
	}
	return true
}

// Servers returns the running HTTP servers, sorted by name.
func Servers(ctx caddy.Context) []*caddyhttp.Server {
	app, err := ctx.AppIfConfigured("http")
	if err != nil {
		return nil
	}
	all := app.(*caddyhttp.App).Servers
	return words.Map(slices.Sorted(maps.Keys(all)), func(name string) *caddyhttp.Server { return all[name] })
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

// WalkJSON goes through the routes in a part of a configuration in JSON, and those
// inside handlers. It yields each route with a nil handler first, and then with each
// of its handlers. It walks through lists in their order, and through objects by the
// names of their fields.
func WalkJSON(tree any) iter.Seq2[*Route, map[string]any] {
	return func(yield func(*Route, map[string]any) bool) {
		w := walker{yield: yield, taken: make(map[string]bool)}
		w.walk(nil, tree, false)
	}
}

// WalkServer is WalkJSON for a server whose handlers are being provisioned. Caddy
// has decoded the matchers of its routes, but not yet the handler that is
// provisioned now, nor those around it and after it.
func WalkServer(server *caddyhttp.Server) iter.Seq2[*Route, map[string]any] {
	return func(yield func(*Route, map[string]any) bool) {
		w, unreached := walker{yield: yield, taken: make(map[string]bool)}, false
		for i := range server.Routes {
			r := &server.Routes[i]
			handlers := make([]any, len(r.HandlersRaw))
			for i, raw := range r.HandlersRaw {
				_ = json.Unmarshal(raw, &handlers[i])
			}
			for _, h := range r.Handlers {
				var object map[string]any
				_ = Decode(h, &object)
				if object != nil {
					object["handler"] = caddy.GetModuleName(h)
				}
				handlers = append(handlers, object)
			}
			route := &Route{live: r.MatcherSets, group: r.Group, ends: r.Terminal}
			unreached = w.route(route, map[string]any{"handle": handlers}, unreached) || unreached
		}
		for _, field := range []any{server.NamedRoutes, server.Errors} {
			var tree any
			_ = Decode(field, &tree)
			w.apart(nil, tree)
		}
	}
}

// walker walks through a configuration in JSON.
type walker struct {
	yield    func(*Route, map[string]any) bool
	taken    map[string]bool // groups of which all requests have taken a route
	rewrites []*Route        // routes of handlers that rewrite the request
	isApart  bool            // inside error routes or named routes
	stopped  bool            // yield returned false
}

// emit yields, unless the walk has stopped. It returns whether it goes on.
func (w *walker) emit(route *Route, handler map[string]any) bool {
	w.stopped = w.stopped || !w.yield(route, handler)
	return !w.stopped
}

// walk walks through a part of the configuration that is inside the route around.
// unreached says that earlier handlers answer all requests. walk returns whether
// the part answers all requests that reach it.
func (w *walker) walk(around *Route, tree any, unreached bool) (ends bool) {
	if list, ok := tree.([]any); ok {
		for _, child := range list {
			ends = w.walk(around, child, unreached || ends) || ends
		}
		return ends
	}
	object, _ := tree.(map[string]any)
	_, matches := object["match"].([]any)
	_, handles := object["handle"].([]any)
	if matches || handles {
		route := &Route{Around: around, sets: setsOfJSON(object["match"]), apart: w.isApart}
		route.group, _ = object["group"].(string)
		route.ends, _ = object["terminal"].(bool)
		return w.route(route, object, unreached)
	}
	name, isHandler := object["handler"].(string)
	if isHandler {
		if unreached {
			around = &Route{Around: around, unreached: true}
		}
		if !w.emit(around, object) {
			return false
		}
		if name == "rewrite" && around != nil {
			w.rewrites = append(w.rewrites, around)
		}
	}
	inside := w.fields(around, object, unreached)
	return isHandler && (answers(name, object) || name == "subroute" && inside)
}

// route walks through a route. It returns whether the route answers all requests
// that reach it.
func (w *walker) route(route *Route, object map[string]any, unreached bool) (ends bool) {
	route.rewrites = w.rewrites
	if !w.emit(route, nil) {
		return false
	}
	excluded := unreached || w.taken[route.group]
	route.ends = w.fields(route, object, excluded) || route.ends
	if excluded || len(route.live)+len(route.sets) > 0 {
		return false
	}
	if route.group != "" {
		w.taken[route.group] = true
	}
	return route.ends
}

// fields walks through the fields of an object. It returns whether its routes or
// handlers answer all requests that reach them.
func (w *walker) fields(around *Route, object map[string]any, unreached bool) (ends bool) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch name {
		case "errors", "named_routes":
			w.apart(around, object[name])
		case "routes", "handle":
			ends = w.walk(around, object[name], unreached)
		default:
			w.walk(around, object[name], unreached)
		}
	}
	return ends
}

// apart walks through routes that requests reach by other ways than by those
// before them: error routes and named routes.
func (w *walker) apart(around *Route, tree any) {
	outside := w.isApart
	w.isApart = true
	w.walk(around, tree, false)
	w.isApart = outside
}

// answers reports whether a handler answers every request, and passes none on.
func answers(name string, handler map[string]any) bool {
	switch name {
	case "static_response", "error":
		return true
	case "file_server":
		return handler["pass_thru"] != true
	case "reverse_proxy": // the routes of handle_response, as of forward_auth, pass requests on
		return handler["handle_response"] == nil
	}
	return false
}
