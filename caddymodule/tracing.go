package caddymodule

import (
	"context"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
)

// tracingModule is the handler that begins spans.
const tracingModule = "http.handlers.tracing"

// attributePrefix begins the names of span attributes.
const attributePrefix = "robots."

// trace adds the decision to the current span, as attributes with the names of
// the placeholders. Empty values are left out.
func (rec *record) trace(ctx context.Context) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	attributes := make([]attribute.KeyValue, 0, len(placeholders))
	for _, name := range placeholders {
		switch value, _ := rec.placeholder(placeholderPrefix + name); v := value.(type) {
		case string:
			if v != "" {
				attributes = append(attributes, attribute.String(attributePrefix+name, clip(v)))
			}
		case int:
			if v != 0 {
				attributes = append(attributes, attribute.Int(attributePrefix+name, v))
			}
		}
	}
	span.SetAttributes(attributes...)
}

// findTracing records whether a handler of the configuration begins spans. If
// none does, requests save the search for a span.
func (a *App) findTracing() {
	for _, server := range routes.Servers(a.ctx) {
		if routes.HasHandler(server, func(h caddyhttp.MiddlewareHandler) bool { return caddy.GetModuleID(h) == tracingModule }) {
			a.traced.Store(true)
		}
	}
}
