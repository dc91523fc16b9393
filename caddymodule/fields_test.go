package caddymodule

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/headers"
)

// tagged parses x_robots_tag rules.
func tagged(t testing.TB, lines ...string) (rules []headers.Setting) {
	t.Helper()
	for _, l := range lines {
		r, err := headers.ParseSetting(strings.Fields(l))
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	return rules
}

func TestNoindexLinesAreSentAsHeader(t *testing.T) {
	const file = "User-agent: *\nNoindex: /drafts/\nDisallow: /private/\n\nUser-agent: Googlebot\nNoindex: /for-google/\n\nUser-agent: AhrefsBot\nUser-agent: bingbot\nNoindex: /shared/\n"
	h := provisioned(t, &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: file}, NoindexLines: new(true)}})
	off := provisioned(t, &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: file}}})
	for _, tt := range []struct{ ua, path, want string }{
		{chrome, "/drafts/x", "noindex"},
		{"CCBot/2.0", "/drafts/x", "noindex"},
		{googlebot, "/drafts/x", ""},
		{googlebot, "/for-google/x", "Googlebot: noindex"},
		{"Googlebot-Image/1.0", "/for-google/x", "Googlebot: noindex"},
		{chrome, "/for-google/x", ""},
		{chrome, "/%64rafts/x", "noindex"},
		{chrome, "/x", ""},
		{bingbot, "/shared/x", "bingbot: noindex"},
		{"AhrefsBot/7.0", "/shared/x", "AhrefsBot: noindex"},
		{"curl/8.5.0", "/drafts/x", "noindex"}, // no group applies to it
	} {
		if got := serve(t, h, request(tt.ua, tt.path)).Header().Get("X-Robots-Tag"); got != tt.want {
			t.Errorf("%s for %.30s: %q, want %q", tt.path, tt.ua, got, tt.want)
		}
		if got := serve(t, off, request(tt.ua, tt.path)).Header().Get("X-Robots-Tag"); got != "" {
			t.Errorf("switched off, %s has %q", tt.path, got)
		}
	}
}

// A group whose token is not valid in a header gets no header.
func TestNoindexLinesOfInvalidNamesAreNotSent(t *testing.T) {
	const file = "User-agent: noindex\nUser-agent: x:bot\nNoindex: /\n"
	h := provisioned(t, &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: file}, NoindexLines: new(true)}})
	for _, ua := range []string{"noindex/1.0", "x:bot/1.0"} {
		if got := serve(t, h, request(ua, "/x")).Header()["X-Robots-Tag"]; got != nil {
			t.Errorf("%s: %q", ua, got)
		}
	}
}

func TestNoindexLinesFollowIgnoreCase(t *testing.T) {
	const file = "User-agent: *\nNoindex: /drafts/\n"
	for _, fold := range []bool{true, false} {
		h := provisioned(t, &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: file}, NoindexLines: new(true), Paths: &config.Paths{IgnoreCase: fold}}})
		want := map[bool]string{true: "noindex"}[fold]
		if got := serve(t, h, request(chrome, "/Drafts/x")).Header().Get("X-Robots-Tag"); got != want {
			t.Errorf("with ignore_case %v: %q, want %q", fold, got, want)
		}
	}
}

// A response that differs by User-Agent has `Vary: User-Agent`, for every client
// (RFC 9110, section 12.5.5).
func TestVaryUserAgent(t *testing.T) {
	const groups = "User-agent: *\nNoindex: /drafts/\nDisallow:\n\nUser-agent: GPTBot\nNoindex: /for-gpt/\n"
	const alone = "User-agent: *\nNoindex: /drafts/\nContent-Signal: ai-train=no\n"
	const signals = "User-agent: *\nContent-Signal: ai-train=no\nDisallow:\n\nUser-agent: GPTBot\nAllow: /\n"
	only := tagged(t, "*.pdf bingbot: only noindex")
	for _, tt := range []struct {
		name, file, path string
		h                *Handler
		varies           bool
	}{
		{"noindex for all crawlers but one", groups, "/drafts/x", &Handler{Settings: config.Settings{NoindexLines: new(true)}}, true},
		{"noindex for one crawler", groups, "/for-gpt/x", &Handler{Settings: config.Settings{NoindexLines: new(true)}}, true},
		{"noindex for no crawler", groups, "/x", &Handler{Settings: config.Settings{NoindexLines: new(true)}}, false},
		{"one group", alone, "/drafts/x", &Handler{Settings: config.Settings{NoindexLines: new(true), Signals: new(true)}}, false},
		{"signals of one group", signals, "/x", &Handler{Settings: config.Settings{Signals: new(true)}}, true},
		{"switched off", groups, "/drafts/x", &Handler{}, false},
		{"only", alone, "/x.pdf", &Handler{Settings: config.Settings{XRobotsTag: only}}, true},
		{"only, another file", alone, "/x.txt", &Handler{Settings: config.Settings{XRobotsTag: only}}, false},
	} {
		tt.h.Source = &config.Source{Kind: config.SourceInline, Text: tt.file}
		h := provisioned(t, tt.h)
		for _, ua := range []string{chrome, gptbot, bingbot, "curl/8.5.0"} {
			got := serve(t, h, request(ua, tt.path)).Header().Values("Vary")
			if varies := len(got) == 1 && got[0] == "User-Agent"; varies != tt.varies || len(got) > 1 {
				t.Errorf("%s, for %.20s: Vary %q", tt.name, ua, got)
			}
		}
	}
}

func TestSignalsAreSentAsHeaders(t *testing.T) {
	const file = "License: https://example.com/license.xml\nUser-agent: *\nContent-Signal: search=yes, ai-train=no\nContent-Usage: train-ai=n\n\nUser-agent: GPTBot\nContent-Signal: ai-train=yes\nDisallow:\n"
	h := provisioned(t, &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: file}, Signals: new(true)}})
	for _, tt := range []struct{ ua, signal, usage string }{
		{chrome, "search=yes, ai-train=no", "train-ai=n"},
		{gptbot, "ai-train=yes", ""},
	} {
		got := serve(t, h, request(tt.ua, "/x")).Header()
		if got.Get("Content-Signal") != tt.signal || got.Get("Content-Usage") != tt.usage || got.Get("Link") != `<https://example.com/license.xml>; rel="license"` {
			t.Errorf("%.30s: %v", tt.ua, got)
		}
	}
}
