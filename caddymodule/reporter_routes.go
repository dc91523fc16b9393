package caddymodule

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// reach says whether a request reaches a handler, or passes a matcher.
type reach uint8

const (
	never reach = iota
	maybe       // it depends on what is not known about the request
	surely
)

// reachedHandler is a robots handler that a request may reach.
type reachedHandler struct {
	handler *Handler
	reach   reach
	matcher string // describes the matchers of the routes to the handler
}

// routeWalk follows a request through the routes of a server, to the robots
// handlers that it reaches. It evaluates the matchers of the routes. It runs no
// handlers but those that only change the request, so it may follow a request
// further than a handler such as basic_auth would let it pass.
type routeWalk struct {
	server     *caddyhttp.Server
	r          *http.Request
	hasClient  bool             // the client's address is known
	unsurePath bool             // a route that the request may pass rewrites its path
	groups     map[string]reach // whether a route of a group was taken
	list       []reachedHandler
}

// newRouteWalk returns the walk of a GET request through a server. client is the
// client's address; "" if it is not known.
func newRouteWalk(server *caddyhttp.Server, origin enforce.Origin, target, userAgent, client string) (*routeWalk, error) {
	u, err := url.ParseRequestURI(target)
	if err != nil {
		return nil, err
	}
	host := strings.TrimPrefix(strings.TrimPrefix(origin.String(), "http://"), "https://")
	r := &http.Request{
		Method: http.MethodGet, URL: u, RequestURI: target, Host: host, Header: make(http.Header), Body: http.NoBody,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: internalRemote,
	}
	if userAgent != "" {
		r.Header.Set("User-Agent", userAgent)
	}
	if client != "" {
		r.RemoteAddr = net.JoinHostPort(client, "1")
	}
	if len(server.TLSConnPolicies) > 0 {
		r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true, ServerName: origin.Host}
	}
	ctx := context.WithValue(context.Background(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(origin.Port)})
	r = caddyhttp.PrepareRequest(r.WithContext(ctx), caddy.NewReplacer(), nil, server)
	return &routeWalk{server: server, r: r, hasClient: client != "", groups: make(map[string]reach)}, nil
}

// routes follows the request through routes that it reaches with the certainty
// at. It returns whether the request ends there. around describes the matchers of
// the routes around them.
func (w *routeWalk) routes(routes caddyhttp.RouteList, at reach, around []string, depth int) (ends reach) {
	if depth > maxRouteDepth {
		return never
	}
	for i := range routes {
		route := &routes[i]
		here := at
		if taken := w.groups[route.Group]; route.Group != "" && taken != never {
			if taken == surely {
				continue
			}
			here = maybe
		}
		if here = min(here, w.matches(route.MatcherSets)); here == never {
			continue
		}
		if route.Group != "" {
			w.groups[route.Group] = max(w.groups[route.Group], here)
		}
		ended := w.handlers(route.Handlers, here, withMatchers(around, matchersOf(route.MatcherSets)), depth)
		if route.Terminal {
			ended = here
		}
		switch ended {
		case surely:
			return surely
		case maybe:
			ends, at = maybe, maybe
		}
	}
	return ends
}

// handlers follows the request through the handlers of a route.
func (w *routeWalk) handlers(handlers []caddyhttp.MiddlewareHandler, at reach, around []string, depth int) (ends reach) {
	for _, handler := range handlers {
		ended := never
		switch handler := handler.(type) {
		case *Handler:
			w.list = append(w.list, reachedHandler{handler, at, cutText(joinMatchers(around))})
		case *caddyhttp.Subroute:
			ended = w.routes(handler.Routes, at, around, depth+1)
		case *caddyhttp.Invoke:
			if route := w.server.NamedRoutes[handler.Name]; route != nil {
				ended = w.routes(caddyhttp.RouteList{*route}, at, around, depth+1)
			}
		default:
			ended = w.other(handler, at)
		}
		switch ended {
		case surely:
			return surely
		case maybe:
			ends, at = maybe, maybe
		}
	}
	return ends
}

// other follows the request through a handler that has no routes.
func (w *routeWalk) other(handler caddyhttp.MiddlewareHandler, at reach) (ends reach) {
	module, ok := handler.(caddy.Module)
	if !ok {
		return never
	}
	switch module.CaddyModule().ID.Name() {
	case "static_response", "error":
		return at
	case "rewrite", "vars", "map":
		if at != surely || !w.run(handler) {
			w.unsurePath = true
		}
	}
	return never
}

// run lets a handler change the request. It reports whether that succeeded.
func (w *routeWalk) run(handler caddyhttp.MiddlewareHandler) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	next := caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
		w.r, ok = r, true
		return nil
	})
	return handler.ServeHTTP(nil, w.r, next) == nil && ok
}

// matches reports whether the request passes the matchers of a route: all
// matchers of one set.
func (w *routeWalk) matches(sets []caddyhttp.MatcherSet) reach {
	if len(sets) == 0 {
		return surely
	}
	return w.anySet(sets)
}

// anySet reports whether the request passes all matchers of one set. Without
// sets it does not.
func (w *routeWalk) anySet(sets []caddyhttp.MatcherSet) (best reach) {
	for _, set := range sets {
		all := surely
		for _, m := range set {
			all = min(all, w.matcher(m))
		}
		best = max(best, all)
	}
	return best
}

// matcher reports whether the request passes a matcher. The result is maybe for
// matchers that depend on more than the method, the URL and the User-Agent.
func (w *routeWalk) matcher(m any) reach {
	module, ok := m.(caddy.Module)
	if !ok {
		return maybe
	}
	known := false
	switch m := m.(type) {
	case *caddyhttp.MatchNot:
		return surely - w.anySet(m.MatcherSets)
	case *caddyhttp.MatchHeader:
		known = onlyKnownFields(*m)
	case *caddyhttp.MatchHeaderRE:
		known = onlyKnownFields(*m)
	case *caddyhttp.MatchProtocol:
		known = *m == "http" || *m == "https"
	case *MatchRobots:
		known = len(w.list) == 0 && !m.Verified && !m.Impostor && !m.Disallowed && !m.Suspect
	default:
		switch module.CaddyModule().ID.Name() {
		case "host", "method":
			known = true
		case "path", "path_regexp", "query", "url_pattern", "vars", "vars_regexp", "file":
			known = !w.unsurePath
		case "client_ip":
			known = w.hasClient // but not remote_ip, which may be the address of a proxy
		}
	}
	if !known {
		return maybe
	}
	return w.evaluate(m)
}

// onlyKnownFields reports whether the fields of a header matcher are among those
// that the request of the walk has.
func onlyKnownFields[M ~map[string]V, V any](fields M) bool {
	for name := range fields {
		if !slices.Contains([]string{"User-Agent", "Host"}, http.CanonicalHeaderKey(name)) {
			return false
		}
	}
	return true
}

// evaluate runs a matcher.
func (w *routeWalk) evaluate(m any) (result reach) {
	defer func() {
		if recover() != nil {
			result = maybe
		}
	}()
	match, err := caddyhttp.MatcherSet{m}.MatchWithError(w.r)
	switch {
	case err != nil:
		return maybe
	case match:
		return surely
	}
	return never
}
