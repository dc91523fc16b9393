package routes

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// After returns the first handler for which is returns true, of those that a request
// would reach after the handler from; nil if there is none. It evaluates all matchers
// with the request as it is now.
func After(
	server *caddyhttp.Server, r *http.Request, from caddyhttp.MiddlewareHandler, is func(caddyhttp.MiddlewareHandler) bool,
) caddyhttp.MiddlewareHandler {
	s := &search{server: server, r: r, from: from, is: is, taken: make(map[string]bool)}
	s.routes(server.Routes, 0)
	return s.found
}

// search is one call of After.
type search struct {
	server *caddyhttp.Server
	r      *http.Request
	from   caddyhttp.MiddlewareHandler
	is     func(caddyhttp.MiddlewareHandler) bool
	taken  map[string]bool // groups of which the request has taken a route
	passed bool            // the request has reached from
	found  caddyhttp.MiddlewareHandler
}

// routes searches routes, and reports whether the search ends there.
func (s *search) routes(list caddyhttp.RouteList, depth int) (ends bool) {
	for i := 0; i < len(list) && depth <= maxDepth; i++ {
		route := &list[i]
		if route.Group != "" && s.taken[route.Group] {
			continue
		}
		if match, err := route.MatcherSets.AnyMatchWithError(s.r); !match || err != nil {
			continue
		}
		s.taken[route.Group] = true
		for _, handler := range route.Handlers {
			if s.handler(handler, depth) {
				return true
			}
		}
		if route.Terminal {
			return true
		}
	}
	return false
}

// handler searches a handler, and reports whether the search ends there.
func (s *search) handler(handler caddyhttp.MiddlewareHandler, depth int) (ends bool) {
	switch h := handler.(type) {
	case *caddyhttp.Subroute:
		return s.routes(h.Routes, depth+1)
	case *caddyhttp.Invoke:
		if named := s.server.NamedRoutes[h.Name]; named != nil {
			return s.routes(caddyhttp.RouteList{*named}, depth+1)
		}
	default:
		if handler == s.from {
			s.passed = true
		} else if s.passed && s.is(handler) {
			s.found = handler
		}
	}
	return s.found != nil
}
