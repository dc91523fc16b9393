package caddymodule

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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

// A request is in flight no longer when its handler panics, returns an error or
// nothing at all.
func TestNothingStaysInFlight(t *testing.T) {
	h := loadedHandler(t, shedding(10))
	var wg sync.WaitGroup
	for i := range 10_000 {
		if i%4 == 0 {
			wg.Wait()
		}
		wg.Go(func() {
			defer func() { _ = recover() }()
			r := request([]string{chrome, gptbot, bingbot, "NewThingBot/1.0 (+https://x.example/)"}[i%4], "/")
			if i%3 == 0 {
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader("x")), 1
			}
			_ = h.ServeHTTP(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
				switch i / 4 % 5 {
				case 0:
					panic("the handler's own mistake")
				case 1:
					return errors.New("failed")
				case 2:
					w.WriteHeader(http.StatusEarlyHints)
					panic(http.ErrAbortHandler)
				case 3:
					w.WriteHeader(http.StatusOK)
					panic(http.ErrAbortHandler)
				}
				return nil
			}))
		})
	}
	wg.Wait()
	bodies := int32(0)
	for i := range h.bodies {
		bodies += h.bodies[i].Load()
	}
	if n := shedInFlight(h); n != "0" || bodies != 0 {
		t.Errorf("%s requests stay in flight, %d bodies are read", n, bodies)
	}
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
