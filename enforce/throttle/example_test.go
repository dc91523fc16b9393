package throttle_test

import (
	"context"
	"fmt"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

func Example() {
	memory := throttle.NewMemory(100_000)
	limits := throttle.Compile(throttle.Grant{
		Delay:  robots.CrawlDelay{Delay: 10 * time.Second, Line: 3},
		Visits: []robots.VisitTime{{Window: robots.Window{From: 6 * 60, To: 8*60 + 45}, Line: 4}},
	})
	key := throttle.KeyOf(1, 2) // a hash of the origin and the crawler

	for _, at := range []string{"08:45:40", "08:45:42", "08:45:59"} {
		now, _ := time.Parse(time.TimeOnly, at)
		r := memory.Take(context.Background(), now, []throttle.Use{{key, limits}})
		if r.OK {
			fmt.Println(at, "goes on")
		} else {
			fmt.Println(at, "is refused by", r.Reason, "in line", r.Line, "and may come back in", r.RetryAfter)
		}
	}
	// Output:
	// 08:45:40 goes on
	// 08:45:42 is refused by crawl_delay in line 3 and may come back in 2.5s
	// 08:45:59 goes on
}
