package routes

import (
	"encoding/json"
	"iter"
	"maps"
	"reflect"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Handler is a handler in a route. Either Live or JSON is set.
type Handler struct {
	Name string                      // of its module; "" for none
	Live caddyhttp.MiddlewareHandler // of a running server, else nil
	JSON json.RawMessage             // of a configuration that is not provisioned, else nil

	settings *settings // those in JSON
	isBehind bool      // a handler before it in the route answers all requests
}

// settings are what a walk reads of the JSON of handlers, at once: each one in it is read again
// as often as subroutes are around it.
type settings struct {
	Handler        string
	Routes         caddyhttp.RouteList // of subroute
	PassThru       bool                `json:"pass_thru"`       // of file_server
	HandleResponse json.RawMessage     `json:"handle_response"` // of reverse_proxy
}

// Walk goes through routes and the subroutes in them, in the order in which requests
// reach them. It yields each route with nil first, and then with each of its
// handlers.
func Walk(list caddyhttp.RouteList) iter.Seq2[*Route, *Handler] {
	return func(yield func(*Route, *Handler) bool) {
		w := walker{yield: yield}
		w.list(nil, list, false, false)
	}
}

// walker walks through routes.
type walker struct {
	yield   func(*Route, *Handler) bool
	stopped bool // yield returned false
}

// list walks through the routes inside around. behind says that no request reaches them, and
// rewritten that a handler before them may have changed the request. list returns whether they
// answer all requests that reach them, and whether they may change a request that they pass on.
func (w *walker) list(around *Route, list caddyhttp.RouteList, behind, rewritten bool) (ends, rewrites bool) {
	var before, taken []*Route // taken are those of groups that no request passes
	for i := range list {
		r := &Route{Around: around, route: &list[i], before: before}
		r.isBehind = behind || ends || slices.ContainsFunc(taken, r.isAlternativeTo)
		r.rewritten = rewritten || slices.ContainsFunc(before, func(b *Route) bool { return b.rewrites && !b.isAlternativeTo(r) })
		w.emit(r, nil)
		inside := w.handlers(r)
		r.ends = r.ends || list[i].Terminal
		r.rewrites = inside && !r.ends
		before = append(before, r)
		isForAll := r.passes(nil) == surely
		if isForAll && r.route.Group != "" {
			taken = append(taken, r)
		}
		ends, rewrites = ends || r.ends && isForAll, rewrites || r.rewrites
		if w.stopped {
			break
		}
	}
	return ends, rewrites
}

// emit yields, unless the walk has stopped.
func (w *walker) emit(r *Route, h *Handler) { w.stopped = w.stopped || !w.yield(r, h) }

// handlers walks through the handlers of a route. It returns whether they may change a
// request that they pass on.
func (w *walker) handlers(r *Route) (rewrites bool) {
	for _, handler := range handlersOf(r.route) {
		h := &handler
		h.isBehind = r.ends
		w.emit(r, h)
		ends := h.answers()
		if routes := h.routes(); routes != nil {
			inside := false
			ends, inside = w.list(r, routes, h.isBehind, r.rewritten || rewrites)
			rewrites = rewrites || inside
		}
		rewrites = rewrites || h.Name == "rewrite"
		r.ends = r.ends || ends
	}
	return rewrites
}

// handlersOf returns the handlers of a route: those that are provisioned, or all others.
func handlersOf(route *caddyhttp.Route) []Handler {
	list := make([]Handler, 0, max(len(route.Handlers), len(route.HandlersRaw)))
	for _, live := range route.Handlers {
		list = append(list, Handler{Name: caddy.GetModuleName(live), Live: live})
	}
	if len(list) > 0 {
		return list
	}
	for _, text := range route.HandlersRaw {
		s := new(settings)
		_ = json.Unmarshal(text, s) // what is wrong in it is an error of its own
		list = append(list, Handler{Name: s.Handler, JSON: text, settings: s})
	}
	return list
}

// routes returns the routes of a subroute.
func (h *Handler) routes() caddyhttp.RouteList {
	if sub, ok := h.Live.(*caddyhttp.Subroute); ok {
		return sub.Routes
	}
	if h.Name == "subroute" && h.settings != nil {
		return h.settings.Routes
	}
	return nil
}

// answers reports whether the handler answers every request, and passes none on.
func (h *Handler) answers() bool {
	switch h.Name {
	case "static_response", "error":
		return true
	case "file_server":
		return !h.isSet("PassThru")
	case "reverse_proxy": // the routes of handle_response, as of forward_auth, pass requests on
		return !h.isSet("HandleResponse")
	}
	return false
}

// isSet reports whether a field is set, which a live handler and settings call the same.
func (h *Handler) isSet(field string) bool {
	of := reflect.ValueOf(h.settings)
	if h.Live != nil {
		of = reflect.ValueOf(h.Live)
	}
	value := of.Elem().FieldByName(field)
	return value.IsValid() && !value.IsZero()
}

// Decode converts the handler, or its settings, to another type.
func (h *Handler) Decode(to any) error {
	if h.JSON != nil {
		return json.Unmarshal(h.JSON, to)
	}
	return decode(h.Live, to)
}

// decode converts a module to another type.
func decode(module, to any) error {
	text, err := json.Marshal(module)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
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

// All returns the routes of a server, its named routes and its error routes.
func All(server *caddyhttp.Server) caddyhttp.RouteList {
	list := slices.Clone(server.Routes)
	for _, name := range slices.Sorted(maps.Keys(server.NamedRoutes)) {
		list = append(list, *server.NamedRoutes[name])
	}
	if server.Errors != nil {
		list = append(list, server.Errors.Routes...)
	}
	return list
}
