package caddymodule

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/clock"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// loadedHandler returns a handler with shed.
func loadedHandler(t testing.TB, shed *config.Shed) *Handler {
	return provisioned(t, &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: inline}, Shed: shed}})
}

// A request is in flight no longer when its handler panics, returns an error or
// nothing at all.
func TestNothingStaysInFlight(t *testing.T) {
	h := loadedHandler(t, &config.Shed{InFlight: 10, Latency: caddy.Duration(time.Second)})
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
	if s := h.shedLoad().State(clock.Now().UnixNano()); s.InFlight != 0 || bodies != 0 {
		t.Errorf("%d requests stay in flight, %d bodies are read", s.InFlight, bodies)
	}
}

// In monitor mode, requests that would be refused are in flight as well.
func TestMonitoredRequestsAreInFlight(t *testing.T) {
	h := provisioned(t, &Handler{Settings: config.Settings{
		Mode: config.ModeMonitor, Source: &config.Source{Kind: config.SourceInline, Text: inline}, Shed: &config.Shed{InFlight: 1},
	}})
	inFlight := func() int { return h.shedLoad().State(clock.Now().UnixNano()).InFlight }
	_ = h.ServeHTTP(httptest.NewRecorder(), request(gptbot, "/private/x"), caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
		if rec := recordOf(r); rec.Action != judge.Deny || inFlight() != 1 {
			t.Errorf("%v, %d requests in flight", rec.Action, inFlight())
		}
		return nil
	}))
	if n := inFlight(); n != 0 {
		t.Errorf("%d requests stay in flight", n)
	}
}

// Only the HTML pages of people are samples of the latency.
func TestLatencyIsThatOfPeoplesPages(t *testing.T) {
	h := loadedHandler(t, &config.Shed{Latency: caddy.Duration(time.Second)})
	h.shedLoad().Latency = 1 // everything is slow
	begin := clock.Now().UnixNano()
	send := func(ua, method, media string, status int) {
		r := request(ua, "/")
		r.Method = method
		err := h.ServeHTTP(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(status)
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 30 {
		send(googlebot, "GET", "text/html", 200)
		send(chrome, "POST", "text/html", 200)
		send(chrome, "GET", "image/png", 200)
		send(chrome, "GET", "text/html", 404)
	}
	if s := h.shedLoad().State(begin + int64(5*time.Second)); !s.Since.IsZero() {
		t.Errorf("%+v", s)
	}
	for range 30 {
		send(chrome, "GET", "Text/HTML; charset=utf-8", 200)
	}
	if s := h.shedLoad().State(begin + int64(8*time.Second)); s.Since.IsZero() {
		t.Error("people's pages are slow, and the server is not busy")
	}
}

// A request that is counted allocates nothing more.
func TestShedAllocatesNothing(t *testing.T) {
	count := func(h *Handler) float64 {
		r, w := request(chrome, "/"), discard{make(http.Header)}
		return testing.AllocsPerRun(1000, func() { _ = h.ServeHTTP(w, r, page) })
	}
	without := count(loadedHandler(t, nil))
	if with := count(loadedHandler(t, &config.Shed{InFlight: 64, Latency: caddy.Duration(time.Second)})); with > without {
		t.Errorf("%v allocations, and %v without shed", with, without)
	}
}

// People wait for documents, and not for what pages fetch.
func TestDocuments(t *testing.T) {
	h := loadedHandler(t, &config.Shed{Latency: caddy.Duration(time.Second)})
	for _, tt := range []struct {
		name   string
		ua     string
		header http.Header
		want   bool
	}{
		{"navigation", chrome, http.Header{"Sec-Fetch-Mode": {"navigate"}, "Accept": {"text/html,*/*"}}, true},
		{"without Sec-Fetch-Mode", chrome, http.Header{"Accept": {"text/html,application/xhtml+xml,*/*;q=0.8"}}, true},
		{"fetch, such as a long poll", chrome, http.Header{"Sec-Fetch-Mode": {"cors"}, "Accept": {"text/html"}}, false},
		{"event stream", chrome, http.Header{"Accept": {"text/event-stream"}}, false},
		{"anything", chrome, http.Header{"Accept": {"*/*"}}, false},
		{"robot", gptbot, http.Header{"Accept": {"text/html"}}, false},
		{"library", "curl/8.5.0", http.Header{"Accept": {"text/html"}}, false},
		{"body", chrome, http.Header{"Accept": {"text/html"}, "X-Body": {"1"}}, false},
	} {
		r := request(tt.ua, "/")
		maps.Copy(r.Header, tt.header)
		if tt.header["X-Body"] != nil {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader("x")), 1
		}
		x := exchange{r: r, handler: h, running: h.running.Load()}
		x.decision.Reason = judge.Unbound
		if tt.ua == chrome {
			x.decision.Reason = judge.Person
		}
		if got := x.isDocument(); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
