package caddymodule

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
)

// JSON can switch off some settings only, and none that is also given.
func TestInvalidOffInJSON(t *testing.T) {
	for config, want := range map[string]string{
		`{"off": ["mode"]}`:                                        `"mode" is not one of answers`,
		`{"off": ["paths"], "paths": {}}`:                          "paths is off, and is also given",
		`{"off": ["fleet"], "steps": {"fleet": {"url": "redis"}}}`: "fleet is off",
	} {
		h := new(Handler)
		if err := json.Unmarshal([]byte(config), h); err != nil {
			t.Fatal(err)
		}
		if err := provisionError(t, h); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
}

// JSON is validated in the same way as a Caddyfile. With a local source, a
// redirect to a disallowed path is an error.
func TestInvalidAnswersInJSON(t *testing.T) {
	for want, h := range map[string]*Handler{
		"want one of a status, redir URL and abort": {Settings: config.Settings{Answers: []config.Answer{{Verdict: "disallowed", Status: 403, Abort: true}}}},
		"a text needs a status":                     {Settings: config.Settings{Answers: []config.Answer{{Verdict: "disallowed", Text: "x", Abort: true}}}},
		"robots.txt disallows this path itself": {Settings: config.Settings{
			Source:  &config.Source{Kind: config.SourceInline, Text: "User-agent: *\nDisallow: /shut/\n"},
			Answers: []config.Answer{{Verdict: "disallowed", Redirect: "/shut/sorry"}},
		}},
	} {
		if err := provisionError(t, h); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// provisionError returns the error of provisioning a handler.
func provisionError(t *testing.T, h *Handler) error {
	t.Helper()
	ctx, cancel := caddy.NewContext(caddy.Context{Context: t.Context()})
	defer cancel()
	err := h.provision(ctx, startedApp(t, ctx))
	if cleanup := h.Cleanup(); cleanup != nil {
		t.Error(cleanup)
	}
	return err
}
