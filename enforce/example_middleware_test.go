package enforce_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/headers"
)

// enforceRobots returns a handler that refuses the requests that the engine
// refuses, and passes all others to next.
func enforceRobots(engine *enforce.Engine, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, _, _ := net.SplitHostPort(r.RemoteAddr)
		var d judge.Decision
		engine.Decide(r.Context(), &judge.Request{
			Method:     r.Method,
			Target:     r.RequestURI,
			UserAgents: r.Header.Values("User-Agent"),
			Origin:     judge.NewOrigin("http", r.Host, 80),
			Client:     client,
			Authorized: r.Header.Get("Authorization") != "",
			Time:       time.Now(),
		}, &d)
		switch d.Action {
		case judge.Pass:
			next.ServeHTTP(w, r)
			return
		case judge.Deny:
			w.Header().Set("Cache-Control", "no-store") // a cache must not serve this to people
			http.Error(w, "The robots.txt of this site disallows this URL to your crawler.", http.StatusForbidden)
		case judge.Throttle:
			w.Header().Set("Cache-Control", "no-store")
			w.Header().Set("Retry-After", headers.RetryAfter(d.RetryAfter))
			http.Error(w, "Your crawler sends requests too fast.", http.StatusTooManyRequests)
		}
	})
}

// Any net/http server can enforce a robots.txt, without Caddy.
func Example_middleware() {
	limiter := throttle.NewMemory(100_000)
	file := origins.Inline("User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n")
	engine, err := enforce.NewEngine(judge.Settings{}, file, limiter, nil, origins.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	site := enforceRobots(engine, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "page") }))
	for _, r := range []struct{ ua, path string }{
		{"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "/private/plan"},
		{"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "/private/plan"},
		{"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "/"},
		{"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "/"},
	} {
		request := httptest.NewRequest(http.MethodGet, r.path, nil)
		request.Header.Set("User-Agent", r.ua)
		response := httptest.NewRecorder()
		site.ServeHTTP(response, request)
		fmt.Printf("%d %q\n", response.Code, response.Header().Get("Retry-After"))
	}
	// Output:
	// 200 ""
	// 403 ""
	// 200 ""
	// 429 "5"
}
