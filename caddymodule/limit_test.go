package caddymodule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	_ "github.com/caddy-robots/caddy-robots/caddymodule/steps/limit"
	"github.com/caddy-robots/caddy-robots/caddymodule/steps/shed"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
)

// limited returns the settings of the step limit, and of others.
func limited(limits string, others ...caddy.ModuleMap) caddy.ModuleMap {
	steps := caddy.ModuleMap{"limit": json.RawMessage(`{"limits":[` + limits + `]}`)}
	for _, other := range others {
		maps.Copy(steps, other)
	}
	return steps
}

// atOnce returns how many requests of a crawler for /x are let through at once: each is sent
// while the one before it waits for its answer.
func atOnce(h *Handler, ua string) (n int) {
	_ = h.ServeHTTP(httptest.NewRecorder(), request(ua, "/x"), caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error {
		time.Sleep(10 * time.Millisecond) // the Crawl-delay
		n = 1 + atOnce(h, ua)
		return nil
	}))
	return n
}

// Requests that are killed at any stage, 10,000 of them, leave none in flight: by a
// panic, an error or a refusal of a later handler, by a client that has hung up, and
// by a refusal of this handler.
func TestKilledRequestsAreNotInFlight(t *testing.T) {
	h := provisioned(t, &Handler{Settings: config.Settings{
		Source: &config.Source{Kind: config.SourceInline, Text: "User-agent: *\nDisallow: /private/\nCrawl-delay: 0.01\n"},
		Steps:  limited(`{"at_once":30,"each_at_once":3,"all":"1000/1s"},{"paths":["/slow"],"at_once":2,"each":"20/1s"}`, shedding(1000)),
	}})
	inner := provisioned(t, &Handler{Settings: h.Settings})
	stages := []caddyhttp.HandlerFunc{
		func(http.ResponseWriter, *http.Request) error { panic(http.ErrAbortHandler) },
		func(http.ResponseWriter, *http.Request) error { panic("a bug") },
		func(http.ResponseWriter, *http.Request) error { return caddyhttp.Error(502, errors.New("no back end")) },
		func(w http.ResponseWriter, r *http.Request) error { <-r.Context().Done(); return r.Context().Err() },
		func(w http.ResponseWriter, r *http.Request) error { w.WriteHeader(503); return nil },
		func(w http.ResponseWriter, r *http.Request) error {
			w.WriteHeader(http.StatusEarlyHints)
			panic(http.ErrAbortHandler)
		},
		func(w http.ResponseWriter, r *http.Request) error { return inner.ServeHTTP(w, r, page) },
		func(w http.ResponseWriter, r *http.Request) error { time.Sleep(time.Microsecond); return nil },
	}
	var passed, refused sync.Map
	var wg sync.WaitGroup
	for worker := range 50 {
		wg.Go(func() {
			for i := range 200 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(2000)-200)*time.Microsecond)
				ua := []string{gptbot, bingbot, fmt.Sprintf("Gather%dbot/1.0 (+https://gather.example/bot)", worker), chrome}[i%4]
				r := request(ua, []string{"/x", "/slow", "/private/x"}[i%3])
				r = r.WithContext(ctxWithin{r.Context(), ctx})
				if i%5 == 0 {
					r.Body, r.ContentLength = io.NopCloser(strings.NewReader("x")), 1
				}
				w, stage := httptest.NewRecorder(), (i+worker)%len(stages)
				func() {
					defer func() { _ = recover() }()
					_ = h.ServeHTTP(w, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
						passed.Store(stage, true)
						return stages[stage](w, r)
					}))
				}()
				if w.Code == http.StatusTooManyRequests {
					refused.Store(w.Body.String(), true)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	for stage := range stages {
		if _, ok := passed.Load(stage); !ok {
			t.Errorf("no request reached stage %d", stage)
		}
	}
	if _, ok := refused.Load(defaultAnswers()[limits.Reason].body); !ok {
		t.Error("no request was over a limit")
	}
	for i := range h.bodies {
		if n := h.bodies[i].Load(); n != 0 {
			t.Errorf("%d bodies are read", n)
		}
	}
	if n := shedInFlight(h); n != "0" {
		t.Errorf("%s requests stay in flight", n)
	}
	time.Sleep(time.Second) // the time of the rate
	for _, ua := range []string{gptbot, "Gather1bot/1.0 (+https://gather.example/bot)"} {
		if n := atOnce(h, ua); n != 3 {
			t.Errorf("%s: %d requests at once, want 3", ua, n)
		}
	}
	if w := serve(t, h, request(gptbot, "/archive")); w.Code != 200 && w.Code != 429 {
		t.Errorf("status %d", w.Code)
	}
}

// A request that is refused because the server is busy gives back what it has used.
func TestRefusedRequestGivesBudgetBack(t *testing.T) {
	settings := config.Settings{
		Source: &config.Source{Kind: config.SourceInline, Text: "User-agent: *\nCrawl-delay: 600\n"}, Steps: limited(`{"all":"1/1h","at_once":1}`, shedding(1)),
	}
	h := provisioned(t, &Handler{Settings: settings})
	get := func(path string) int { return serve(t, h, request(gptbot, path)).Code }
	_ = h.ServeHTTP(httptest.NewRecorder(), request(chrome, "/"), caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error {
		if code := get("/"); code != http.StatusServiceUnavailable {
			t.Errorf("while the server is busy: %d", code)
		}
		return nil
	}))
	for i, want := range []int{200, 429} {
		if code := get("/"); code != want {
			t.Errorf("request %d: %d, want %d", i, code, want)
		}
	}
}

// ctxWithin has the values of one context, and ends with another.
type ctxWithin struct {
	context.Context
	end context.Context
}

func (c ctxWithin) Done() <-chan struct{} { return c.end.Done() }
func (c ctxWithin) Err() error            { return c.end.Err() }

// stalled is a ResponseWriter whose read deadline has passed as soon as it is set.
type stalled struct {
	*httptest.ResponseRecorder
	deadlines []time.Time
}

func (w *stalled) SetReadDeadline(t time.Time) error {
	w.deadlines = append(w.deadlines, t)
	return nil
}

// part is a body of which only the beginning arrives until the deadline.
type part struct{ io.Reader }

func (p part) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err == io.EOF {
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

// A crawler's body is read before its request is counted as in flight. One that is too
// long or late is refused, and the connection ends. People's bodies are not touched.
func TestBodiesOfCrawlers(t *testing.T) {
	held := provisioned(t, &Handler{Settings: config.Settings{Steps: limited(`{"at_once":1}`)}})
	busy := provisioned(t, &Handler{Settings: config.Settings{Steps: shedding(8)}})
	monitor := provisioned(t, &Handler{Settings: config.Settings{Mode: config.ModeMonitor, Steps: limited(`{"at_once":1}`)}})
	plain := provisioned(t, &Handler{Settings: config.Settings{Steps: limited(`{"all":"100/1s"}`)}})
	form, long := strings.NewReader("a=b"), strings.NewReader(strings.Repeat("x", maxBody+1))
	for _, tt := range []struct {
		name   string
		h      *Handler
		ua     string
		body   io.Reader
		length int64
		status int
		got    string // by the next handler
	}{
		{"form", held, gptbot, form, 3, 200, "a=b"},
		{"form without a length", held, gptbot, form, -1, 200, "a=b"},
		{"empty, as HTTP/3 has it", held, gptbot, strings.NewReader(""), -1, 200, ""},
		{"late", held, gptbot, part{form}, 10, 408, ""},
		{"late, with shed", busy, gptbot, part{form}, 10, 408, ""},
		{"late, search engine with shed", busy, googlebot, part{form}, 10, 408, ""},
		{"too long", held, gptbot, long, maxBody + 1, 413, ""},
		{"too long, without a length", held, gptbot, long, -1, 413, ""},
		{"late, search engine that the limit leaves out", held, googlebot, part{form}, 10, 200, "late"},
		{"late, person", held, chrome, part{form}, 10, 200, "late"},
		{"late, person with shed", busy, chrome, part{form}, 10, 200, "late"},
		{"late, HTTP library with shed", busy, "curl/8.5.0", part{form}, 10, 200, "late"},
		{"late, monitor mode", monitor, gptbot, part{form}, 10, 200, "late"},
		{"late, other limit", plain, gptbot, part{form}, 10, 200, "late"},
	} {
		_, _ = form.Seek(0, io.SeekStart)
		_, _ = long.Seek(0, io.SeekStart)
		w, got := &stalled{ResponseRecorder: httptest.NewRecorder()}, ""
		r := request(tt.ua, "/x")
		r.Method, r.Body, r.ContentLength = http.MethodPost, io.NopCloser(tt.body), tt.length
		err := tt.h.ServeHTTP(w, r, caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
			body, err := io.ReadAll(r.Body)
			if got = string(body); err != nil {
				got = "late"
			} else if int64(len(body)) != r.ContentLength {
				t.Errorf("%s: length %d", tt.name, r.ContentLength)
			}
			return nil
		}))
		refused := tt.status != 200
		if err != nil || w.Code != tt.status || got != tt.got || (w.Header().Get("Connection") == "close") != refused {
			t.Errorf("%s: %d %q, %v, %v", tt.name, w.Code, got, w.Header(), err)
		}
		if refused && tt.status == 408 && (len(w.deadlines) != 1 || w.deadlines[0].IsZero()) || tt.got == "a=b" && !w.deadlines[1].IsZero() {
			t.Errorf("%s: deadlines %v", tt.name, w.deadlines)
		}
		if rec := recordOf(r); refused && (rec.Action != judge.Throttle || rec.Reason != limits.Reason && rec.Reason != shed.Reason) {
			t.Errorf("%s: %v %v", tt.name, rec.Action, rec.Reason)
		}
		for i := range tt.h.bodies {
			if n := tt.h.bodies[i].Load(); n != 0 {
				t.Errorf("%s: %d bodies are being read", tt.name, n)
			}
		}
	}
	for i := range held.bodies {
		held.bodies[i].Store(bodiesOfPart)
	}
	for body, want := range map[string]int{"a=b": 408, "": 200} {
		r := request(gptbot, "/x")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), -1
		if w := serve(t, held, r); w.Code != want {
			t.Errorf("a body %q beside as many as are read at once: %d", body, w.Code)
		}
	}
}
