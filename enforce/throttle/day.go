package throttle

import "github.com/caddy-robots/caddy-robots/robots"

const (
	minutesPerDay   = 24 * 60
	microsPerMinute = 60_000_000
	microsPerDay    = minutesPerDay * microsPerMinute
)

// span is a robots.Window in a form that is fast to check. It is open from
// minute from of the UTC day, for length minutes.
type span struct {
	from, length int32
}

var wholeDay = span{length: minutesPerDay}

// newSpan returns the span of w, and whether w is valid: both its ends must be
// minutes of the day.
func newSpan(w robots.Window) (span, bool) {
	if w.From < 0 || w.From >= minutesPerDay || w.To < 0 || w.To >= minutesPerDay {
		return span{}, false
	}
	if w.Always() {
		return wholeDay, true
	}
	length := w.To - w.From + 1
	if length <= 0 {
		length += minutesPerDay
	}
	return span{from: int32(w.From), length: int32(length)}, true
}

func (s span) always() bool { return s.length == minutesPerDay }

// open reports whether s is open at minute m of the day.
func (s span) open(m int32) bool { return minutesFrom(s.from, m) < s.length }

// closes returns the first instant after at, in microseconds, at which s is
// closed. At the instant at, s must be open. s must not be the whole day.
func (s span) closes(at int64) int64 {
	return minuteStart(at) + int64(s.length-minutesFrom(s.from, minuteOfDay(at)))*microsPerMinute
}

// covers reports whether s is open whenever o is.
func (s span) covers(o span) bool {
	return s.always() || minutesFrom(s.from, o.from)+o.length <= s.length
}

// minutesFrom returns how many minutes after from the minute to of the day comes
// next.
func minutesFrom(from, to int32) int32 {
	if to < from {
		return to + minutesPerDay - from
	}
	return to - from
}

// minuteStart returns the start of the minute of at. Both are in microseconds
// since 1970.
func minuteStart(at int64) int64 { return at - modulo(at, microsPerMinute) }

// minuteOfDay returns the minute of the UTC day of at, which is in microseconds
// since 1970.
func minuteOfDay(at int64) int32 { return int32(modulo(at, microsPerDay) / microsPerMinute) }

// modulo returns the remainder of a divided by b, from 0 to b-1.
func modulo(a, b int64) int64 {
	if a %= b; a < 0 {
		a += b
	}
	return a
}
