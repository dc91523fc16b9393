package counters

import (
	"math"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// span selects a part of a ring.
type span int

const (
	hourSpan span = iota
	daySpan
	monthSpan
	spans
)

// parts describes the parts of a ring, by span: the length of a step, and where the steps are.
var parts = [spans]struct {
	step       minute
	begin, end int
}{{1, 0, 60}, {60, 60, 60 + 24}, {24 * 60, 60 + 24, 60 + 24 + 31}}

// spanNames has the spans by the names that they have in package statusapi.
var spanNames = map[string]span{statusapi.SpanHour: hourSpan, statusapi.SpanDay: daySpan, statusapi.SpanMonth: monthSpan}

// ring has counts for each of the last 60 minutes, 24 hours, and 31 days in UTC: step n since
// 1970 is at index n % length of its part. The owner keeps the current minute.
type ring [60 + 24 + 31]uint32

// minute is a number of minutes since 1970, in UTC.
type minute int64

// step returns the number of the step of a span since 1970.
func (m minute) step(of span) int64 { return int64(m / parts[of].step) }

// count returns the number of steps of a span.
func (of span) count() int { return parts[of].end - parts[of].begin }

func (r *ring) part(of span) []uint32 { return r[parts[of].begin:parts[of].end] }

// at returns the count of a step of a span.
func (r *ring) at(of span, step int64) *uint32 { return &r.part(of)[step%int64(of.count())] }

// add adds n to minute m. A count stops at the largest value.
func (r *ring) add(m minute, n uint64) {
	for of := range spans {
		to := r.at(of, m.step(of))
		*to += uint32(min(n, math.MaxUint32-uint64(*to)))
	}
}

// advance makes to the current minute instead of from, and sets the counts of the
// time after from to 0.
func (r *ring) advance(from, to minute) {
	for of := range spans {
		last := to.step(of)
		for step := max(from.step(of)+1, last-int64(of.count())+1); step <= last; step++ {
			*r.at(of, step) = 0
		}
	}
}

// forget sets the counts of the time after one minute, until another one, to 0.
func (r *ring) forget(after, until minute) {
	for of := range spans {
		first := after.step(of) + 1
		for step := first; step <= min(until.step(of), first+int64(of.count())); step++ {
			*r.at(of, step) = 0
		}
	}
}

// merge adds the counts of another ring of the same minute.
func (r *ring) merge(other *ring) {
	for i, n := range other {
		r[i] += min(n, math.MaxUint32-r[i])
	}
}

// day returns the bit of ring.days for the day of the minute.
func (m minute) day() uint32 { return 1 << (m.step(monthSpan) % int64(monthSpan.count())) }

// daysBetween returns the bits of the days after that of a minute, until that of another one.
func daysBetween(from, to minute) (set uint32) {
	day := parts[monthSpan].step
	for m := max(from, to-day*minute(monthSpan.count())) + day; m.step(monthSpan) <= to.step(monthSpan); m += day {
		set |= m.day()
	}
	return set
}

// days returns a bit for each day that has a count.
func (r *ring) days() (set uint32) {
	for i, n := range r.part(monthSpan) {
		if n > 0 {
			set |= 1 << i
		}
	}
	return set
}

// since returns the count from a minute on, at least as far as the day before m: by hours, if
// it is longer ago than an hour.
func (r *ring) since(from, m minute) (sum uint64) {
	of := hourSpan
	if m-from >= minute(of.count()) {
		of = daySpan
	}
	for i := range min(int(m.step(of)-from.step(of))+1, of.count()) {
		sum += r.back(of, m, i)
	}
	return sum
}

// in returns the count of a span.
func (r *ring) in(of span) (sum uint64) {
	for _, n := range r.part(of) {
		sum += uint64(n)
	}
	return sum
}

// back returns the count of the step of a span that is i steps before that of
// minute m.
func (r *ring) back(of span, m minute, i int) uint64 { return uint64(*r.at(of, m.step(of)-int64(i))) }

// addTo adds the counts of the steps of a span to list, oldest first. list must
// have as many elements as the span has steps.
func (r *ring) addTo(list []uint64, of span, m minute) {
	for i := range list {
		list[i] += r.back(of, m, len(list)-1-i)
	}
}
