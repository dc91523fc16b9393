package caddymodule

import (
	"sync/atomic"
	"time"
)

// logEvery is the least time between two log lines of the same kind about one
// crawler, so that a flood of requests can't flood the log.
const logEvery = 10 * time.Second

// logGate passes one log line in each logEvery and counts the others. The zero
// value is ready for use. It takes no lock and is safe for concurrent use.
type logGate struct {
	logged atomic.Int64 // the time of the last line that passed, in nanoseconds
	since  atomic.Int64 // the number of lines since then
}

// pass reports whether a line passes at the time now, and how many lines were
// dropped since the last one that passed.
func (g *logGate) pass(now time.Time) (missed int64, ok bool) {
	n := g.since.Add(1)
	at, last := now.UnixNano(), g.logged.Load()
	if at-last < int64(logEvery) || !g.logged.CompareAndSwap(last, at) {
		return 0, false
	}
	g.since.Add(-n)
	return n - 1, true
}
