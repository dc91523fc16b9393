package audit

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/accesslog"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

const benchRobots = "User-agent: *\nDisallow: /private/\nCrawl-delay: 5\n\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: bingbot\nCrawl-delay: 2\nDisallow: /page/1*/\n"

func benchSites() []Site {
	return []Site{{Robots: []Version{{Name: "robots.txt", Response: judge.Response{Status: http.StatusOK, Body: []byte(benchRobots)}}}}}
}

// BenchmarkAudit reads 200,000 generated lines per iteration.
func BenchmarkAudit(b *testing.B) {
	for _, format := range []string{"combined", "caddy"} {
		b.Run(format, func(b *testing.B) {
			const lines = 200_000
			text, err := io.ReadAll(accesslog.New(format, lines, 50_000))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := Run(context.Background(), Options{Files: []logfile.File{memory("access.log", text)}, Sites: benchSites()})
				if err != nil || r.Requests != lines {
					b.Fatal(r, err)
				}
			}
			b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
