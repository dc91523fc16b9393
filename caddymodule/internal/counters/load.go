package counters

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
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
	together, own := make(map[*Site]*Load), make(map[*Crawler]*Load) // of all robots, and of single ones
	busy := c.busy(least)
	for r := range c.rowsIn(func(s *Site) bool { return busy[s] }) {
		from := r.crawler
		all, one := together[from.site], own[from]
		if all == nil {
			all = &Load{Site: from.site.name, Pattern: from.site.patternName()}
			together[from.site] = all
		}
		for i := range all.All {
			all.All[i] += r.back(hourSpan, c.at, i)
		}
		if from.class == crawler.Person || from.isSearch() && r.claim == claim.Verified {
			continue
		}
		if one == nil {
			one = &Load{Site: from.site.name, Pattern: all.Pattern, Crawler: from.name, Label: from.class.String(), Folder: from.common()}
			if from.known {
				one.Label = from.name
			}
			own[from] = one
		}
		all.add(r, c.at)
		one.add(r, c.at)
	}
	for from, l := range own {
		l.All = together[from.site].All
		list = append(list, l)
	}
	list = slices.AppendSeq(list, maps.Values(together))
	list = slices.DeleteFunc(list, func(l *Load) bool { return slices.Max(l.Robots[:]) <= least })
	for _, l := range list {
		l.setUsual()
	}
	return list
}

// busy returns the sites to which crawlers sent more than least requests in one of the
// minutes of a Load.
func (c *Counters) busy(least uint64) map[*Site]bool {
	recent := c.now().Add(-(LoadMinutes + maxBack) * time.Minute).Unix()
	minutes, busy := make(map[*Site]*[LoadMinutes]uint64), make(map[*Site]bool)
	for r := range c.rowsIn(func(*Site) bool { return true }) {
		s := r.crawler.site
		if r.last.Load() < recent || r.crawler.class == crawler.Person {
			continue
		}
		if minutes[s] == nil {
			minutes[s] = new([LoadMinutes]uint64)
		}
		for i := range minutes[s] {
			minutes[s][i] += r.back(hourSpan, c.at, i)
			busy[s] = busy[s] || minutes[s][i] > least
		}
	}
	return busy
}

// add adds the requests of a row in minute m and before.
func (l *Load) add(r *row, m minute) {
	for i := range l.Robots {
		n := r.back(hourSpan, m, i)
		l.Robots[i] += n
		switch {
		case r.monitor() || r.action() == judge.Pass:
		case r.action() == judge.Deny:
			l.Denied[i] += n
		default:
			l.Throttled[i] += n
		}
	}
	for i := range l.past {
		l.past[i] += r.back(daySpan, m, i)
	}
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
