package live

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
)

// mostOf returns the requests of a load in its busiest minute, of those in which they
// are many compared with the usual ones and with all requests; 0 if there is none.
func mostOf(load *counters.Load, usual float64) (most int) {
	for i, n := range load.Robots {
		if n > floodLeast && float64(n) > floodFactor*usual && n*floodShare >= load.All[i] {
			most = max(most, int(n))
		}
	}
	return most
}

// slowDown is the advice about a robot that sends too many requests.
const slowDown = "`caddy robots status` shows who it is. A Crawl-delay slows it down and a `deny` in `policy` stops it, if it names itself."

// flooded completes the accident of a flood.
func flooded(a Accident, load *counters.Load) Accident {
	who := load.Crawler + " sends"
	if load.Crawler == "" {
		who = "all robots together send"
	}
	a.Before, a.subject, a.sites = int(a.usual), siteName(load.Site), []string{load.Site}
	a.message = fmt.Sprintf("%s %s a minute to %s; %.1f are usual", who, quantity(a.Now, "request"), a.subject, a.usual)
	a.advice = slowDown
	return a
}
