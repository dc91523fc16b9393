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

// BenchmarkHandler measures the handler with steps, as the benchmark of the core does without.
// The steps that are on by default cost the difference of default to none, each other one that to
// default.
func BenchmarkHandler(b *testing.B) {
	clients := [...]struct{ name, agent string }{
		{"browser", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.%d.0 Safari/537.36"},
		{"crawler", "Mozilla/5.0 (compatible; bingbot/%d.%d; +http://www.bing.com/bingbot.htm)"},
	}
	for _, bb := range []struct{ name, steps string }{
		{"none", `,"off":["federation","grace","storms"]`},
		{"default", ``},
		{"verify", `,"steps":{"verify":{}}`},
		{"limit", `,"steps":{"limit":{"limits":[{"paths":["/articles/*"],"all":"1000/1s"}]}}`},
		{"shed", `,"steps":{"shed":{"in_flight":100}}`},
		{"challenge", `,"steps":{"challenge":{"paths":["/articles/*"],"over":"1000000/1m"}}`},
	} {
		for _, client := range clients {
			b.Run(bb.name+"/"+client.name, func(b *testing.B) {
				process, err := caddy.ProvisionContext(&caddy.Config{Logging: &caddy.Logging{Logs: map[string]*caddy.CustomLog{
					caddy.DefaultLoggerName: {BaseLog: caddy.BaseLog{Level: "ERROR"}},
				}}})
				if err != nil {
					b.Fatal(err)
				}
				ctx, cancel := caddy.NewContext(process)
				defer cancel()
				module, err := ctx.LoadModuleByID("http.handlers.robots",
					[]byte(`{"source":{"kind":"inline","text":"User-agent: *\nDisallow: /private/\n"}`+bb.steps+`}`))
				if err != nil {
					b.Fatal(err)
				}
				handler, server := module.(caddyhttp.MiddlewareHandler), new(caddyhttp.Server)
				requests := arrivals(client.agent)
				w := discard{make(http.Header)}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					clear(w.header)
					r := caddyhttp.PrepareRequest(requests[i%prepared], caddy.NewReplacer(), nil, server)
					if err := handler.ServeHTTP(w, r, page); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
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
