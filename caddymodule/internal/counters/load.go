package counters

import (
	"slices"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// LoadMinutes is the number of minutes that a Load has.
const LoadMinutes = 5

// Load is how often a robot, or all robots together, requested a site. Requests of
// verified search engines count only in All.
type Load struct {
	Site    string
	Pattern string // that counts the requests to the host Site too; "" for a site
	Crawler string // as it is counted; "" for all robots together
	Label   string // the name in the registry, or the class; "" for all robots together

	Robots [LoadMinutes]uint64 // in this minute and in those before it, the latest first
	All    [LoadMinutes]uint64 // the requests of robots and people
	Usual  float64             // requests per minute: the mean of the hours with requests, of the 23 before this one
	Hours  int                 // how many hours Usual is the mean of

	past [24]uint64 // by hour, the latest first
}

// Loads returns the loads with more than least requests of robots in one of the
// minutes, in no order.
func (c *Counters) Loads(least uint64) (list []*Load) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	sites := c.place(statusapi.AllSites())
	loads, rows := make([]Load, len(sites)), c.allCrawlers()
	for _, row := range rows {
		if row.last <= c.at-LoadMinutes {
			continue
		}
		for i := range LoadMinutes {
			n := row.robots(hourSpan, c.at, i)
			for _, s := range [...]*Site{row.site, row.site.pattern} {
				if s.isPlaced() {
					loads[s.slot-1].Robots[i] += n
				}
			}
		}
	}
	for i, s := range sites { // of which all robots together exceed least
		l := &loads[i]
		l.Site, l.Pattern = s.name, s.patternName()
		if slices.Max(l.Robots[:]) <= least {
			s.slot = 0
		}
		l.Robots = [LoadMinutes]uint64{}
	}
	for _, host := range sites {
		for _, s := range [...]*Site{host, host.pattern} {
			for i := range LoadMinutes {
				if s.isPlaced() {
					loads[s.slot-1].All[i] += host.visitors.back(hourSpan, c.at, i)
				}
			}
		}
	}
	type key struct {
		slot  int
		name  string
		known bool
	}
	crawlers := make(map[key]*Load)
	for _, row := range rows {
		if row.past[requests].sum(daySpan) == 0 {
			continue
		}
		for _, s := range [...]*Site{row.site, row.site.pattern} {
			if !s.isPlaced() {
				continue
			}
			all, own, k := &loads[s.slot-1], row.load(c.at), key{s.slot, row.name, row.known}
			if crawlers[k] == nil {
				crawlers[k] = &Load{Site: all.Site, Pattern: all.Pattern, Crawler: own.Crawler, Label: own.Label}
			}
			crawlers[k].add(&own)
			all.add(&own)
		}
	}
	for k, own := range crawlers {
		if slices.Max(own.Robots[:]) > least {
			own.All = loads[k.slot-1].All
			list = append(list, own)
		}
	}
	for i, s := range sites {
		if s.isPlaced() {
			list = append(list, &loads[i])
		}
	}
	for _, l := range list {
		l.setUsual()
	}
	return list
}

// setUsual sets Usual and Hours.
func (l *Load) setUsual() {
	sum := uint64(0)
	for _, n := range l.past[1:] {
		if sum += n; n > 0 {
			l.Hours++
		}
	}
	l.Usual = float64(sum) / float64(60*max(1, l.Hours))
}

// load returns the requests of a crawler in minute m and before.
func (c *Crawler) load(m minute) Load {
	l := Load{Crawler: c.name, Label: c.class.String()}
	if c.known {
		l.Label = c.name
	}
	for i := range l.All {
		if c.last > m-LoadMinutes {
			l.All[i], l.Robots[i] = c.past[requests].back(hourSpan, m, i), c.robots(hourSpan, m, i)
		}
	}
	for i := range l.past {
		l.past[i] = c.robots(daySpan, m, i)
	}
	return l
}

// robots returns the requests that count in Load.Robots, in the step of a span that
// is i steps before that of minute m.
func (c *Crawler) robots(of span, m minute, i int) uint64 {
	all := c.past[requests].back(of, m, i)
	if all > 0 && slices.Contains(c.purposes, crawler.Search) {
		return subtract(all, c.past[verified].back(of, m, i))
	}
	return all
}

// add adds the requests of one crawler.
func (l *Load) add(own *Load) {
	for i := range l.All {
		l.All[i] += own.All[i]
		l.Robots[i] += own.Robots[i]
	}
	for i := range l.past {
		l.past[i] += own.past[i]
	}
}

// back returns the count of the step of a span that is i steps before that of
// minute m.
func (h *history) back(of span, m minute, i int) uint64 {
	if h.series == nil {
		return 0
	}
	return uint64(*h.series.at(of, m.step(of)-int64(i)))
}
