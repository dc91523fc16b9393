package metrics

import (
	"sync"
	"time"
)

var (
	evictions       = newCounter("evictions_total", "Origins that were dropped because of max_origins or max_memory.", "limit")
	repeatedFetches = newCounter("repeated_fetches_total",
		"Fetches of the robots.txt of an origin that had been dropped. If they are many, the limit is too low.")

	evicted, repeated perMinute
)

// The metrics begin with 0, so that their first increase counts.
func init() {
	evictions.WithLabelValues("max_memory")
	evictions.WithLabelValues("max_origins")
	repeatedFetches.WithLabelValues()
}

// CountEviction counts an origin that was dropped because of a limit, max_memory
// or max_origins.
func CountEviction(memory bool) {
	limit := "max_origins"
	if memory {
		limit = "max_memory"
	}
	evictions.WithLabelValues(limit).Inc()
	evicted.add(time.Now())
}

// countRepeatedFetch counts the fetch of an origin that had been dropped.
func countRepeatedFetch() {
	repeatedFetches.WithLabelValues().Inc()
	repeated.add(time.Now())
}

// Evictions returns how many origins were dropped, and how many of those were read
// again, in the minute before the current one.
func Evictions(now time.Time) (dropped, readAgain int) {
	return evicted.before(now), repeated.before(now)
}

// perMinute counts events in the current minute and in the one before.
type perMinute struct {
	mu          sync.Mutex
	minute      int64
	count, last int
}

func (p *perMinute) add(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moveTo(now)
	p.count++
}

func (p *perMinute) before(now time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moveTo(now)
	return p.last
}

func (p *perMinute) moveTo(now time.Time) {
	switch minute := now.Unix() / 60; minute - p.minute {
	case 0:
	case 1:
		p.minute, p.last, p.count = minute, p.count, 0
	default:
		p.minute, p.last, p.count = minute, 0, 0
	}
}
