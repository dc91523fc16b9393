package counters

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"time"
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

// staleMinutes is how long a host keeps its rows without a request.
const staleMinutes = 31 * 24 * 60

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
		c.evict()
	}
}

// fold is Fold without eviction. The caller holds mu.
func (c *Counters) fold() {
	now := c.now()
	many := c.named.n.Load()+c.ofHosts.n.Load() > manyRows
	if since := now.Sub(c.folded); many && 0 <= since && since < foldEvery && minuteOf(now) == c.at {
		return
	}
	c.folded = now
	for _, s := range c.sites {
		for i := range s.shards {
			s.people.n.Add(s.shards[i].n.Swap(0))
		}
	}
	for r := range c.rows.all() {
		if r.n.Load() == 0 { // most of many
			continue
		}
		more := r.n.Swap(0)
		r.Number = r.number.Load()
		r.take(c.at, more, cmp.Or(r.last.Load(), now.Unix()))
		c.note(r, more)
	}
	c.advance(minuteOf(now))
}

// take takes more requests into minute m, and those that count the same too.
func (r *row) take(m minute, more uint64, last int64) {
	for ; r != nil; r = r.sum {
		r.Total += more
		r.Past.add(m, more)
		r.Last = max(r.Last, last)
		r.site.last = m
		r.site.days |= m.day()
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
	for r := range c.rows.all() {
		r.Past.advance(from, m)
		if r == r.site.people {
			r.site.days &^= daysBetween(from, m)
		}
	}
}

// unit is what is evicted at once: a row, or a host with its rows.
type unit struct {
	site *Site
	rows []*row
	hour uint64 // requests
	last int64
}

// known returns 2 for a host that had requests on two days or more, else less.
func (u *unit) known() int { return min(bits.OnesCount32(u.site.days), 2) }

// evict removes rows of a kind if they take more than three quarters of their room, until they
// take half of it: those with the fewest requests in the last hour, and then those that were seen
// least recently. Their counts go to the class. Hosts are removed with all their rows,
// since their patterns have the counts: those that had requests on one day only before the others,
// for which they make room, and any that had none for a month.
func (c *Counters) evict() {
	for s := range c.allSites() {
		s.gone = s.pattern != nil && c.at-s.last > staleMinutes
	}
	for _, of := range []*limit{&c.named, &c.invented, &c.ofHosts} {
		left, room := of.n.Load(), of.max.Load()
		if left <= room/4*3 {
			continue
		}
		for _, u := range c.units(of) {
			if left <= room/2 || u.known() == 2 && left <= room/4*3 {
				break
			}
			left -= int64(len(u.rows))
			if of == &c.ofHosts {
				u.site.gone = true
			} else {
				c.fade(u.rows[0])
			}
		}
	}
	c.rows.remove(func(r *row) bool { return r.gone || r.site.gone })
}

// units returns what of the rows of a kind may be evicted, in this order.
func (c *Counters) units(of *limit) (list []*unit) {
	hosts := make(map[*Site]*unit)
	for r := range c.rows.all() {
		if r.of != of {
			continue
		}
		u := hosts[r.site]
		if u == nil {
			u = &unit{site: r.site}
			list = append(list, u)
		}
		if of == &c.ofHosts {
			hosts[r.site] = u
		}
		u.rows, u.hour, u.last = append(u.rows, r), u.hour+r.Past.in(hourSpan), max(u.last, r.Last)
	}
	slices.SortFunc(list, func(a, b *unit) int {
		return cmp.Or(cmp.Compare(a.known(), b.known()), cmp.Compare(a.hour, b.hour), cmp.Compare(a.last, b.last))
	})
	return list
}

// fade adds the counts of a row that is evicted to that of its class.
func (c *Counters) fade(r *row) {
	class := r.site.add(who{Class: r.Class}, r.outcome, nil)
	if class.site == r.site { // otherwise it is the sum of the pattern, which has them
		class.merge(&r.Row)
	}
	r.gone, r.sum = true, class
}

// merge adds requests that are in no other row.
func (r *row) merge(other *Row) {
	r.Total += other.Total
	r.Past.merge(&other.Past)
	r.site.days |= other.Past.days()
	r.Last = max(r.Last, other.Last)
	r.Number = cmp.Or(r.Number, other.Number)
}

// allSites returns the counters of all sites, and of their hosts. The caller holds mu.
func (c *Counters) allSites() iter.Seq[*Site] {
	return func(yield func(*Site) bool) {
		for r := range c.rows.all() {
			if r == r.site.people && !yield(r.site) {
				return
			}
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
