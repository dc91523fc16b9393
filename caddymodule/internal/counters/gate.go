package counters

import (
	"sync/atomic"
	"time"
)

// gate lets events through at a bounded rate and counts the others. It takes no
// lock. The zero value is ready.
type gate struct {
	due    atomic.Int64 // the theoretical arrival time of GCRA, in nanoseconds
	missed atomic.Int64 // events that were not let through, since the last one that was
}

// pass reports whether an event at now is let through: one in each interval,
// and burst more at once. missed is how many were not since the last one.
func (g *gate) pass(now int64, interval time.Duration, burst int) (missed int64, ok bool) {
	step := int64(interval)
	for {
		due := g.due.Load()
		next := max(due, now)
		if due-now > 2*step*int64(burst+1) {
			next = now // the clock was set back
		}
		if next-now > step*int64(burst) {
			g.missed.Add(1)
			return 0, false
		}
		if g.due.CompareAndSwap(due, next+step) {
			return g.missed.Swap(0), true
		}
	}
}
