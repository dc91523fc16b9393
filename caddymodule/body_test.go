package caddymodule

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// counting is a step that holds crawlers and counts the requests that are in flight.
type counting struct {
	step.Step
	inFlight atomic.Int64
}

var counted = step.NewSlot[int64]()

func (c *counting) Holds(*step.Exchange) (judge.Reason, *judge.Place, bool) {
	return judge.CrawlDelay, &judge.Place{}, true
}

func (c *counting) Wrap(next step.Decide) step.Decide {
	return func(x *step.Exchange) {
		*counted.Of(x) = 1
		c.inFlight.Add(1)
		next(x)
	}
}

func (c *counting) End(x *step.Exchange) { c.inFlight.Add(-*counted.Of(x)) }

// with lets a handler have the step.
func (c *counting) with(h *Handler) *Handler {
	s := &h.steps
	s.holders, s.enders, s.decide = []step.Holder{c}, []step.Ender{c}, c.Wrap(s.decide)
	return h
}

// bodies returns how many bodies are being read.
func bodies(h *Handler) (n int) {
	for i := range h.bodies {
		n += int(h.bodies[i].Load())
	}
	return n
}

// Each request ends once for the steps, however it is killed: by a panic, an error or a
// refusal of a later handler, by a client that has hung up, and by a refusal of this handler.
func TestKilledRequestsAreNotInFlight(t *testing.T) {
	settings := config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: "User-agent: *\nDisallow: /private/\nCrawl-delay: 0.01\n"}}
	c := new(counting)
	h := c.with(provisioned(t, &Handler{Settings: settings}))
	inner := provisioned(t, &Handler{Settings: settings})
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
	}
	var passed sync.Map
	var wg sync.WaitGroup
	for worker := range 50 {
		wg.Go(func() {
			for i := range 200 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(2000)-200)*time.Microsecond)
				r := request([]string{gptbot, bingbot, googlebot, chrome}[i%4], []string{"/x", "/private/x"}[i%2])
				r = r.WithContext(ctxWithin{r.Context(), ctx})
				if i%5 == 0 {
					r.Body, r.ContentLength = io.NopCloser(strings.NewReader("x")), 1
				}
				stage := (i + worker) % len(stages)
				func() {
					defer func() { _ = recover() }()
					_ = h.ServeHTTP(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
						passed.Store(stage, true)
						return stages[stage](w, r)
					}))
				}()
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
	if n := c.inFlight.Load(); n != 0 || bodies(h) != 0 {
		t.Errorf("%d requests stay in flight, and %d bodies are read", n, bodies(h))
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

// The body of a crawler's request that a step holds is read before the request is counted as in
// flight. One that is too long or late is refused, and the connection ends. Bodies of people, and
// of what no step holds, are not touched.
func TestBodiesOfCrawlers(t *testing.T) {
	held := new(counting).with(provisioned(t, new(Handler)))
	monitor := new(counting).with(provisioned(t, &Handler{Settings: config.Settings{Mode: config.ModeMonitor}}))
	plain := provisioned(t, new(Handler))
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
		{"too long", held, gptbot, long, maxBody + 1, 413, ""},
		{"too long, without a length", held, gptbot, long, -1, 413, ""},
		{"late, person", held, chrome, part{form}, 10, 200, "late"},
		{"late, monitor mode", monitor, gptbot, part{form}, 10, 200, "late"},
		{"late, no step holds it", plain, gptbot, part{form}, 10, 200, "late"},
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
		if rec := recordOf(r); refused && (rec.Action != judge.Throttle || rec.Reason != judge.CrawlDelay) {
			t.Errorf("%s: %v %v", tt.name, rec.Action, rec.Reason)
		}
		if n := bodies(tt.h); n != 0 {
			t.Errorf("%s: %d bodies are being read", tt.name, n)
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
