package counters

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// maxBack is the number of minutes by which the clock may be set back. If it is set
// back further, the series start at 0 again.
const maxBack = 10

// Fold adds what was counted since the last fold to the minute of the last fold.
// Call it soon after the end of each minute, so that each minute gets its own
// counts. Once a minute, it also evicts counters if there are too many.
func (c *Counters) Fold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.at
	c.fold()
	if c.at != before {
		c.addRetired()
		c.evict()
	}
}

// fold is Fold without eviction. The caller holds mu.
func (c *Counters) fold() {
	for _, s := range c.sites {
		// UncountPerson may make the total less than it was at the last fold. The
		// series keeps that request and does not count the next one instead.
		s.visitors.fold(c.at, max(s.peopleTotal(), s.visitors.folded))
	}
	for row := range c.allCrawlers() {
		row.fold(c.at)
	}
	for _, r := range c.lines.all() {
		r.refused.fold(c.at, r.refusals())
	}
	c.advance(minuteOf(c.now()))
}

// allCrawlers returns the counters of all crawlers: of classes, in the table, and
// retired ones. The caller holds mu.
func (c *Counters) allCrawlers() iter.Seq[*Crawler] {
	return func(yield func(*Crawler) bool) {
		for _, s := range c.sites {
			for i := range s.classes {
				if row := s.classes[i].Load(); row != nil && !yield(row) {
					return
				}
			}
		}
		for _, row := range c.crawlers.all() {
			if !yield(row) {
				return
			}
		}
		for _, row := range c.retired {
			if !yield(row) {
				return
			}
		}
	}
}

// advance makes m the current minute.
func (c *Counters) advance(m minute) {
	from := c.at
	switch {
	case m >= from:
	case from-m <= maxBack:
		return // the clock was set back a little: go on with the current minute
	default:
		from = m - days*24*60 // clears all series
	}
	c.at = m
	for _, s := range c.sites {
		s.visitors.advance(from, m)
		for mode := range s.reasons {
			for reason := range s.reasons[mode] {
				s.reasons[mode][reason].advance(from, m)
			}
		}
	}
	for row := range c.allCrawlers() {
		row.advance(from, m)
	}
	for _, r := range c.lines.all() {
		r.refused.advance(from, m)
	}
}

// fold adds what was counted since the last fold to minute m.
func (c *Crawler) fold(m minute) {
	totals := c.totals()
	if totals[requests] != c.past[requests].folded {
		c.last = m
	}
	for i := range c.past {
		c.past[i].fold(m, totals[i])
	}
	for mode := range c.decided {
		for reason := range c.decided[mode] {
			if n := c.decided[mode][reason].Load(); n != c.folded[mode][reason] {
				h := &c.site.reasons[mode][reason]
				h.fold(m, h.folded+n-c.folded[mode][reason])
				c.folded[mode][reason] = n
			}
		}
	}
}

func (c *Crawler) advance(from, to minute) {
	for i := range c.past {
		c.past[i].advance(from, to)
	}
}

// addRetired adds the counts of evicted crawlers to those of their classes. Fold
// calls it a minute after the eviction. By then, no request that found the evicted
// counters is still counting.
func (c *Counters) addRetired() {
	for _, row := range c.retired {
		row.addTo(row.site.class(row.class))
	}
	c.retired = nil
}

// addTo adds the counts of the last fold to another crawler of the same site.
func (c *Crawler) addTo(to *Crawler) {
	for mode := range c.folded {
		for reason, n := range c.folded[mode] {
			to.decided[mode][reason].Add(n)
			to.folded[mode][reason] += n // the site's reasons already have it
		}
	}
	to.repeated.Add(c.repeated.Load())
	to.claims[verify.Verified].Add(c.past[verified].folded)
	to.claims[verify.Unverified].Add(c.past[unverified].folded)
	to.claims[verify.Impostor].Add(c.past[impostors].folded)
	for i := range c.past {
		to.past[i].merge(&c.past[i])
	}
	to.last = max(to.last, c.last)
}

// merge adds the counts of another history.
func (h *history) merge(other *history) {
	h.folded += other.folded
	if other.series == nil {
		return
	}
	if h.series == nil {
		h.series = new(series)
	}
	addAll(h.series.minutes[:], other.series.minutes[:])
	addAll(h.series.hours[:], other.series.hours[:])
	addAll(h.series.days[:], other.series.days[:])
}

func addAll(to, from []uint32) {
	for i, n := range from {
		saturatingAdd(&to[i], uint64(n))
	}
}

// evict removes counters if a table is more than three quarters full, until it is
// half full. Of the crawlers that are not in the registry, it removes those with the
// fewest requests in the last hour. Of all crawlers, and of lines, it removes those
// that were seen least recently. The counts of a crawler go to its class, and those
// of a line are lost.
func (c *Counters) evict() {
	c.evictCrawlers(c.names.Load() > maxNames*3/4, maxNames/2, func(row *Crawler) bool { return !row.known },
		func(a, b *Crawler) int {
			return cmp.Or(cmp.Compare(a.past[requests].sum(hourSpan), b.past[requests].sum(hourSpan)), cmp.Compare(a.last, b.last))
		})
	c.evictCrawlers(c.crawlers.len() > MaxCrawlers*3/4, MaxCrawlers/2, func(*Crawler) bool { return true },
		func(a, b *Crawler) int { return cmp.Compare(a.last, b.last) })
	c.evictLines(c.invented.Load() > maxInvented*3/4, maxInvented/2, func(r *Line) bool { return r.site.pattern })
	c.evictLines(c.lines.len() > MaxLines*3/4, MaxLines/2, func(*Line) bool { return true })
}

// evictCrawlers removes crawlers for which mayEvict returns true, the first in order
// first, until keep of them are left. It does nothing unless full is true.
func (c *Counters) evictCrawlers(full bool, keep int, mayEvict func(*Crawler) bool, order func(a, b *Crawler) int) {
	if !full {
		return
	}
	type entry struct {
		hash uint64
		row  *Crawler
	}
	var list []entry
	for hash, row := range c.crawlers.all() {
		if mayEvict(row) {
			list = append(list, entry{hash, row})
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return order(a.row, b.row) })
	for _, e := range list[:max(0, len(list)-keep)] {
		c.crawlers.remove(e.hash, e.row)
		if !e.row.known {
			c.names.Add(-1)
		}
		c.retired = append(c.retired, e.row)
	}
}

// evictLines is evictCrawlers for lines, those that decided least recently first.
func (c *Counters) evictLines(full bool, keep int, mayEvict func(*Line) bool) {
	if !full {
		return
	}
	type entry struct {
		hash uint64
		rule *Line
		last int64
	}
	var list []entry
	for hash, r := range c.lines.all() {
		if mayEvict(r) {
			list = append(list, entry{hash, r, r.last.Load()})
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.last, b.last) })
	for _, e := range list[:max(0, len(list)-keep)] {
		c.lines.remove(e.hash, e.rule)
		if e.rule.site.pattern {
			c.invented.Add(-1)
		}
	}
}

// Run calls Fold soon after the end of each minute, until done is closed.
func (c *Counters) Run(done <-chan struct{}) {
	for {
		now := c.now()
		timer := time.NewTimer(now.Truncate(time.Minute).Add(time.Minute + 50*time.Millisecond).Sub(now))
		select {
		case <-timer.C:
			c.Fold()
		case <-done:
			timer.Stop()
			return
		}
	}
}
