package caddymodule

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// errorFor returns the error to return for an answer where the operator
// answers such errors of this request's site with routes of their own
// (handle_errors), nil where nobody would. Routes of neighbour sites, and those
// for other statuses, answer nothing.
func errorFor(r *http.Request, a *answer) error {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server == nil || server.Errors == nil || len(server.Errors.Routes) == 0 {
		return nil
	}
	err := caddyhttp.Error(a.status, a.err)
	// Error routes see the error, and the request as it came.
	probe := server.Errors.WithError(r, err)
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok && original.URL != nil {
		url := *original.URL
		probe.URL, probe.RequestURI = &url, original.RequestURI
	}
	if !answered(server.Errors.Routes, probe, 0) {
		return nil
	}
	return err
}

// answered reports whether a request comes to a handler of routes or of their
// subroutes.
func answered(routes caddyhttp.RouteList, r *http.Request, depth int) bool {
	for _, route := range routes {
		if match, err := route.MatcherSets.AnyMatchWithError(r); !match || err != nil {
			continue
		}
		for _, h := range route.Handlers {
			sub, ok := h.(*caddyhttp.Subroute)
			if !ok || depth >= maxRouteDepth || answered(sub.Routes, r, depth+1) {
				return true
			}
		}
	}
	return false
}
