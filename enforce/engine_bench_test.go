package enforce

import (
	"context"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
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
