package caddymodule

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/forwarded"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// readForwarded returns the request that a sub-request of a proxy asks about, the
// ResponseWriter for the answer, and in place of the next handler one that allows
// the request: no sub-request reaches next. A client's own GET of the robots.txt
// that the handler publishes does. readForwarded answers all other requests itself, and
// then returns nil.
func (h *Handler) readForwarded(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) (
	http.ResponseWriter, *http.Request, caddyhttp.Handler,
) {
	mode := h.running.Load().mode
	ownFile := h.forwarded.IsDirect(r) && judge.IsRobotsTxt(originalTarget(r))
	if ownFile && !mode.Monitor && (config.On(h.Publish) || h.Policy != nil && h.Policy.Publishes()) {
		return w, r, next
	}
	if answer, request := h.forwarded.Read(w, r, clock.Now()); request != nil {
		return answer, request, caddyhttp.HandlerFunc(allow)
	}
	switch {
	case ownFile:
		w.Header().Set("Retry-After", "60")
		forwarded.Refuse(w, http.StatusServiceUnavailable) // any other status would say that there are no rules
	case mode.Monitor && len(mode.Except) == 0:
		forwarded.Allow(w, "")
	default:
		forwarded.Refuse(w, http.StatusForbidden)
	}
	return nil, nil, nil
}

// allow is the handler that answers a sub-request about a request that is let
// through.
func allow(w http.ResponseWriter, r *http.Request) error {
	name := ""
	if rec := recordOf(r); rec != nil && !rec.isPerson() {
		name = rec.Name()
	}
	forwarded.Allow(w, name)
	return nil
}
