package caddymodule

import (
	"sync/atomic"
	"time"
)

// logEvery is how often at most the same is logged about one crawler, so that a
// flood of requests can't flood the log.
const logEvery = 10 * time.Second

// logGate lets one line through in each logEvery and counts the others. The
// zero value is ready. It takes no lock and is safe for concurrent use.
type logGate struct {
	logged atomic.Int64 // when a line was let through last, in nanoseconds
	since  atomic.Int64 // lines since then
}

// pass reports whether a line is let through at now, and how many were not
// since the last one.
func (g *logGate) pass(now time.Time) (missed int64, ok bool) {
	n := g.since.Add(1)
	at, last := now.UnixNano(), g.logged.Load()
	if at-last < int64(logEvery) || !g.logged.CompareAndSwap(last, at) {
		return 0, false
	}
	g.since.Add(-n)
	return n - 1, true
}
