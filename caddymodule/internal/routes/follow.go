package routes

import (
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// maxDepth is the depth of routes inside each other to which Follow goes. Named
// routes may invoke themselves.
const maxDepth = 10

// Reach says whether a request reaches a handler, or passes a matcher.
type Reach uint8

const (
	Never Reach = iota
	Maybe       // it depends on what is not known about the request
	Surely
)

// Reached is a handler that a request may reach.
type Reached struct {
	Handler caddyhttp.MiddlewareHandler
	Route   *Route
	Reach   Reach
}

// Follower follows a GET request through the routes of a server, to the handlers
// that it reaches. It evaluates the matchers of the routes. It runs no handlers
// but those that only change the request, so it may follow a request further than
// a handler such as basic_auth would let it pass.
type Follower struct {
	Server    *caddyhttp.Server
	Request   *http.Request // as caddyhttp.PrepareRequest returns it
	HasClient bool          // the request has the client's address

	// IsWanted selects the handlers to record.
	IsWanted func(caddyhttp.MiddlewareHandler) bool
	// IsKnown reports whether the result of a matcher of another module than
	// Caddy's depends only on the method, the URL and the User-Agent. reached says
	// that the request may have reached a wanted handler before.
	IsKnown func(matcher any, reached bool) bool

	isArrived  bool             // the request has reached a handler: its rewrites are done, and all is known about it
	unsurePath bool             // a route that the request may pass rewrites its path
	groups     map[string]Reach // whether a route of a group was taken
	list       []Reached
}

// Follow returns the wanted handlers, in the order in which the request reaches
// them.
func (f *Follower) Follow() []Reached {
	f.groups = make(map[string]Reach)
	f.routes(f.Server.Routes, Surely, nil, 0)
	return f.list
}

// routes follows the request through routes that it reaches with the certainty
// at. It returns whether the request ends there.
func (f *Follower) routes(list caddyhttp.RouteList, at Reach, around *Route, depth int) (ends Reach) {
	if depth > maxDepth {
		return Never
	}
	for i := range list {
		route := &list[i]
		here := at
		if taken := f.groups[route.Group]; route.Group != "" && taken != Never {
			if taken == Surely {
				continue
			}
			here = Maybe
		}
		if len(route.MatcherSets) > 0 {
			here = min(here, f.anySet(route.MatcherSets))
		}
		if here == Never {
			continue
		}
		if route.Group != "" {
			f.groups[route.Group] = max(f.groups[route.Group], here)
		}
		ended := f.handlers(route.Handlers, here, &Route{Around: around, live: route.MatcherSets}, depth)
		if route.Terminal {
			ended = here
		}
		if ends = max(ends, ended); ends == Surely {
			return Surely
		}
		at = min(at, Surely-ends)
	}
	return ends
}

// handlers follows the request through the handlers of a route.
func (f *Follower) handlers(handlers []caddyhttp.MiddlewareHandler, at Reach, route *Route, depth int) (ends Reach) {
	for _, handler := range handlers {
		ended := Never
		switch h := handler.(type) {
		case *caddyhttp.Subroute:
			ended = f.routes(h.Routes, at, route, depth+1)
		case *caddyhttp.Invoke:
			if named := f.Server.NamedRoutes[h.Name]; named != nil {
				ended = f.routes(caddyhttp.RouteList{*named}, at, route, depth+1)
			}
		default:
			switch name := caddy.GetModuleName(h); {
			case f.IsWanted(h):
				f.list = append(f.list, Reached{h, route, at})
			case f.isArrived: // it meets what the request would, but for a handler that answers all
			case name == "static_response", name == "error":
				ended = at
			case name == "rewrite", name == "vars", name == "map":
				f.unsurePath = f.unsurePath || at != Surely || !f.run(h)
			}
		}
		if ends = max(ends, ended); ends == Surely {
			return Surely
		}
		at = min(at, Surely-ends)
	}
	return ends
}

// run lets a handler change the request. It reports whether that succeeded.
func (f *Follower) run(handler caddyhttp.MiddlewareHandler) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	next := caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
		f.Request, ok = r, true
		return nil
	})
	return handler.ServeHTTP(nil, f.Request, next) == nil && ok
}

// anySet reports whether the request passes all matchers of one set. Without
// sets it does not.
func (f *Follower) anySet(sets []caddyhttp.MatcherSet) (best Reach) {
	for _, set := range sets {
		all := Surely
		for _, m := range set {
			all = min(all, f.matcher(m))
		}
		best = max(best, all)
	}
	return best
}

// matcher reports whether the request passes a matcher. The result is Maybe for
// matchers that depend on more than the method, the URL and the User-Agent.
func (f *Follower) matcher(m any) Reach {
	if f.isArrived {
		return f.evaluate(m)
	}
	known := false
	switch m := m.(type) {
	case *caddyhttp.MatchNot:
		return Surely - f.anySet(m.MatcherSets)
	case *caddyhttp.MatchHeader:
		known = onlyKnownFields(*m)
	case *caddyhttp.MatchHeaderRE:
		known = onlyKnownFields(*m)
	case *caddyhttp.MatchProtocol:
		known = *m == "http" || *m == "https"
	default:
		switch caddy.GetModuleName(m) {
		case "host", "method":
			known = true
		case "path", "path_regexp", "query", "url_pattern", "vars", "vars_regexp", "file":
			known = !f.unsurePath
		case "client_ip":
			known = f.HasClient // but not remote_ip, which may be the address of a proxy
		default:
			known = f.IsKnown(m, len(f.list) > 0)
		}
	}
	if !known {
		return Maybe
	}
	return f.evaluate(m)
}

// onlyKnownFields reports whether the fields of a header matcher are among those
// that the request has.
func onlyKnownFields[M ~map[string]V, V any](fields M) bool {
	for name := range fields {
		if !slices.Contains([]string{"User-Agent", "Host"}, http.CanonicalHeaderKey(name)) {
			return false
		}
	}
	return true
}

// evaluate runs a matcher.
func (f *Follower) evaluate(m any) (result Reach) {
	defer func() {
		if recover() != nil {
			result = Maybe
		}
	}()
	match, err := caddyhttp.MatcherSet{m}.MatchWithError(f.Request)
	if err != nil {
		return Maybe
	}
	return reachIf(match)
}

// Answers reports whether a request reaches a handler of routes or of their
// subroutes. It evaluates all matchers, and allocates nothing itself, because it
// runs for each refused request.
func Answers(list caddyhttp.RouteList, r *http.Request) bool {
	for i := range list {
		if match, err := list[i].MatcherSets.AnyMatchWithError(r); !match || err != nil {
			continue
		}
		for _, handler := range list[i].Handlers {
			if sub, ok := handler.(*caddyhttp.Subroute); !ok || Answers(sub.Routes, r) {
				return true
			}
		}
	}
	return false
}

// After returns the first handler for which is returns true, of those that a request
// reaches after the handler from; nil if there is none. It evaluates all matchers
// with the request as it is now.
func After(
	server *caddyhttp.Server, r *http.Request, from caddyhttp.MiddlewareHandler, is func(caddyhttp.MiddlewareHandler) bool,
) caddyhttp.MiddlewareHandler {
	f := &Follower{Server: server, Request: r, isArrived: true}
	f.IsWanted = func(h caddyhttp.MiddlewareHandler) bool { return h == from || is(h) }
	list := f.Follow()
	at := slices.IndexFunc(list, func(reached Reached) bool { return reached.Handler == from })
	if at < 0 || at == len(list)-1 {
		return nil
	}
	return list[at+1].Handler
}
