package challenge

import (
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// pace is how many pages a bound lets through: one in every interval, and burst at once.
type pace struct {
	interval time.Duration
	burst    int
}

// The bounds of pages: of a pass or a known client, of all of an address, and of each of these
// when the address has no more.
var (
	ownPages     = pace{time.Second, 120}
	addressPages = pace{time.Minute / 600, 600}
	fewPages     = pace{time.Minute / 6, 6}
)

// manyNames is how many names of crawlers can have all their pages of a minute.
const manyNames = 10

// bucket is a leaky bucket (GCRA). The zero value is empty.
type bucket struct{ until atomic.Int64 }

// take takes a page. It returns how long to wait if there is none.
func (b *bucket) take(now time.Time, p pace) (wait time.Duration) {
	at, interval := now.UnixNano(), int64(p.interval)
	most := interval * int64(p.burst)
	for {
		old := b.until.Load()
		until := max(old, at) + interval
		if old-at > most+int64(throttle.MaxLead) { // the clock was set back
			until = at + interval
		}
		if over := until - at - most; over > 0 {
			return time.Duration(over)
		}
		if b.until.CompareAndSwap(old, until) {
			return 0
		}
	}
}

// taken is a page that was taken of a bound.
type taken struct {
	bucket   *bucket
	interval time.Duration
}

// take takes a page of a bound, and reports whether there is one.
func (a *Arrival) take(b *bucket, p pace) bool {
	a.wait = b.take(a.Request.Time, p)
	if a.wait > 0 {
		return false
	}
	a.taken[a.takes] = taken{b, p.interval}
	a.takes++
	return true
}

// takePage takes a page from what a pass or a known client has, and its address, and reports
// whether there is one: nobody at the same address can take all of a neighbour's.
func (a *Arrival) takePage(own, address *memo) bool {
	return a.take(&own.own, ownPages) && (a.take(&address.all, addressPages) || a.take(&own.few, fewPages))
}

// giveBack takes back what a request counts as a page.
func (a *Arrival) giveBack() {
	for _, t := range a.taken[:a.takes] {
		t.bucket.until.Add(-int64(t.interval))
	}
	a.takes = 0
	if a.cell != nil && a.counted.visitor != nil {
		a.cell.here.Add(-1)
	}
	a.storm.giveBack(&a.counted)
}
