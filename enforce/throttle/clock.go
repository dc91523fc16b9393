package throttle

import (
	"sync/atomic"
	"time"
)

const (
	// clockNoise is how much the difference between the wall clock and the
	// monotonic clock may vary before it counts as a change of the wall clock.
	// It varies because the two are not read at the same instant.
	clockNoise = int64(time.Millisecond)

	// clockSlew is how much slower than real time a Clock runs while it is
	// ahead of the wall clock: by 1/clockSlew. So a lead of ten minutes is gone
	// after 43 hours. A crawler may be faster than its Crawl-delay by 1/10,
	// which is far more, so that no crawler that keeps its delay is refused.
	clockSlew = 256
)

// Clock returns the time of the wall clock, but does not go back if the wall
// clock is set back by at most MaxLead. Otherwise a crawler that has used its
// budget would have to wait longer by the time that the clock went back.
//
// If the wall clock is set forward, a Clock follows at once. If the wall clock
// is set back, a Clock runs 1/256 slower than real time until the wall clock
// has caught up. If a Clock would be ahead by more than MaxLead, it takes the
// time of the wall clock: limiters recognise budgets with times that lie
// further ahead than MaxLead, and move them back.
//
// The zero value is ready for use. A Clock must not be copied. Its methods are
// safe for concurrent use, take no lock, and allocate only after the wall clock
// was changed.
type Clock struct {
	setting atomic.Pointer[clockSetting]
}

// clockSetting is the state of a Clock since the last change of the wall clock.
// Times are in nanoseconds.
type clockSetting struct {
	offset int64 // the wall clock minus the monotonic clock
	level  int64 // the monotonic time at which the Clock is no longer ahead of the wall clock
}

// lead returns how far the Clock is ahead of the wall clock.
func (s *clockSetting) lead(monotonic int64) int64 { return max(0, s.level-monotonic) / clockSlew }

// processStart is the zero of the monotonic clock.
var processStart = time.Now()

// Now returns the current time, without a monotonic reading.
func (c *Clock) Now() time.Time {
	now := time.Now()
	return time.Unix(0, c.at(now.UnixNano(), int64(now.Sub(processStart))))
}

// at returns the time for a reading of both clocks, in nanoseconds.
func (c *Clock) at(wall, monotonic int64) int64 {
	offset := wall - monotonic
	for {
		s := c.setting.Load()
		if s == nil {
			c.setting.CompareAndSwap(nil, &clockSetting{offset: offset, level: monotonic})
			continue
		}
		if change := offset - s.offset; change < -clockNoise || change > clockNoise {
			lead := max(0, s.lead(monotonic)-change)
			if lead > int64(MaxLead) {
				lead = 0
			}
			c.setting.CompareAndSwap(s, &clockSetting{offset: offset, level: monotonic + lead*clockSlew})
			continue
		}
		return monotonic + s.offset + s.lead(monotonic)
	}
}
