package counters

import (
	"iter"
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
	for _, hosts := range [...]bool{true, false} { // hosts first: they add to the counters of their patterns
		for s := range c.allSites() {
			if (s.pattern != nil) != hosts || hosts && s.idle.Swap(true) {
				continue
			}
			s.fold(c.at)
			for row := range s.crawlers() {
				row.fold(c.at)
			}
		}
	}
	for n := range c.lines.nodes() {
		n.value.refused.fold(c.at, n.value.refusals())
	}
	c.advance(minuteOf(now))
}

// crawlers returns the counters of the crawlers at the site, with retired ones. The caller
// holds Counters.mu.
func (s *Site) crawlers() iter.Seq[*Crawler] {
	return func(yield func(*Crawler) bool) {
		for i := range s.classes {
			if row := s.classes[i].Load(); row != nil && !yield(row) {
				return
			}
		}
		for row := s.named.Load(); row != nil && yield(row); row = row.next.Load() {
		}
	}
}

// crawlersAt returns the counters of the crawlers at sites. The caller holds Counters.mu.
func crawlersAt(sites iter.Seq[*Site]) iter.Seq[*Crawler] {
	return func(yield func(*Crawler) bool) {
		for s := range sites {
			for row := range s.crawlers() {
				if !yield(row) {
					return
				}
			}
		}
	}
}

// robotsAt is crawlersAt without strangers.
func robotsAt(sites iter.Seq[*Site]) iter.Seq[*Crawler] {
	return func(yield func(*Crawler) bool) {
		for row := range crawlersAt(sites) {
			if !row.isStranger() && !yield(row) {
				return
			}
		}
	}
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
	for s := range c.allSites() {
		s.visitors.advance(from, m)
		s.searchRefused.advance(from, m)
		for _, h := range s.reasons.all() {
			h.advance(from, m)
		}
	}
	for row := range crawlersAt(c.allSites()) {
		for i := range row.past {
			row.past[i].advance(from, m)
		}
	}
	for n := range c.lines.nodes() {
		n.value.refused.advance(from, m)
	}
}

// fold adds the people who were counted since the last fold to minute m.
func (s *Site) fold(m minute) {
	people := uint64(0)
	for i := range s.people {
		people += s.people[i].n.Load()
	}
	if people == s.visitors.folded {
		return
	}
	if s.pattern != nil {
		s.pattern.people[0].n.Add(people - s.visitors.folded)
	}
	s.last = m
	s.visitors.fold(m, people)
}

// fold adds what was counted since the last fold to minute m.
func (c *Crawler) fold(m minute) {
	totals := c.totals()
	if totals[requests] == c.past[requests].folded {
		return
	}
	c.last, c.site.last = m, m
	if c.sum != nil && c.sum.gone {
		c.sum = c.sum.site.class(c.class)
	}
	for i := range c.past {
		more := subtract(totals[i], c.past[i].folded)
		c.past[i].fold(m, c.past[i].folded+more)
		if measure(i) == verifiedRefused && c.isSearch() {
			c.site.searchRefused.fold(m, c.site.searchRefused.folded+more)
		}
		if c.sum != nil && measure(i) >= verified {
			c.sum.claims[measure(i)-verified].Add(more)
		}
	}
	for o, decided := range c.decided.all() {
		more := subtract(decided.n.Load(), decided.folded)
		if more == 0 {
			continue
		}
		if !c.isStranger() {
			h := c.site.reasons.at(o)
			h.fold(m, h.folded+more)
		}
		decided.folded += more
		if c.sum != nil {
			c.sum.decided.at(o).n.Add(more)
		}
	}
}

// addRetired adds the counts of evicted crawlers to those of their classes, and forgets
// evicted hosts, whose counts their patterns have. Fold calls it a minute after the
// eviction. By then, no request that found the evicted counters is still counting.
func (c *Counters) addRetired() {
	for _, row := range c.retired {
		row.addTo(row.site.class(row.class))
	}
	if len(c.retired) > 0 {
		for s := range c.allSites() {
			s.dropGone()
		}
	}
	c.retired = nil
	if len(c.retiredHosts) == 0 {
		return
	}
	for n := range c.crawlers.nodes() {
		if n.value.site.gone {
			c.crawlers.remove(n)
		}
	}
	for n := range c.lines.nodes() {
		if line := n.value; line.site.gone {
			line.site = line.site.pattern
		}
	}
	c.retiredHosts = nil
}

// dropGone removes evicted crawlers from the list of the site.
func (s *Site) dropGone() {
	s.counters.crawlers.mu.Lock()
	defer s.counters.crawlers.mu.Unlock()
	link := &s.named
	for row := link.Load(); row != nil; row = row.next.Load() {
		if row.gone {
			link.Store(row.next.Load())
		} else {
			link = &row.next
		}
	}
}

// addTo adds the counts of the last fold to another crawler at the same site. It does not
// add those of a host to one at its pattern, which has them.
func (c *Crawler) addTo(to *Crawler) {
	if to.site != c.site {
		return
	}
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
		if s.known {
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
	for _, row := range c.retired {
		row.gone = true
	}
	for of := range kinds {
		c.lines.evict(of, func(line *Line) [2]int64 { return rank(line.site, line.last.Load()) })
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
