package counters

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// maxBack is how many minutes the clock may be set back without the past being
// forgotten.
const maxBack = 10

// Fold adds what was counted since the last fold to the past. It is called at
// least once a minute; so that each minute gets its own, soon after it ends.
func (c *Counters) Fold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.at
	c.fold()
	if c.at != before {
		c.absorb()
		c.evict()
	}
}

// fold is Fold without eviction. The caller holds mu.
func (c *Counters) fold() {
	for _, s := range c.sites {
		// A request that was taken back after it was folded counts for a later one.
		s.visitors.fold(c.at, max(s.peopleTotal(), s.visitors.folded))
	}
	for row := range c.rows() {
		row.fold(c.at)
	}
	for _, r := range c.rules.all() {
		r.refused.fold(c.at, r.refusals())
	}
	c.advance(minuteOf(c.now()))
}

// rows returns the counters of all crawlers. The caller holds mu.
func (c *Counters) rows() iter.Seq[*Crawler] {
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

// advance makes minute m the present one.
func (c *Counters) advance(m minute) {
	from := c.at
	switch {
	case m >= from:
	case from-m <= maxBack:
		return // the clock was set back a little: the present minute goes on
	default:
		from = m - days*24*60 // nothing of the past is where it was
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
	for row := range c.rows() {
		row.advance(from, m)
	}
	for _, r := range c.rules.all() {
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

// absorb adds what the crawlers counted that were evicted to the crawlers of
// their class. It is called a minute after the eviction: no request still counts
// into them.
func (c *Counters) absorb() {
	for _, row := range c.retired {
		row.addTo(row.site.class(row.class))
	}
	c.retired = nil
}

// addTo adds what was counted until the last fold to another crawler of the same
// site.
func (c *Crawler) addTo(to *Crawler) {
	for mode := range c.folded {
		for reason, n := range c.folded[mode] {
			to.decided[mode][reason].Add(n)
			to.folded[mode][reason] += n // in the site's reasons already
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

// merge adds what another history has.
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
		saturate(&to[i], uint64(n))
	}
}

// evict makes room where a table is three quarters full, down to a half: of
// crawlers whose names clients made up, those with the fewest requests in the
// last hour go; of others and of rules, those that are the longest time ago.
// What was counted of a crawler is counted for its class then.
func (c *Counters) evict() {
	c.evictCrawlers(c.names.Load() > MaxNames*3/4, MaxNames/2, func(row *Crawler) bool { return !row.known },
		func(a, b *Crawler) int {
			return cmp.Or(cmp.Compare(a.past[requests].sum(hourSpan), b.past[requests].sum(hourSpan)), cmp.Compare(a.last, b.last))
		})
	c.evictCrawlers(c.crawlers.len() > MaxCrawlers*3/4, MaxCrawlers/2, func(*Crawler) bool { return true },
		func(a, b *Crawler) int { return cmp.Compare(a.last, b.last) })
	c.evictRules(c.invented.Load() > maxInvented*3/4, maxInvented/2, func(r *Rule) bool { return r.site.pattern })
	c.evictRules(c.rules.len() > MaxRules*3/4, MaxRules/2, func(*Rule) bool { return true })
}

// evictCrawlers takes crawlers that may go out of the table until as many as
// keep are left, the least in order first.
func (c *Counters) evictCrawlers(full bool, keep int, may func(*Crawler) bool, order func(a, b *Crawler) int) {
	if !full {
		return
	}
	type entry struct {
		hash uint64
		row  *Crawler
	}
	var list []entry
	for hash, row := range c.crawlers.all() {
		if may(row) {
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

// evictRules is evictCrawlers for rules. What was counted of them is lost.
func (c *Counters) evictRules(full bool, keep int, may func(*Rule) bool) {
	if !full {
		return
	}
	type entry struct {
		hash uint64
		rule *Rule
		last int64
	}
	var list []entry
	for hash, r := range c.rules.all() {
		if may(r) {
			list = append(list, entry{hash, r, r.last.Load()})
		}
	}
	slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.last, b.last) })
	for _, e := range list[:max(0, len(list)-keep)] {
		c.rules.remove(e.hash, e.rule)
		if e.rule.site.pattern {
			c.invented.Add(-1)
		}
	}
}

// Run folds soon after the end of each minute, until done is closed.
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
