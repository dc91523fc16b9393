package caddymodule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap/zaptest"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/siteread"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

const (
	chrome    = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	gptbot    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"
	googlebot = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
	bingbot   = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36"
)

// provisioned provisions a handler, and cleans it up after the test.
func provisioned(t testing.TB, h *Handler) *Handler {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	app := startedApp(t, ctx)
	if h.log == nil {
		h.log = app.log
	}
	if err := h.provision(ctx, app); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Cleanup(); err != nil {
			t.Error(err)
		}
		cancel()
	})
	return h
}

// startedApp returns a robots app that is provisioned and started.
func startedApp(t testing.TB, ctx caddy.Context) *App {
	t.Helper()
	dir := t.TempDir()
	app := &App{log: zaptest.NewLogger(t), storage: func(caddy.Context) certmagic.Storage { return &certmagic.FileStorage{Path: dir} }}
	if err := errors.Join(app.Provision(ctx), app.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(app.Stop(), app.Cleanup()); err != nil {
			t.Error(err)
		}
	})
	return app
}

// page is a handler that writes a small page.
var page = caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
	w.Header()["Content-Type"] = pageType
	_, err := w.Write(hello)
	return err
})

var (
	hello    = []byte("hello")
	pageType = []string{textPlain}
)

// request returns a request that a Caddy server has prepared for handlers.
func request(ua, target string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "http://example.com"+target, nil)
	r.RequestURI = target
	r.Header["User-Agent"] = []string{ua}
	return caddyhttp.PrepareRequest(arrived(r), caddy.NewReplacer(), nil, nil)
}

// arrived returns r with a local address, like a request from the network.
func arrived(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}))
}

func serve(t testing.TB, h caddyhttp.MiddlewareHandler, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	if err := h.ServeHTTP(w, r, page); err != nil {
		t.Fatal(err)
	}
	return w
}

// JSON is validated in the same way as a Caddyfile.
func TestInvalidJSONIsAnError(t *testing.T) {
	for _, tt := range []struct{ config, want string }{
		{`{"mode": "sometimes"}`, "mode"},
		{`{"mode": "monitor", "enforced": ["GPTBott"]}`, "did you mean GPTBot?"},
		{`{"on_error": "pray"}`, "on_error"},
		{`{"refresh": "1ms"}`, "refresh"},
		{`{"dialect": "2001"}`, "2001"},
		{`{"max_origins": -1}`, "max_origins"},
		{`{"publish": true}`, "publish"},
		{`{"source": {"kind": "url", "url": "https://example.com/robots.txt"}, "steps": {"forwarded_request": {"family": "x"}}}`, "want off or x_forwarded or x_original"},
		{`{"source": {"kind": "ftp"}}`, "source"},
		{`{"source": {"kind": "file"}}`, "no path"},
		{`{"source": {"kind": "file", "path": "/no/such/file"}}`, "there is no file"},
		{`{"source": {"kind": "url", "url": "x"}}`, "absolute"},
		{`{"exempt_paths": ["x"]}`, "must start with / or *"},
		{`{"crawl_delay": {"burst": -1}}`, "burst"},
		{`{"crawl_delay": {"max": -1}}`, "max"},
		{`{"crawl_delay": {"per": "planet"}}`, "per"},
		{`{"crawl_delay": {"max_entries": -1}}`, "max_entries"},
		{`{"crawlers": [{}]}`, "name is empty"},
		{`{"crawlers": [{"name": "X1Thing", "user_agents": ["Safari"]}]}`, "browsers send"},
		{`{"crawlers": [{"name": "X1Thing", "purposes": ["ai-trainig"]}]}`, "did you mean ai-training"},
		{`{"crawlers": [{"name": "X1Thing", "star": "maybe"}]}`, "yes or no"},
		{`{"registry": "/no/such/file"}`, "no such file"},
		{`{"off": ["modes"]}`, `there is no setting "modes": did you mean mode?`},
		{`{"off": ["paths"], "paths": {}}`, "paths is off, and is also given"},
		{`{"answers": [{"verdict": "disallowed", "status": 403, "abort": true}]}`, "want one of a status, redir URL and abort"},
		{`{"answers": [{"verdict": "disallowed", "text": "x", "abort": true}]}`, "a text needs a status"},
		{`{"source": {"kind": "inline", "text": "User-agent: *\nDisallow: /shut/\n"}, "answers": [{"verdict": "disallowed", "redirect": "/shut/sorry"}]}`,
			"robots.txt disallows this path itself"},
	} {
		h := &Handler{log: zaptest.NewLogger(t)}
		if err := json.Unmarshal([]byte(tt.config), h); err != nil {
			t.Errorf("%s: %v", tt.config, err)
			continue
		}
		ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
		err := h.provision(ctx, startedApp(t, ctx))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error with %q", tt.config, err, tt.want)
		}
		if err := h.Cleanup(); err != nil { // after a Provision that failed
			t.Errorf("%s: Cleanup: %v", tt.config, err)
		}
		cancel()
	}
	if err := new(Handler).Cleanup(); err != nil {
		t.Errorf("Cleanup without Provision: %v", err)
	}
}

// A client can't send a request that counts as one of the server itself.
func TestClientsCantImitateRequestsOfTheServer(t *testing.T) {
	r := request(gptbot, "/")
	r.RemoteAddr = siteread.RemoteAddr
	r.Header.Set("User-Agent", origins.FetcherUserAgent)
	if isSubrequest(r) {
		t.Error("the client address alone makes a request count as the server's")
	}
	inner := httptest.NewRequest(http.MethodGet, "/part.html", nil)
	if !isSubrequest(inner) {
		t.Error("a request of the server itself counts as a client's")
	}
}

func TestAnUntrustedProxyHidesTheClient(t *testing.T) {
	for field, want := range map[string]bool{
		"Accept": false, "X-Real-Agent": false, "X-Forwarded-For": true, "Forwarded": true, "Via": true, "X-Real-IP": true,
		"CF-Connecting-IP": true, "True-Client-IP": true, "Fastly-Client-IP": true,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set(field, "203.0.113.9")
		for _, tt := range []struct {
			proxied, ambiguous, hidden bool
		}{{false, false, want}, {true, true, want}, {true, false, false}} {
			x := &exchange{Exchange: step.Exchange{HTTP: r}}
			if x.Request.Proxied, x.Request.Ambiguous = tt.proxied, tt.ambiguous; x.HidesClient() != tt.hidden {
				t.Errorf("%s: %+v, got %v", field, tt, x.HidesClient())
			}
		}
	}
}

// A decision has the same names in placeholders and log as in the JSON of commands and the admin API, and the same values.
func TestDecisionsHaveOneForm(t *testing.T) {
	t.Parallel()
	rules, err := judge.Settings{Monitor: true}.Rules(judge.Response{Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /\n")})
	if err != nil {
		t.Fatal(err)
	}
	rec := new(record)
	rules.Check(&judge.Request{Method: http.MethodGet, Target: "/x", UserAgents: []string{"GPTBot/1.0"}}, &rec.Decision)
	text, err := json.Marshal(verdict.Of(&rec.Decision))
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	if fields["action"] != "would_deny" {
		t.Errorf("%s", text)
	}
	for _, name := range placeholders {
		value, _ := rec.placeholder(placeholderPrefix + name)
		if isRare(name) {
			continue // absent
		}
		if fmt.Sprint(fields[name]) != fmt.Sprint(value) {
			t.Errorf("%s: the placeholder is %v, in %s", name, value, text)
		}
	}
}

// A request that a dashboard answers is not counted.
func TestRequestsAreNotCounted(t *testing.T) {
	h := provisioned(t, &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: "User-agent: *\nDisallow: /x/"}}})
	for want, next := range []caddyhttp.HandlerFunc{
		func(_ http.ResponseWriter, r *http.Request) error {
			caddyhttp.SetVar(r.Context(), step.Uncounted, true)
			return nil
		},
		page,
	} {
		if err := h.ServeHTTP(httptest.NewRecorder(), request(chrome, "/"), next); err != nil {
			t.Fatal(err)
		}
		if n := h.app.counters.View(statusapi.AllSites(), statusapi.SpanHour).Summary.People.Total; n != uint64(want) {
			t.Errorf("%d requests of people are counted, want %d", n, want)
		}
	}
}
