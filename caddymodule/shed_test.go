package caddymodule

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/steps/shed"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// shedding returns the setting of the step shed.
func shedding(inFlight int) caddy.ModuleMap {
	return caddy.ModuleMap{"shed": fmt.Appendf(nil, `{"in_flight":%d}`, inFlight)}
}

// loadedHandler returns a handler with steps.
func loadedHandler(t testing.TB, steps caddy.ModuleMap) *Handler {
	return provisioned(t, &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: inline}, Steps: steps}})
}

// shedInFlight returns how many requests the step shed counts.
func shedInFlight(h *Handler) string {
	for _, s := range stepsThat[*shed.Shed](&h.steps) {
		return s.View(false).Rows[0][1]
	}
	return ""
}

// In monitor mode, requests that would be refused are in flight as well.
func TestMonitoredRequestsAreInFlight(t *testing.T) {
	h := provisioned(t, &Handler{Settings: config.Settings{
		Mode: config.ModeMonitor, Source: &config.Source{Kind: config.SourceInline, Text: inline}, Steps: shedding(1),
	}})
	_ = h.ServeHTTP(httptest.NewRecorder(), request(gptbot, "/private/x"), caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
		if rec := recordOf(r); rec.Action != judge.Deny || shedInFlight(h) != "1" {
			t.Errorf("%v, %s requests in flight", rec.Action, shedInFlight(h))
		}
		return nil
	}))
	if n := shedInFlight(h); n != "0" {
		t.Errorf("%s requests stay in flight", n)
	}
}
