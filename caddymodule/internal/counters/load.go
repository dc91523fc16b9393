package counters

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
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
	Bound   bool   // a rule can bind some of it; nothing binds API clients

	Robots         [LoadMinutes]uint64 // in this minute and in those before it, the latest first
	All            [LoadMinutes]uint64 // the requests of robots and people
	Engines        [LoadMinutes]uint64 // of All, those of verified search engines; only of all robots together
	Refused, Would [LoadMinutes]uint64 // of Robots; in monitor mode, those that would have been refused

	Usual  float64 // requests per minute: the mean of the hours with requests, of the 23 before this one
	Hours  int     // how many hours Usual is the mean of
	Folder string  // of the last requests of a robot: /a/ of /a/b; / if they have none in common

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

// Handled returns how many percent of what robots sent some minutes ago were refused; 0 if they were
// not nearly all, or if what was let through would be a flood itself.
func (l *Load) Handled(minutes int) (percent int) { return l.held(minutes, l.Refused[minutes]) }

// WouldHold is Handled for what enforcing would have refused.
func (l *Load) WouldHold(minutes int) (percent int) {
	return l.held(minutes, l.Refused[minutes]+l.Would[minutes])
}

func (l *Load) held(minutes int, refused uint64) (percent int) {
	all := l.Robots[minutes]
	refused = min(refused, all)
	if refused*10 < all*9 || all-refused > FloodLeast {
		return 0
	}
	return int(refused * 100 / max(1, all))
}

// Loads returns the loads with more than least requests of robots in one of the
// minutes, in no order. Those that serve people are none, and programs that no rule binds, which may
// be API clients, count only for themselves.
func (c *Counters) Loads(least uint64) (list []*Load) {
	c.mu.Lock()
	defer c.mu.Unlock()
	type key struct {
		site *Site
		id   // none for all robots together
	}
	found := make(map[key]*Load)
	at := func(k key) *Load {
		if found[k] == nil {
			found[k] = &Load{Site: k.site.name, Pattern: k.site.patternName()}
		}
		return found[k]
	}
	busy := c.busy(least)
	if len(busy) == 0 {
		return nil
	}
	for r := range c.walk() {
		if busy[r.site] == 0 {
			continue
		}
		all, isEngine := at(key{site: r.site}), r.isSearch() && r.Claim == claim.Verified
		for i := range all.All {
			n := r.Past.back(hourSpan, c.at, i)
			all.All[i] += n
			if isEngine {
				all.Engines[i] += n
			}
		}
		if r.servesPeople() || isEngine {
			continue
		}
		one := at(key{r.site, r.id()})
		one.Crawler, one.Label = r.name(), r.label()
		if !r.isUnboundProgram() {
			one.Bound = true
			all.add(r, c.at)
		}
		if folder := r.common(); one.add(r, c.at) {
			one.Folder = cmp.Or(one.Folder, folder)
			if one.Folder != folder {
				one.Folder = "/"
			}
		}
	}
	for k, l := range found {
		l.All = found[key{site: k.site}].All
		if slices.Max(l.Robots[:]) > least {
			l.setUsual()
			list = append(list, l)
		}
	}
	return list
}

// busy returns how many requests crawlers sent to each site in the minutes of a Load, if they
// are more than least.
func (c *Counters) busy(least uint64) map[*Site]uint64 {
	recent := c.now().Add(-(LoadMinutes + maxBack) * time.Minute).Unix()
	busy := make(map[*Site]uint64)
	for r := range c.walk() {
		if r.Last < recent || r.servesPeople() {
			continue
		}
		for i := range LoadMinutes {
			busy[r.site] += r.Past.back(hourSpan, c.at, i)
		}
	}
	maps.DeleteFunc(busy, func(_ *Site, n uint64) bool { return n <= least })
	return busy
}

// add adds the requests of a row in minute m and before, and reports whether there are some.
func (l *Load) add(r *row, m minute) (any bool) {
	for i := range l.Robots {
		n := r.Past.back(hourSpan, m, i)
		l.Robots[i] += n
		any = any || n > 0
		switch {
		case r.action() == judge.Pass:
		case r.Monitor:
			l.Would[i] += n
		default:
			l.Refused[i] += n
		}
	}
	for i := range l.past {
		l.past[i] += r.Past.back(daySpan, m, i)
	}
	return any
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
