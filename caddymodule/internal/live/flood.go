package live

import (
	"cmp"
	"fmt"
	"slices"
	"time"

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

// loadAccidents returns the floods. All robots together are one only where no single
// robot is, and all hosts of a pattern only where no single host has one.
func loadAccidents(loads []*counters.Load, open map[accidentKey]*Accident, now time.Time) (list []Accident) {
	for _, load := range loads {
		flood := Accident{Kind: Flood, Site: load.Site, pattern: load.Pattern, Crawler: cmp.Or(load.Label, everybody), Since: now,
			usual: load.Usual}
		if was := open[flood.key()]; was != nil && was.Crawler == flood.Crawler && now.Sub(was.Since) < usualFor {
			flood.Since, flood.usual = was.Since, was.usual // the flood does not become usual
		}
		if flood.Now = mostOf(load, flood.usual); flood.Now > 0 && load.Hours >= usualHours {
			list = append(list, flooded(flood, load))
		}
	}
	return slices.DeleteFunc(list, func(x Accident) bool {
		return slices.ContainsFunc(list, func(y Accident) bool {
			return x.Site == y.pattern || x.Crawler == everybody && x.Site == y.Site && y.Crawler != everybody
		})
	})
}
