package caddymodule

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/visitors"
	"github.com/caddy-robots/caddy-robots/internal/suspect"
)

const trapped = "User-agent: *\nDisallow: /private/\nDisallow: /trap/\n"

// suspecting returns a handler with suspects and action bind. change may change
// its settings.
func suspecting(t testing.TB, change func(*config.Settings)) *Handler {
	t.Helper()
	s := config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: trapped}, Suspects: &config.Suspects{Trap: []string{"/trap/*"}, Action: config.SuspectsBind}}
	if change != nil {
		change(&s)
	}
	return provisioned(t, &Handler{Settings: s})
}

// tlsRequest returns a request over HTTPS, with fields given as name and value.
// Each test has a client address of its own, because the record of visitors
// outlives a handler.
func tlsRequest(t testing.TB, method, target string, fields ...string) *http.Request {
	r := httptest.NewRequest(method, "https://example.com/", nil)
	sum := sha256.Sum256([]byte(t.Name()))
	r.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, sum[0], sum[1], sum[2]}), 50000).String()
	r.RequestURI = target
	if u, err := url.ParseRequestURI(target); err == nil {
		r.URL = u
	}
	r.Header.Set("User-Agent", chrome)
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	return arrived(r)
}

// networkOf returns the network of tlsRequest's address, as lists of suspects
// show it.
func networkOf(t testing.TB) netip.Prefix {
	p, err := netip.MustParseAddrPort(tlsRequest(t, http.MethodGet, "/").RemoteAddr).Addr().Prefix(24)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// become makes the client of tlsRequest a suspect.
func become(t *testing.T, h *Handler) {
	t.Helper()
	for _, target := range []string{"/robots.txt", "/trap/a"} {
		if w, _ := ask(t, h, tlsRequest(t, http.MethodGet, target)); target == "/robots.txt" && w.Code != http.StatusOK {
			t.Fatalf("%s: status %d", target, w.Code)
		}
	}
}

// ask serves a request with a handler, in the same way as a server.
func ask(t testing.TB, h *Handler, r *http.Request) (*httptest.ResponseRecorder, *http.Request) {
	t.Helper()
	w := httptest.NewRecorder()
	repl := caddy.NewReplacer()
	r = caddyhttp.PrepareRequest(r, repl, w, new(caddyhttp.Server))
	if err := h.ServeHTTP(w, r, page); err != nil {
		t.Fatal(err)
	}
	return w, r
}

func TestRulesForStarApplyToSuspects(t *testing.T) {
	h := suspecting(t, nil)
	if w, _ := ask(t, h, tlsRequest(t, http.MethodGet, "/private/x")); w.Code != http.StatusOK {
		t.Fatalf("before: status %d", w.Code)
	}
	become(t, h)
	w, r := ask(t, h, tlsRequest(t, http.MethodGet, "/private/x"))
	if w.Code != http.StatusForbidden || w.Header().Get("Content-Type") != "text/html; charset=utf-8" || w.Header().Get("Cache-Control") != "no-store" ||
		!strings.Contains(w.Body.String(), `<form method="post" action="?caddy-robots-pass=`) || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("status %d, %v\n%s", w.Code, w.Header(), w.Body)
	}
	repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	for name, want := range map[string]string{"suspect": "robots_txt,trap_static", "action": "deny", "reason": "suspect", "class": "person", "line": "2", "group": "*"} {
		if got, _ := repl.GetString("http.robots." + name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for name, tt := range map[string]struct {
		r    *http.Request
		want int
	}{
		"an allowed page":        {tlsRequest(t, http.MethodGet, "/x"), 200},
		"a cookie":               {tlsRequest(t, http.MethodGet, "/private/x", "Cookie", "a=b"), 200},
		"an Authorization field": {tlsRequest(t, http.MethodGet, "/private/x", "Authorization", "Basic eDp5"), 200},
		"another User-Agent":     {tlsRequest(t, http.MethodGet, "/private/x", "User-Agent", strings.Replace(chrome, "131", "132", 1)), 200},
		"a real browser":         {tlsRequest(t, http.MethodGet, "/private/x", "Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"), 200},
		"a form":                 {tlsRequest(t, http.MethodPost, "/private/x"), 200},
		"an exempt path":         {tlsRequest(t, http.MethodGet, "/.well-known/x"), 200},
		"robots.txt":             {tlsRequest(t, http.MethodGet, "/robots.txt"), 200},
		"another spelling":       {tlsRequest(t, http.MethodGet, "/x/..//%70rivate/x"), 403},
		"HEAD":                   {tlsRequest(t, http.MethodHead, "/private/x"), 403},
		"a cross-site link":      {tlsRequest(t, http.MethodGet, "/private/x", "Sec-Fetch-Site", "cross-site"), 403},
	} {
		if w, _ := ask(t, h, tt.r); w.Code != tt.want {
			t.Errorf("%s: status %d, want %d", name, w.Code, tt.want)
		}
	}
}

func TestAnswersToSuspects(t *testing.T) {
	h := suspecting(t, nil)
	become(t, h)
	w, _ := ask(t, h, tlsRequest(t, http.MethodHead, "/private/x"))
	if w.Body.Len() != 0 || w.Header().Get("Content-Length") == "0" {
		t.Errorf("HEAD: %d octets, %v", w.Body.Len(), w.Header())
	}
	w, _ = ask(t, h, tlsRequest(t, http.MethodGet, "/private/x", "Accept", "*/*"))
	if w.Code != http.StatusForbidden || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" || !strings.Contains(w.Body.String(), "robots.txt") {
		t.Errorf("without HTML: %d, %v\n%s", w.Code, w.Header(), w.Body)
	}
	w, _ = ask(t, h, tlsRequest(t, http.MethodGet, `/private/x?a="><script>&caddy-robots-pass=x`))
	if want := "/private/x?a=%22%3E%3Cscript%3E"; w.Code != http.StatusSeeOther || w.Body.Len() != 0 || w.Header().Get("Location") != want {
		t.Errorf("a query with markup: %d, %v\n%s", w.Code, w.Header(), w.Body)
	}
	w, _ = ask(t, h, tlsRequest(t, http.MethodGet, `/private/x?a="><script>`))
	if w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "<script") {
		t.Errorf("a query with markup: %d\n%s", w.Code, w.Body)
	}
}

// action returns the target of the form on a page.
func action(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	m := regexp.MustCompile(`action="([^"]*)"`).FindStringSubmatch(w.Body.String())
	if m == nil {
		t.Fatalf("no form: %d\n%s", w.Code, w.Body)
	}
	return strings.NewReplacer("&amp;", "&").Replace(m[1])
}

func TestButtonSetsACookie(t *testing.T) {
	h := suspecting(t, nil)
	become(t, h)
	for target, want := range map[string]string{
		"/private/x":                   "/private/x",
		"/private/x?a=1&b=2":           "/private/x?a=1&b=2",
		"//private/x?a=1":              "/.//private/x?a=1",
		"/private/x?caddy-robots-pass": "/private/x?caddy-robots-pass",
	} {
		w, _ := ask(t, h, tlsRequest(t, http.MethodGet, target))
		path, _, _ := strings.Cut(target, "?")
		button := path + action(t, w)
		for name, fields := range map[string][]string{
			"another site's form":                     {"Sec-Fetch-Site", "cross-site"},
			"a form of the same site on another host": {"Sec-Fetch-Site", "same-site"},
			"another browser":                         {"User-Agent", strings.Replace(chrome, "131", "132", 1)},
		} {
			if w, _ := ask(t, h, tlsRequest(t, http.MethodPost, button, fields...)); len(w.Result().Cookies()) != 0 {
				t.Errorf("%s sets a cookie: %v", name, w.Header())
			}
		}
		if w, _ := ask(t, h, tlsRequest(t, http.MethodGet, button)); len(w.Result().Cookies()) != 0 {
			t.Errorf("GET sets a cookie: %v", w.Header())
		}
		w, _ = ask(t, h, tlsRequest(t, http.MethodPost, button, "Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"))
		cookies := w.Result().Cookies()
		location := strings.TrimPrefix(w.Header().Get("Location"), "/.")
		if w.Code != http.StatusSeeOther || !strings.HasPrefix(w.Header().Get("Location"), want) || len(cookies) != 1 {
			t.Fatalf("%s: status %d, %v", target, w.Code, w.Header())
		}
		if w, _ := ask(t, h, tlsRequest(t, http.MethodGet, location, "Cookie", cookies[0].Name+"="+cookies[0].Value)); w.Code != http.StatusSeeOther ||
			w.Header().Get("Location") != want {
			t.Errorf("after the button: status %d, %v", w.Code, w.Header())
		}
		if w, _ := ask(t, h, tlsRequest(t, http.MethodGet, location)); w.Code != http.StatusOK {
			t.Errorf("after the button, without the cookie: status %d", w.Code)
		}
		if w, _ := ask(t, h, tlsRequest(t, http.MethodGet, location)); w.Code != http.StatusSeeOther {
			t.Errorf("again: status %d", w.Code)
		}
		if c := cookies[0]; c.MaxAge != 86400 || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
			t.Errorf("%+v", c)
		}
		if w, _ := ask(t, h, tlsRequest(t, http.MethodGet, target, "Cookie", cookies[0].Name+"="+cookies[0].Value)); w.Code != http.StatusOK {
			t.Errorf("%s with the cookie: status %d", target, w.Code)
		}
	}
	for _, target := range []string{"/private/x?caddy-robots-pass=AAAAAAAAAAAAAAAAAAAAAA", "/private/x?caddy-robots-pass=", "/private/x?xcaddy-robots-pass=1"} {
		if w, _ := ask(t, h, tlsRequest(t, http.MethodPost, target)); w.Code != http.StatusOK || len(w.Result().Cookies()) != 0 {
			t.Errorf("%s: status %d, %v", target, w.Code, w.Header())
		}
	}
}

// Action observe and monitor mode refuse no request.
func TestObserveAndMonitorRefuseNoSuspect(t *testing.T) {
	for name, change := range map[string]func(*config.Settings){
		"observe": func(s *config.Settings) { s.Suspects.Action = "" },
		"monitor": func(s *config.Settings) { s.Mode = config.ModeMonitor },
	} {
		t.Run(name, func(t *testing.T) {
			h := suspecting(t, change)
			become(t, h)
			w, r := ask(t, h, tlsRequest(t, http.MethodGet, "/private/x"))
			if w.Code != http.StatusOK {
				t.Errorf("status %d", w.Code)
			}
			repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
			want := map[string]string{"observe": "pass", "monitor": "would_deny"}[name]
			if got, _ := repl.GetString("http.robots.action"); got != want {
				t.Errorf("action %q, want %q", got, want)
			}
			if got, _ := repl.GetString("http.robots.suspect"); got == "" {
				t.Error("the placeholder is empty")
			}
			m := &MatchRobots{Suspect: true}
			if ok, err := m.MatchWithError(r); !ok || err != nil {
				t.Errorf("the matcher: %t, %v", ok, err)
			}
			_, other := ask(t, h, tlsRequest(t, http.MethodGet, "/x", "Cookie", "a=b"))
			if ok, _ := m.MatchWithError(other); ok {
				t.Error("the matcher matches another client")
			}
			found := false
			for _, s := range h.app.Suspects(1000) {
				found = found || s.Site == "*" && s.Network == networkOf(t) && s.Browser.Family == "Chrome"
			}
			if !found || len(h.app.Suspects(0)) != 0 {
				t.Errorf("the list of suspects: %+v", h.app.Suspects(1000))
			}
		})
	}
}

func TestTwoHandlersCountARequestOnce(t *testing.T) {
	first, second := suspecting(t, nil), suspecting(t, nil)
	chain := caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error { return second.ServeHTTP(w, r, page) })
	for i := range 30 {
		w := httptest.NewRecorder()
		r := caddyhttp.PrepareRequest(tlsRequest(t, http.MethodGet, "/trap/"+strings.Repeat("x", i)), caddy.NewReplacer(), w, new(caddyhttp.Server))
		if err := first.ServeHTTP(w, r, chain); err != nil {
			t.Fatal(err)
		}
	}
	ask(t, first, tlsRequest(t, http.MethodGet, "/robots.txt"))
	for _, s := range first.app.Suspects(1000) {
		if s.Network == networkOf(t) && s.Documents != 30 {
			t.Errorf("%d documents, want 30", s.Documents)
		}
	}
}

func TestTrapURLs(t *testing.T) {
	h := suspecting(t, nil)
	mint := func(h *Handler, r *http.Request) string {
		_, r = ask(t, h, r)
		repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
		u, known := repl.GetString("http.robots.trap")
		if !known {
			t.Error("the placeholder is not known")
		}
		return u
	}
	u := mint(h, tlsRequest(t, http.MethodGet, "/"))
	if !strings.HasPrefix(u, "/trap/") || len(u) != len("/trap/")+27 {
		t.Fatalf("the URL is %q", u)
	}
	if got := mint(h, tlsRequest(t, http.MethodGet, "/", "User-Agent", googlebot)); !strings.HasPrefix(got, "/trap/") {
		t.Errorf("for a crawler, which gets the same page: %q", got)
	}
	plain := tlsRequest(t, http.MethodGet, "/")
	plain.TLS = nil
	if got := mint(h, plain); got != "" {
		t.Errorf("over plain HTTP: %q", got)
	}
	if got := mint(suspecting(t, func(s *config.Settings) { s.Suspects.Trap = nil }), tlsRequest(t, http.MethodGet, "/")); got != "" {
		t.Errorf("without a trap: %q", got)
	}
	ask(t, h, tlsRequest(t, http.MethodGet, u))
	_, r := ask(t, h, tlsRequest(t, http.MethodGet, "/robots.txt"))
	repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if got, _ := repl.GetString("http.robots.suspect"); got != "trap,robots_txt" {
		t.Errorf("after the trap and robots.txt: %q", got)
	}
}

// A crawler that has a group of its own reads only that group, so each group must
// disallow the trap.
func TestTrapsHaveToBeDisallowed(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"for all groups":                        {trapped, ""},
		"for a group that disallows everything": {trapped + "\nUser-agent: GPTBot\nDisallow: /\n", ""},
		"not for a group":                       {trapped + "\nUser-agent: GPTBot\nDisallow: /private/\n", "GPTBot (line 5)"},
		"not for *":                             {"User-agent: *\nDisallow: /private/\n", "* (line 1)"},
		"no group for *":                        {"User-agent: GPTBot\nDisallow: /\n", "no group for *"},
		"not for all URLs below it":             {trapped + "Allow: /trap/*U\n", "* (line 1)"},
		"an empty file":                         {"", "no group for *"},
		"not for Google's parser":               {trapped + "Allow: /trap/index.html\n", "* (line 1)"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
			defer cancel()
			h := &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: tt.text}, Suspects: &config.Suspects{Trap: []string{"/trap/*"}}}}
			err := h.provision(ctx, startedApp(t, ctx))
			defer func() { _ = h.Cleanup() }()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// A change of robots.txt may allow a trap. Then it has no effect.
func TestAllowedTrapsHaveNoEffect(t *testing.T) {
	h := suspecting(t, func(s *config.Settings) {
		s.Source, s.Suspects.Trap = &config.Source{Kind: config.SourceInline, Text: trapped}, []string{"/trap/*"}
	})
	h.visits = visitors.New(h.app.visitors, []suspect.Trap{"/open/"}, true, suspect.DefaultFor)
	_, r := ask(t, h, tlsRequest(t, http.MethodGet, "/"))
	repl := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if u, _ := repl.GetString("http.robots.trap"); u != "" {
		t.Errorf("it makes the trap URL %s", u)
	}
	ask(t, h, tlsRequest(t, http.MethodGet, "/robots.txt"))
	if _, r := ask(t, h, tlsRequest(t, http.MethodGet, "/open/x")); recordOf(r).standing.Suspect {
		t.Error("it makes a suspect")
	}
}
