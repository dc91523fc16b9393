package counters

import (
	"fmt"
	"slices"
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
	// Of Robots, how many were denied, and throttled.
	Denied, Throttled [LoadMinutes]uint64
	Usual             float64 // requests per minute: the mean of the hours with requests, of the 23 before this one
	Hours             int     // how many hours Usual is the mean of
	Folder            string  // of the last requests of a robot: /a/ of /a/b; / if they have none in common

	past [24]uint64 // by hour, the latest first
}

// In a minute of a flood, robots send more than FloodLeast requests, more than floodFactor
// times as many as usual, and at least one in floodShare of all.
const (
	FloodLeast  = 100
	floodFactor = 10
	floodShare  = 5
)

// Most returns the requests of robots in the busiest minute with more than least of them, if
// that is a flood; 0 if there is none. latest is how many minutes ago the latest such minute was.
func (l *Load) Most(least uint64, usual float64) (most, latest int) {
	for i, n := range slices.Backward(l.Robots[:]) {
		if n > least && float64(n) > floodFactor*usual && n*floodShare >= l.All[i] {
			most, latest = max(most, int(n)), i
		}
	}
	return most, latest
}

// Handled says what nearly all robots got some minutes ago, such as "403 for all of it"; ""
// if they were not refused, or if what was let through would be a flood itself.
func (l *Load) Handled(minutes int) string {
	status, share, all := "403", "all", l.Robots[minutes]
	if l.Throttled[minutes] > l.Denied[minutes] {
		status = "429"
	}
	refused := min(l.Denied[minutes]+l.Throttled[minutes], all)
	if refused < all {
		share = fmt.Sprintf("%d %%", refused*100/all)
	}
	if refused*10 < all*9 || all-refused > FloodLeast {
		return ""
	}
	return status + " for " + share + " of it"
}

// Loads returns the loads with more than least requests of robots in one of the
// minutes, in no order.
func (c *Counters) Loads(least uint64) (list []*Load) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	var busy []*Site
	for s := range c.allSites() {
		if s.counts(hourSpan).Requests > least && s.most(c.at) > least {
			busy = append(busy, s)
		}
	}
	together, own := make(map[*Site]*Load), make(map[*Load]*Site) // of all robots, and of single ones
	for row := range crawlersAt(slices.Values(busy)) {
		if row.past[requests].sum(daySpan) == 0 {
			continue
		}
		if together[row.site] == nil {
			together[row.site] = &Load{Site: row.site.name, Pattern: row.site.patternName()}
		}
		load := row.load(c.at)
		if row.isStranger() {
			load = &Load{All: load.All}
		}
		if together[row.site].add(load); slices.Max(load.Robots[:]) > least {
			own[load] = row.site
		}
	}
	for s, l := range together {
		for i := range l.All {
			l.All[i] += s.visitors.back(hourSpan, c.at, i)
		}
		if slices.Max(l.Robots[:]) > least {
			list = append(list, l)
		}
	}
	for l, s := range own {
		l.Site, l.Pattern, l.All = s.name, s.patternName(), together[s].All
		list = append(list, l)
	}
	for _, l := range list {
		l.setUsual()
	}
	return list
}

// most returns the most requests of crawlers in one of the minutes that a Load has.
func (s *Site) most(m minute) (most uint64) {
	for i := range LoadMinutes {
		n := uint64(0)
		for _, h := range s.reasons.all() {
			n += h.back(hourSpan, m, i)
		}
		most = max(most, n)
	}
	return most
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
func (c *Crawler) load(m minute) *Load {
	l := &Load{Crawler: c.name, Label: c.class.String(), Folder: c.common()}
	if c.known {
		l.Label = c.name
	}
	for i := range l.All {
		if c.last > m-LoadMinutes {
			l.All[i], l.Robots[i] = c.past[requests].back(hourSpan, m, i), c.robots(hourSpan, m, i)
			l.Denied[i], l.Throttled[i] = c.past[denied].back(hourSpan, m, i), c.past[throttled].back(hourSpan, m, i)
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
	if all > 0 && c.isSearch() {
		return subtract(all, c.past[verified].back(of, m, i))
	}
	return all
}

// add adds the requests of one crawler.
func (l *Load) add(own *Load) {
	for i := range l.All {
		l.All[i] += own.All[i]
		l.Robots[i] += own.Robots[i]
		l.Denied[i] += own.Denied[i]
		l.Throttled[i] += own.Throttled[i]
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
