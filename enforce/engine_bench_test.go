package enforce

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

func BenchmarkDecide(b *testing.B) {
	e := newEngineTest(b, site+"User-agent: FreeBot\nDisallow: /private/\n", Settings{ExemptPaths: []string{"/.well-known/*"}})
	for _, bb := range []struct{ name, ua, target string }{
		{"browser", chrome, "/articles/2026/some-article.html"},
		{"crawler_allowed", googlebot, "/articles/2026/some-article.html"},
		{"crawler_denied", gptbot, "/articles/2026/some-article.html"},
		{"crawler_throttled", bingbot, "/articles/2026/some-article.html"},
		{"crawler_disguised", newbot, "/articles/..%2f%70rivate//some-article.html"},
		{"crawler_4KB_path", googlebot, "/" + strings.Repeat("articles/", 450)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			req := &Request{Target: bb.target, UserAgents: []string{bb.ua}, Origin: home, Time: e.clock.now()}
			var d Decision
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				e.Decide(ctx, req, &d)
			}
		})
	}
}

// BenchmarkGrace measures a decision with and without earlier versions of the
// file.
func BenchmarkGrace(b *testing.B) {
	for _, bb := range []struct {
		name, ua, target string
		grace            Grace
		file             string // after a change; "" for none
	}{
		{"off/browser", chrome, "/archive/x", GraceOff, ""}, {"search/browser", chrome, "/archive/x", GraceSearch, ""},
		{"off/allowed", googlebot, "/x", GraceOff, ""}, {"search/allowed", googlebot, "/x", GraceSearch, ""},
		{"off/denied", googlebot, "/private/x", GraceOff, ""}, {"search/denied", googlebot, "/private/x", GraceSearch, ""},
		{"running/browser", chrome, "/archive/x", GraceSearch, closed}, {"running/allowed", googlebot, "/x", GraceSearch, closed},
		{"running/denied", googlebot, "/private/x", GraceSearch, closed}, {"running/graced", googlebot, "/archive/x", GraceSearch, closed},
	} {
		b.Run(bb.name, func(b *testing.B) {
			c := newClock()
			source := &fakeSource{shared: true}
			source.set(200, open)
			e, err := NewEngine(Settings{Grace: bb.grace}, source, throttle.NewMemory(16), nil, Config{Now: c.now})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			e.origins.Load(context.Background())
			req := &Request{Target: bb.target, UserAgents: []string{bb.ua}, Origin: home, Client: "192.0.2.1", Time: c.now()}
			var d Decision
			ctx := context.Background()
			e.Decide(ctx, req, &d)
			if bb.file != "" {
				c.advance(time.Second)
				source.set(200, bb.file)
				e.origins.Load(ctx)
				req.Time = c.now()
			}
			b.ReportAllocs()
			for b.Loop() {
				e.Decide(ctx, req, &d)
			}
		})
	}
}
