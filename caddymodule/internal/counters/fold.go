package counters

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// maxBack is the number of minutes by which the clock may be set back. If it is set
// back further, the series start at 0 again.
const maxBack = 10

// With more than manyRows rows, what was counted in the last foldEvery is left for the next
// fold: a report of them asks several times at once.
const (
	manyRows  = 10_000
	foldEvery = time.Second
)

func minuteOf(t time.Time) minute { return minute(t.Unix() / 60) }

// Fold adds what was counted since the last fold to the minute of the last fold.
// Call it soon after the end of each minute, so that each minute gets its own
// counts. Once a minute, it also evicts rows and hosts if there are too many.
func (c *Counters) Fold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.at
	c.fold()
	if c.at != before {
		c.retired = nil // no request that found one is still counting
		c.evict()
		c.evictHosts()
	}
}

// fold is Fold without eviction. The caller holds mu.
func (c *Counters) fold() {
	now := c.now()
	if since := now.Sub(c.folded); c.rows.len() > manyRows && 0 <= since && since < foldEvery && minuteOf(now) == c.at {
		return
	}
	c.folded = now
	for s := range c.allSites() {
		people := uint64(0)
		for i := range s.people {
			people += s.people[i].n.Load()
		}
		if more := people - s.seen; more > 0 {
			s.seen = people
			s.visitors.n.Add(more)
		}
	}
	for r := range c.all() {
		r.fold(c.at)
	}
	c.advance(minuteOf(now))
}

// fold takes what was counted since the last fold into minute m.
func (r *row) fold(m minute) {
	if more := r.n.Load() - r.total; more > 0 {
		r.take(m, more)
	}
}

// take takes more requests, that n has, into minute m, and those that count the same too.
func (r *row) take(m minute, more uint64) {
	r.total += more
	r.add(m, more)
	r.crawler.site.last = m
	if r.sum != nil {
		r.sum.n.Add(more)
		r.sum.last.Store(max(r.sum.last.Load(), r.last.Load()))
		r.sum.take(m, more)
	}
}

// all returns all rows. The caller holds mu.
func (c *Counters) all() iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for r := range c.rows.values() {
			if !yield(r) {
				return
			}
		}
		for _, r := range c.retired {
			if !yield(r) {
				return
			}
		}
		for s := range c.allSites() {
			if !yield(s.visitors) {
				return
			}
		}
	}
}

// allSites returns the counters of all sites, and of their hosts. The caller holds mu.
func (c *Counters) allSites() iter.Seq[*Site] {
	return func(yield func(*Site) bool) {
		for s := range maps.Values(c.sites) {
			if !yield(s) {
				return
			}
		}
		for s := range c.hosts.values() {
			if !yield(s) {
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
		from = m - parts[monthSpan].step*minute(monthSpan.count()) // clears all
	}
	c.at = m
	for r := range c.all() {
		r.advance(from, m)
	}
}

// evict removes rows of a kind if there are more than three quarters of their maximum number, until
// there are half: of crawlers that are not in the registry, those with the fewest requests in
// the last hour, and else those that were seen least recently. Their counts go to the class.
func (c *Counters) evict() {
	byHour := func(r *row) [2]int64 { return [2]int64{int64(r.in(hourSpan)), r.last.Load()} }
	byTime := func(r *row) [2]int64 { return [2]int64{r.last.Load()} }
	for _, r := range slices.Concat(c.rows.evict(invented, byHour), c.rows.evict(configured, byTime)) {
		s := r.crawler.site
		others, k := &crawler.Agent{Class: r.crawler.class}, key{outcome: r.outcome, claim: r.claim}
		class := s.find(others, k)
		if class == nil {
			class = s.add(others, k, nil)
		}
		if class.crawler.site == s { // otherwise it is the sum of the pattern, which has them
			class.merge(r.n.Load(), &r.ring)
			class.last.Store(max(class.last.Load(), r.last.Load()))
		}
		r.total, r.sum = r.n.Load(), class
		c.retire(r)
	}
}

// merge adds requests that are in no other row.
func (r *row) merge(total uint64, past *ring) {
	r.n.Add(total)
	r.total += total
	r.ring.merge(past)
}

// retire notes that a row was removed from the table. What requests that found it before still
// count is folded for a minute.
func (c *Counters) retire(r *row) {
	c.adding.Lock()
	defer c.adding.Unlock()
	if r.crawler.rows--; r.crawler.rows == 0 {
		delete(r.crawler.site.crawlers, r.crawler.id)
	}
	c.retired = append(c.retired, r)
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
