package enforce

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

func BenchmarkDecide(b *testing.B) {
	e := newEngineTest(b, fake.Site+"User-agent: FreeBot\nDisallow: /private/\n", judge.Settings{ExemptPaths: []string{"/.well-known/*"}})
	for _, bb := range []struct{ name, ua, target string }{
		{"browser", fake.Chrome, "/articles/2026/some-article.html"},
		{"crawler_allowed", fake.Googlebot, "/articles/2026/some-article.html"},
		{"crawler_denied", fake.Gptbot, "/articles/2026/some-article.html"},
		{"crawler_throttled", fake.Bingbot, "/articles/2026/some-article.html"},
		{"crawler_disguised", fake.Newbot, "/articles/..%2f%70rivate//some-article.html"},
		{"crawler_4KB_path", fake.Googlebot, "/" + strings.Repeat("articles/", 450)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			req := &judge.Request{Target: bb.target, UserAgents: []string{bb.ua}, Origin: fake.Home, Time: e.clock.Now()}
			var d judge.Decision
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
		grace            judge.Grace
		file             string // after a change; "" for none
	}{
		{"off/browser", fake.Chrome, "/archive/x", judge.GraceOff, ""}, {"search/browser", fake.Chrome, "/archive/x", judge.GraceSearch, ""},
		{"off/allowed", fake.Googlebot, "/x", judge.GraceOff, ""}, {"search/allowed", fake.Googlebot, "/x", judge.GraceSearch, ""},
		{"off/denied", fake.Googlebot, "/private/x", judge.GraceOff, ""}, {"search/denied", fake.Googlebot, "/private/x", judge.GraceSearch, ""},
		{"running/browser", fake.Chrome, "/archive/x", judge.GraceSearch, closed}, {"running/allowed", fake.Googlebot, "/x", judge.GraceSearch, closed},
		{"running/denied", fake.Googlebot, "/private/x", judge.GraceSearch, closed}, {"running/graced", fake.Googlebot, "/archive/x", judge.GraceSearch, closed},
	} {
		b.Run(bb.name, func(b *testing.B) {
			c := fake.NewClock()
			source := &fake.Source{Shared: true}
			source.Set(200, open)
			e, err := NewEngine(judge.Settings{Grace: bb.grace}, source, throttle.NewMemory(16), nil, origins.Config{Now: c.Now})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			e.origins.Load(context.Background())
			req := &judge.Request{Target: bb.target, UserAgents: []string{bb.ua}, Origin: fake.Home, Client: "192.0.2.1", Time: c.Now()}
			var d judge.Decision
			ctx := context.Background()
			e.Decide(ctx, req, &d)
			if bb.file != "" {
				c.Advance(time.Second)
				source.Set(200, bb.file)
				e.origins.Load(ctx)
				req.Time = c.Now()
			}
			b.ReportAllocs()
			for b.Loop() {
				e.Decide(ctx, req, &d)
			}
		})
	}
}
