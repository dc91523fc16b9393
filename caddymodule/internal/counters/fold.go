package counters

import (
	"iter"
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
	for line := range c.lines.all() {
		line.refused.fold(c.at, line.refusals())
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
		for row := range c.crawlers.all() {
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
		from = m - rings[monthSpan].step*minute(monthSpan.count()) // clears all series
	}
	c.at = m
	for _, s := range c.sites {
		s.visitors.advance(from, m)
		for o := range s.reasons {
			s.reasons[o].advance(from, m)
		}
	}
	for row := range c.allCrawlers() {
		for i := range row.past {
			row.past[i].advance(from, m)
		}
	}
	for line := range c.lines.all() {
		line.refused.advance(from, m)
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
	for o := range outcomes {
		if n := c.decided[o].Load(); n != c.folded[o] {
			h := &c.site.reasons[o]
			h.fold(m, h.folded+n-c.folded[o])
			c.folded[o] = n
		}
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
	for o, n := range c.folded {
		to.decided[o].Add(n)
		to.folded[o] += n // the site's reasons already have it
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

// evict removes counters if a table is more than three quarters full, until it is
// half full. Of the crawlers that are not in the registry, it removes those with the
// fewest requests in the last hour. Of all crawlers, and of lines, it removes those
// that were seen least recently. The counts of a crawler go to its class, and those
// of a line are lost.
func (c *Counters) evict() {
	last := func(row *Crawler) (uint64, int64) { return 0, int64(row.last) }
	retire := func(row *Crawler) {
		if !row.known {
			c.names.Add(-1)
		}
		c.retired = append(c.retired, row)
	}
	if c.names.Load() > maxNames*3/4 {
		c.crawlers.evict(maxNames/2, func(row *Crawler) bool { return !row.known },
			func(row *Crawler) (uint64, int64) { return row.past[requests].sum(hourSpan), int64(row.last) }, retire)
	}
	if c.crawlers.len() > MaxCrawlers*3/4 {
		c.crawlers.evict(MaxCrawlers/2, func(*Crawler) bool { return true }, last, retire)
	}
	lastDecided := func(line *Line) (uint64, int64) { return 0, line.last.Load() }
	forget := func(line *Line) {
		if line.site.pattern {
			c.invented.Add(-1)
		}
	}
	if c.invented.Load() > maxInvented*3/4 {
		c.lines.evict(maxInvented/2, func(line *Line) bool { return line.site.pattern }, lastDecided, forget)
	}
	if c.lines.len() > MaxLines*3/4 {
		c.lines.evict(MaxLines/2, func(*Line) bool { return true }, lastDecided, forget)
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
