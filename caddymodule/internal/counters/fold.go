package counters

import (
	"time"
)

// maxBack is the number of minutes by which the clock may be set back. If it is set
// back further, the series start at 0 again.
const maxBack = 10

// With more than manyHosts hosts, what was counted in the last foldEvery is left for the next
// fold: a report of them asks several times at once.
const (
	manyHosts = 1000
	foldEvery = time.Second
)

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
		c.addRetiredHosts()
		c.evict()
		c.evictHosts()
	}
}

// fold is Fold without eviction. The caller holds mu.
func (c *Counters) fold() {
	now := c.now()
	if since := now.Sub(c.folded); c.hosts.len() > manyHosts && 0 <= since && since < foldEvery && minuteOf(now) == c.at {
		return
	}
	c.folded = now
	// Uncount may make a total less than it was at the last fold. The series keeps that
	// request and does not count the next one instead.
	for _, s := range c.allSites() {
		people := s.peopleTotal()
		if people > s.visitors.folded {
			s.last = c.at
		}
		s.visitors.fold(c.at, max(people, s.visitors.folded))
	}
	for _, row := range c.allCrawlers() {
		row.fold(c.at)
	}
	for _, n := range c.lines.nodes() {
		n.value.refused.fold(c.at, n.value.refusals())
	}
	c.advance(minuteOf(now))
}

// allCrawlers returns the counters of all crawlers: of classes, in the table, and
// retired ones. The caller holds mu.
func (c *Counters) allCrawlers() []*Crawler {
	list := append(make([]*Crawler, 0, c.crawlers.len()+2*c.hosts.len()), c.retired...)
	for _, n := range c.crawlers.nodes() {
		list = append(list, n.value)
	}
	for _, s := range c.allSites() {
		for i := range s.classes {
			if row := s.classes[i].Load(); row != nil {
				list = append(list, row)
			}
		}
	}
	return list
}

// advance makes m the current minute.
func (c *Counters) advance(m minute) {
	from := c.at
	switch {
	case m == from:
		return
	case m > from:
	case from-m <= maxBack:
		return // the clock was set back a little: go on with the current minute
	default:
		from = m - rings[monthSpan].step*minute(monthSpan.count()) // clears all series
	}
	c.at = m
	for _, s := range c.allSites() {
		s.visitors.advance(from, m)
		for _, h := range s.reasons.all() {
			h.advance(from, m)
		}
	}
	for _, row := range c.allCrawlers() {
		for i := range row.past {
			row.past[i].advance(from, m)
		}
	}
	for _, n := range c.lines.nodes() {
		n.value.refused.advance(from, m)
	}
}

// fold adds what was counted since the last fold to minute m.
func (c *Crawler) fold(m minute) {
	totals := c.totals()
	if totals[requests] != c.past[requests].folded {
		c.last, c.site.last = m, m
	}
	for i := range c.past {
		c.past[i].fold(m, max(totals[i], c.past[i].folded))
	}
	for o, decided := range c.decided.all() {
		if n := decided.n.Load(); n > decided.folded {
			h := c.site.reasons.at(o)
			h.fold(m, h.folded+n-decided.folded)
			decided.folded = n
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

// addTo adds the counts of the last fold to another crawler, whose site has those of the
// reasons, or gets them from the caller.
func (c *Crawler) addTo(to *Crawler) {
	for o, decided := range c.decided.all() {
		sum := to.decided.at(o)
		sum.n.Add(decided.folded)
		sum.folded += decided.folded
	}
	for i := range c.claims {
		to.claims[i].Add(c.past[int(verified)+i].folded)
	}
	for i := range c.past {
		to.past[i].merge(&c.past[i])
	}
	to.last = max(to.last, c.last)
}

// evict removes counters if a table has more than three quarters of a kind, until it has
// half. Of the crawlers that are not in the registry, it removes those with the
// fewest requests in the last hour. Of the others, and of lines, it removes those
// that were seen least recently, and at hosts those of new hosts first. The counts of a
// crawler go to its class, and those of a line are lost.
func (c *Counters) evict() {
	rank := func(s *Site, last int64) [2]int64 {
		if s != nil && s.known {
			return [2]int64{1, last}
		}
		return [2]int64{0, last}
	}
	c.retired = c.crawlers.evict(invented, func(row *Crawler) [2]int64 {
		return [2]int64{int64(row.past[requests].sum(hourSpan)), int64(row.last)}
	})
	for _, of := range []kind{configured, ofHost} {
		c.retired = append(c.retired, c.crawlers.evict(of, func(row *Crawler) [2]int64 { return rank(row.site, int64(row.last)) })...)
	}
	for of := range kinds {
		c.lines.evict(of, func(line *Line) [2]int64 { return rank(line.host, line.last.Load()) })
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
