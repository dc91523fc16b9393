package caddymodule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/enforce"
)

// candidate is a handler that serves the host of a URL.
type candidate struct {
	*siteHandler
	origin enforce.Origin // of the URL, with the port of the handler's listener, which may differ from that of the URL
	points int            // how well the handler's server fits the URL
}

// candidates returns the handlers in a scope that serve the host of an origin. It
// has those with the most points.
func (r *reporter) candidates(scope status.Scope, origin enforce.Origin) (list []candidate) {
	for _, h := range r.in(scope) {
		if !h.serves(origin.Host) || !scope.Host(h.siteOf(origin.Host), origin.Host) {
			continue
		}
		c := candidate{h, origin, 1}
		for _, site := range h.sites {
			switch {
			case site == origin.Host:
				c.points = max(c.points, 16)
			case site != status.AnySite:
				c.points = max(c.points, 8)
			}
		}
		if h.facts != nil {
			if h.facts.port == origin.Port {
				c.points += 4
			}
			if h.hasScheme(origin.Scheme) {
				c.points += 2
			}
			if h.facts.port != 0 {
				c.origin.Port = h.facts.port
			}
		}
		list = append(list, c)
	}
	return list
}

// decider is a handler that decides about a request, or may do so.
type decider struct {
	candidate
	reachedHandler
}

// decidersOf returns the handlers that a GET request of a URL reaches, in the order
// in which it reaches them. It follows the request through the routes of the server
// that fits the URL best. If there are several such servers, or if the place of a
// handler is not known, it is not certain that the request reaches the handler.
func decidersOf(candidates []candidate, origin enforce.Origin, target string, query *status.CheckQuery) (list []decider, err error) {
	best := 0
	for _, c := range candidates {
		if c.handlerSite.server != nil {
			best = max(best, c.points)
		}
	}
	var servers []*caddyhttp.Server
	for _, c := range candidates {
		if c.handlerSite.server != nil && c.points == best && !slices.Contains(servers, c.handlerSite.server) {
			servers = append(servers, c.handlerSite.server)
		}
	}
	for _, server := range servers {
		walk, err := newRouteWalk(server, origin, target, query.UserAgent, query.Client)
		if err != nil {
			return nil, err
		}
		walk.routes(server.Routes, surely, nil, 0)
		for _, reached := range walk.list {
			if len(servers) > 1 {
				reached.reach = maybe
			}
			i := slices.IndexFunc(candidates, func(c candidate) bool { return c.Handler == reached.handler })
			if i >= 0 && !slices.ContainsFunc(list, func(d decider) bool { return d.handler == reached.handler }) {
				list = append(list, decider{candidates[i], reached})
			}
		}
	}
	for _, c := range candidates {
		if c.handlerSite.server == nil && !isNamed(servers, c.Handler) {
			list = append(list, decider{c, reachedHandler{c.Handler, maybe, ""}})
		}
	}
	return list, nil
}

// isNamed reports whether a handler is in a named route of the servers, which a walk
// through their routes finds.
func isNamed(servers []*caddyhttp.Server, h *Handler) bool {
	return slices.ContainsFunc(servers, func(server *caddyhttp.Server) bool {
		for _, route := range server.NamedRoutes {
			if hasHandler(route.Handlers, h, 0) {
				return true
			}
		}
		return false
	})
}

// hasHandler reports whether a robots handler is in a list of handlers or in their
// subroutes.
func hasHandler(handlers []caddyhttp.MiddlewareHandler, h *Handler, depth int) bool {
	for _, handler := range handlers {
		if handler == caddyhttp.MiddlewareHandler(h) {
			return true
		}
		sub, ok := handler.(*caddyhttp.Subroute)
		if !ok || depth >= maxRouteDepth {
			continue
		}
		for i := range sub.Routes {
			if hasHandler(sub.Routes[i].Handlers, h, depth+1) {
				return true
			}
		}
	}
	return false
}

// combine returns the decision about a request from those of several handlers: the
// one that refuses the request or, if none does, the first one. It prefers handlers
// that the request surely reaches. checks is not empty; more is the number of
// handlers that are not in it.
func combine(checks []*status.Check, more int) *status.Check {
	best := 0
	for i := range checks {
		if weight(checks[i]) > weight(checks[best]) {
			best = i
		}
	}
	c := checks[best]
	c.Others, c.More = slices.Delete(checks, best, best+1), more
	unsure := slices.ContainsFunc(c.Others, func(o *status.Check) bool { return !o.Certain })
	switch n := len(c.Others) + more; {
	case !c.Certain && n == 0:
		c.Message += " But it is not certain that the request reaches the robots handler: its request matchers can't be evaluated here."
	case !c.Certain:
		c.Message += fmt.Sprintf(" But it is not certain which of %d robots handlers the request reaches: their request matchers can't be evaluated here.", n+1)
	case unsure:
		c.Message += " Other robots handlers may decide about the request too: their request matchers can't be evaluated here."
	case n > 0:
		c.Message += fmt.Sprintf(" The request reaches %s.", quantity(n+1, "robots handler"))
	}
	return c
}

// weight orders decisions: those that are certain before those that are not, then
// those that refuse the request, then those that monitor mode lets pass.
func weight(c *status.Check) (n int) {
	switch {
	case strings.HasPrefix(c.Action, "would_"):
		n = 1
	case c.Action != enforce.Pass.String():
		n = 2
	}
	if c.Certain {
		n += 3
	}
	return n
}
