package standard_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	_ "github.com/caddy-robots/caddy-robots/caddymodule/standard"
)

// prepared is the number of different requests in a benchmark. Their memory is far larger than
// the caches of a processor.
const prepared = 20_000

// BenchmarkHandler measures the handler in Caddy's chain with cold caches: it uses a different
// request each time. Each result includes Caddy's preparation of the request, which is all of
// no_handler. The steps that are on by default cost the difference of default to none, each other
// one that to default.
func BenchmarkHandler(b *testing.B) {
	const (
		browser   = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.%d.0 Safari/537.36"
		allowed   = "Mozilla/5.0 (compatible; bingbot/%d.%d; +http://www.bing.com/bingbot.htm)"
		paced     = "Mozilla/5.0 (compatible; FreeBot/%d.%d)"
		denied    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/%d.%d; +https://openai.com/gptbot)"
		throttled = "Mozilla/5.0 (compatible; AhrefsBot/%d.%d; +http://ahrefs.com/robot/)"
	)
	const none = `,"off":["federation","grace","storms"]`
	for _, bb := range []struct{ name, settings, agent string }{
		{"no_handler", "", browser},
		{"none/browser", none, browser},
		{"none/crawler_allowed", none, allowed},
		{"none/crawler_paced", none, paced},
		{"none/crawler_denied", none, denied},
		{"none/crawler_throttled", none, throttled},
		{"default/browser", "", browser},
		{"default/crawler", "", allowed},
		{"verify/browser", `,"steps":{"verify":{}}`, browser},
		{"verify/crawler", `,"steps":{"verify":{}}`, allowed},
		{"limit/browser", `,"steps":{"limit":{"limits":[{"paths":["/articles/*"],"all":"1000/1s"}]}}`, browser},
		{"limit/crawler", `,"steps":{"limit":{"limits":[{"paths":["/articles/*"],"all":"1000/1s"}]}}`, allowed},
		{"shed/browser", `,"steps":{"shed":{"in_flight":100}}`, browser},
		{"shed/crawler", `,"steps":{"shed":{"in_flight":100}}`, allowed},
		{"challenge/browser", `,"steps":{"challenge":{"paths":["/articles/*"],"over":"1000000/1m"}}`, browser},
		{"challenge/crawler", `,"steps":{"challenge":{"paths":["/articles/*"],"over":"1000000/1m"}}`, allowed},
	} {
		b.Run(bb.name, func(b *testing.B) {
			handler, server := page, new(caddyhttp.Server)
			if bb.name != "no_handler" {
				handler = provisioned(b, bb.settings)
			}
			requests := arrivals(bb.agent)
			w := discard{make(http.Header)}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				clear(w.header)
				r := caddyhttp.PrepareRequest(requests[i%prepared], caddy.NewReplacer(), nil, server)
				if err := handler.ServeHTTP(w, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// provisioned returns a handler with settings, and page behind it.
func provisioned(b *testing.B, settings string) caddyhttp.HandlerFunc {
	process, err := caddy.ProvisionContext(&caddy.Config{Logging: &caddy.Logging{Logs: map[string]*caddy.CustomLog{
		caddy.DefaultLoggerName: {BaseLog: caddy.BaseLog{Level: "ERROR"}},
	}}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := caddy.NewContext(process)
	b.Cleanup(cancel)
	const rules = `User-agent: *\nDisallow: /private/\n\nUser-agent: FreeBot\nCrawl-delay: 0.000001\n\n` +
		`User-agent: GPTBot\nDisallow: /\n\nUser-agent: AhrefsBot\nCrawl-delay: 3600\n`
	module, err := ctx.LoadModuleByID("http.handlers.robots", []byte(`{"source":{"kind":"inline","text":"`+rules+`"}`+settings+`}`))
	if err != nil {
		b.Fatal(err)
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		return module.(caddyhttp.MiddlewareHandler).ServeHTTP(w, r, page)
	}
}

// arrivals returns requests like those from the network, of as many addresses.
func arrivals(agent string) []*http.Request {
	requests := make([]*http.Request, prepared)
	for i := range requests {
		target := fmt.Sprintf("/articles/2026/%d/some-article.html", i)
		r := httptest.NewRequest(http.MethodGet, "http://example.com"+target, nil)
		r.RequestURI, r.RemoteAddr = target, fmt.Sprintf("198.18.%d.%d:1234", i/256, i%256)
		r.Header["User-Agent"] = []string{fmt.Sprintf(agent, 100+i%40, i%50)}
		local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}
		requests[i] = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local))
	}
	return requests
}

// page is what the next handler answers.
var page = caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
	w.Header()["Content-Type"] = []string{"text/html"}
	_, err := w.Write([]byte("hello"))
	return err
})

// discard is a ResponseWriter that drops the body.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}
