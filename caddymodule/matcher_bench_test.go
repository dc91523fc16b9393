package caddymodule

import (
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// A matcher where no robots handler has decided.
func BenchmarkMatcher(b *testing.B) {
	m := &MatchRobots{Crawler: []string{"GPTBot"}}
	if err := m.Provision(caddy.Context{Context: b.Context()}); err != nil {
		b.Fatal(err)
	}
	for name, agent := range map[string]string{
		"browser": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
		"crawler": "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
	} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("User-Agent", agent)
			b.ReportAllocs()
			for b.Loop() {
				if got, err := m.MatchWithError(r); err != nil || got != (name == "crawler") {
					b.Fatal(got, err)
				}
			}
		})
	}
}
