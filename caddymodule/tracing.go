package caddymodule

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
)

// tracingModule is the handler that begins spans.
const tracingModule = "http.handlers.tracing"

// findTracing records whether a handler of the configuration begins spans. If
// none does, requests save the search for a span.
func (a *App) findTracing() {
	for _, server := range routes.Servers(a.ctx) {
		if routes.HasHandler(server, func(h caddyhttp.MiddlewareHandler) bool { return caddy.GetModuleID(h) == tracingModule }) {
			a.traced.Store(true)
		}
	}
}
