package caddymodule

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
)

// prepared is the number of different requests in a benchmark. Their memory is
// far larger than the caches of a processor.
const prepared = 20_000

// BenchmarkHandler measures the handler in Caddy's chain with cold caches: it
// uses a different request each time. Each result includes Caddy's preparation of
// the request. The cost of the handler is the difference to no_handler, a
// middleware that does nothing.
func BenchmarkHandler(b *testing.B) {
	h := provisioned(b, &Handler{Settings: config.Settings{Source: &config.Source{Kind: config.SourceInline, Text: inline + "\nUser-agent: FreeBot\nCrawl-delay: 0.000001\n"}}})
	for _, bb := range []struct {
		name    string
		handler caddyhttp.MiddlewareHandler
		ua      func(i int) string
	}{
		{"no_handler", passOn{}, browserAgent},
		{"browser", h, browserAgent},
		{"crawler_allowed", h, func(int) string { return googlebot }},
		{"crawler_paced", h, func(int) string { return "Mozilla/5.0 (compatible; FreeBot/1.0)" }},
		{"crawler_denied", h, func(int) string { return gptbot }},
		{"crawler_throttled", h, func(int) string { return bingbot }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			server := new(caddyhttp.Server)
			serve(b, bb.handler, request(bb.ua(0), "/"))
			requests := arrivals(bb.ua)
			w := discard{make(http.Header)}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				clear(w.header)
				r := caddyhttp.PrepareRequest(requests[i%prepared], caddy.NewReplacer(), nil, server)
				if err := bb.handler.ServeHTTP(w, r, page); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// browserAgent returns one of 2,000 User-Agents of browsers.
func browserAgent(i int) string {
	return fmt.Sprintf("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.%d.0 Safari/537.36", 100+i%40, i%50)
}

// arrivals returns requests like those from the network.
func arrivals(ua func(i int) string) []*http.Request {
	requests := make([]*http.Request, prepared)
	for i := range requests {
		target := fmt.Sprintf("/articles/2026/%d/some-article.html", i)
		r := httptest.NewRequest(http.MethodGet, "http://example.com"+target, nil)
		r.RequestURI = target
		r.Header["User-Agent"] = []string{ua(i)}
		requests[i] = arrived(r)
	}
	return requests
}
