package counters

import (
	"maps"
	"slices"

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
	minutes := make(map[*Site]*[LoadMinutes]uint64)
	rows := c.allCrawlers()
	for _, row := range rows {
		if row.last <= c.at-LoadMinutes {
			continue
		}
		for _, s := range row.site.andPattern() {
			if minutes[s] == nil {
				minutes[s] = new([LoadMinutes]uint64)
			}
			for i := range LoadMinutes {
				minutes[s][i] += row.robots(hourSpan, c.at, i)
			}
		}
	}
	sites := make(map[*Site]*Load) // of which all robots together exceed least
	for s, robots := range minutes {
		if slices.Max(robots[:]) > least {
			sites[s] = &Load{Site: s.name, Pattern: s.patternName()}
		}
	}
	for _, s := range c.allSites() {
		for _, s1 := range s.andPattern() {
			if l := sites[s1]; l != nil {
				for i := range LoadMinutes {
					l.All[i] += s.visitors.back(hourSpan, c.at, i)
				}
			}
		}
	}
	type key struct {
		site  *Site
		name  string
		known bool
	}
	crawlers := make(map[key]*Load)
	for _, row := range rows {
		if row.past[requests].sum(daySpan) == 0 {
			continue
		}
		for _, s := range row.site.andPattern() {
			all := sites[s]
			if all == nil {
				continue
			}
			own, k := row.load(c.at), key{s, row.name, row.known}
			if crawlers[k] == nil {
				crawlers[k] = &Load{Site: all.Site, Pattern: all.Pattern, Crawler: own.Crawler, Label: own.Label}
			}
			crawlers[k].add(&own)
			all.add(&own)
		}
	}
	for k, own := range crawlers {
		if slices.Max(own.Robots[:]) > least {
			own.All = sites[k.site].All
			list = append(list, own)
		}
	}
	list = slices.AppendSeq(list, maps.Values(sites))
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
