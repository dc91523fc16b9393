package caddymodule

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap/zaptest"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
)

// challenging returns the step challenge with settings as JSON.
func challenging(settings string) caddy.ModuleMap {
	return caddy.ModuleMap{"challenge": []byte(settings)}
}

// The placeholder has a trap URL for whoever may get a page over HTTPS.
func TestTrapURLs(t *testing.T) {
	minting := func(trap string) *Handler {
		source := &config.Source{Kind: config.SourceInline, Text: "User-agent: *\nDisallow: /trap/\n"}
		return provisioned(t, &Handler{Settings: config.Settings{Source: source, Steps: challenging(`{"paths":["/blame/*"],"trap":"` + trap + `"}`)}})
	}
	trapped, other := minting("/trap/*"), minting("")
	for name, tt := range map[string]struct {
		handler *Handler
		url     string
		ua      string
		fields  []string
		want    bool
	}{
		"a browser":          {trapped, "https://example.com/", chrome, nil, true},
		"a navigation":       {trapped, "https://example.com/", chrome, []string{"Sec-Fetch-Dest", "document"}, true},
		"a script's fetch":   {trapped, "https://example.com/", chrome, []string{"Sec-Fetch-Dest", "empty"}, true},
		"a crawler":          {trapped, "https://example.com/", googlebot, nil, true},
		"an image":           {trapped, "https://example.com/", chrome, []string{"Sec-Fetch-Dest", "image"}, false},
		"over plain HTTP":    {trapped, "http://example.com/", chrome, nil, false},
		"without the option": {other, "https://example.com/", chrome, nil, false},
	} {
		r := httptest.NewRequest("GET", tt.url, nil)
		r.Header.Set("User-Agent", tt.ua)
		for i := 0; i < len(tt.fields); i += 2 {
			r.Header.Set(tt.fields[i], tt.fields[i+1])
		}
		w, repl := httptest.NewRecorder(), caddy.NewReplacer()
		r = caddyhttp.PrepareRequest(arrived(r), repl, w, new(caddyhttp.Server))
		if err := tt.handler.ServeHTTP(w, r, page); err != nil {
			t.Fatal(err)
		}
		u, known := repl.GetString("http.robots.trap")
		if !known || strings.HasPrefix(u, "/trap/") != tt.want || u != "" && !tt.want {
			t.Errorf("%s: %q, %t", name, u, known)
		}
	}
}

// A crawler that has a group of its own reads only that group, so each group of a local
// file must disallow the trap.
func TestTrapsHaveToBeDisallowed(t *testing.T) {
	for text, want := range map[string]string{
		"User-agent: *\nDisallow: /trap/\n":                                            "",
		"User-agent: *\nDisallow: /trap/\n\nUser-agent: GPTBot\nDisallow: /private/\n": "challenge trap /trap/ is not in force: robots.txt does not disallow it to every crawler: the group for GPTBot (line 4)",
	} {
		ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
		h := &Handler{log: zaptest.NewLogger(t), Settings: config.Settings{
			Source: &config.Source{Kind: config.SourceInline, Text: text}, Steps: challenging(`{"paths":["disallowed"],"trap":"/trap/*"}`),
		}}
		err := h.provision(ctx, startedApp(t, ctx))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
		_ = h.Cleanup()
		cancel()
	}
}
