package throttle

import (
	"sync/atomic"
	"time"
)

const (
	// clockNoise is the difference between two readings of the wall clock
	// and the monotonic clock that is not taken for a change of the wall
	// clock: the two are read one after the other.
	clockNoise = int64(time.Millisecond)

	// clockSlew is how much slower than real time a Clock runs while it is
	// ahead of the wall clock: one part in this. Ten minutes are made up in
	// 43 hours. It is far less than the tenth by which a crawler may be
	// faster than its Crawl-delay, so that polite crawlers are not refused.
	clockSlew = 256
)

// Clock is the wall clock, except that it does not go back when the wall
// clock is set back by up to MaxWait. So a crawler that has used its budget
// does not have to wait for as long as the clock went back.
//
// When the wall clock is set forward, a Clock follows at once. When it is set
// back, a Clock goes on by the monotonic clock, 1/256 slower than real time
// until the wall clock has caught up. When a Clock would be more than MaxWait
// ahead, it takes the time of the wall clock: engines recognise times of
// budgets that lie further ahead than MaxWait, and move them back.
//
// The zero value is ready for use. A Clock must not be copied. Its methods are
// safe for concurrent use, take no lock, and allocate only when the wall clock
// was changed.
type Clock struct {
	setting atomic.Pointer[clockSetting]
}

// clockSetting is what a Clock knows since the wall clock was last changed.
// Times are nanoseconds.
type clockSetting struct {
	offset int64 // of the wall clock from the monotonic clock
	level  int64 // the monotonic instant at which the Clock is no longer ahead of the wall clock
}

// lead returns how far the Clock is ahead of the wall clock.
func (s *clockSetting) lead(monotonic int64) int64 {
	return max(0, s.level-monotonic) / clockSlew
}

// processStart is the origin of the monotonic readings.
var processStart = time.Now()

// Now returns the current time. It has no monotonic reading.
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
			s = &clockSetting{offset: offset, level: monotonic}
			if c.setting.CompareAndSwap(nil, s) {
				return wall
			}
			continue
		}
		if change := offset - s.offset; change < -clockNoise || change > clockNoise {
			lead := max(0, s.lead(monotonic)-change)
			if lead > int64(MaxWait) {
				lead = 0
			}
			c.setting.CompareAndSwap(s, &clockSetting{offset: offset, level: monotonic + lead*clockSlew})
			continue
		}
		return monotonic + s.offset + s.lead(monotonic)
	}
}
