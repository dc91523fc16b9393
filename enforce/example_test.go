package enforce_test

import (
	"context"
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

func Example() {
	file := origins.Inline("User-agent: *\nDisallow: /private/\n\nUser-agent: bingbot\nCrawl-delay: 10\n")
	limiter := throttle.NewMemory(100_000)
	engine, err := enforce.NewEngine(judge.Settings{}, file, limiter, nil, origins.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()

	for _, r := range []struct{ ua, target string }{
		{"CCBot/2.0 (https://commoncrawl.org/faq/)", "/private/x"},
		{"CCBot/2.0 (https://commoncrawl.org/faq/)", "/x"},
		{"Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "/private/x"},
		{"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "/"},
		{"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "/"},
	} {
		var d judge.Decision
		engine.Decide(context.Background(), &judge.Request{
			Target:     r.target,
			UserAgents: []string{r.ua},
			Origin:     judge.NewOrigin("https", "example.com", 443),
			Time:       time.Now(),
		}, &d)
		fmt.Println(d.Action, d.Reason, d.Name(), d.Line)
	}
	// Output:
	// deny disallowed CCBot 2
	// pass allowed CCBot 0
	// pass person  0
	// pass allowed bingbot 0
	// throttle crawl_delay bingbot 5
}
