package caddymodule

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/forwarded"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
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
	mode := h.running.Load().modes.All()
	ownFile := h.forwarded.IsDirect(r) && judge.IsRobotsTxt(originalTarget(r))
	if ownFile && !mode.Monitor && h.publishesFile() {
		return w, r, next
	}
	if answer, request := h.forwarded.Read(w, r, clock.Now()); request != nil {
		return answer, request, caddyhttp.HandlerFunc(allow)
	}
	switch {
	case ownFile:
		w.Header().Set("Retry-After", "60")
		forwarded.Refuse(w, http.StatusServiceUnavailable) // any other status would say that there are no rules
	case mode.MonitorsAll():
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

// publishesFile reports whether the handler publishes a robots.txt while it enforces.
func (h *Handler) publishesFile() bool {
	return config.On(h.Publish) || h.Policy != nil && h.Policy.Publishes()
}

// noteCheck counts a request that may be Envoy's question about another one, and logs
// each gap once.
func (x *exchange) noteCheck() {
	h, q := x.handler, &x.Request
	if !h.checks.Note(x.HTTP, q.Target, q.Proxied, q.Proxied && !q.Ambiguous) {
		return
	}
	for _, gap := range h.envoyGaps() {
		if _, told := h.told.LoadOrStore(gap.Message, true); !told {
			h.log.Warn("behind Envoy's ext_authz, something is missing: "+gap.Message, zap.String("advice", gap.Advice))
		}
	}
	if _, told := h.told.LoadOrStore("", true); !told && (h.XRobotsTag != nil || config.On(h.NoindexLines)) {
		h.log.Warn("behind Envoy's ext_authz, clients get X-Robots-Tag only if allowed_client_headers_on_success names it")
	}
}

// envoyGaps returns what is missing if Envoy asks about all requests.
func (h *Handler) envoyGaps() []statusapi.Problem {
	return h.checks.Gaps(h.publishesFile() && !h.running.Load().modes.All().Monitor, h.Unseen())
}
