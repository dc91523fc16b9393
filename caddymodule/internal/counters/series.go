package counters

import (
	"math"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// span selects one of the ring buffers of a series.
type span int

const (
	hourSpan span = iota
	daySpan
	monthSpan
	spans
)

// rings describes the ring buffers, by span: the length of a step, and where the
// steps are in a series.
var rings = [spans]struct {
	step       minute
	begin, end int
}{{1, 0, 60}, {60, 60, 60 + 24}, {24 * 60, 60 + 24, 60 + 24 + 31}}

// spanNames has the spans by the names that they have in package statusapi.
var spanNames = map[string]span{statusapi.SpanHour: hourSpan, statusapi.SpanDay: daySpan, statusapi.SpanMonth: monthSpan}

// steps has counts for each of the last 60 minutes, 24 hours, and 31 days in UTC.
// They are in ring buffers: step n since 1970 is at index n % length. The owner of a
// series keeps the current minute.
type steps [60 + 24 + 31]uint32

// series has steps, and their sum for each span.
type series struct {
	steps
	sums [spans]uint64
}

func newSeries(s *steps) *series {
	new := &series{steps: *s}
	for of := range spans {
		for _, n := range new.ring(of) {
			new.sums[of] += uint64(n)
		}
	}
	return new
}

// minute is a number of minutes since 1970, in UTC.
type minute int64

// step returns the number of the step of a span since 1970.
func (m minute) step(of span) int64 { return int64(m / rings[of].step) }

// count returns the number of steps of a span.
func (of span) count() int { return rings[of].end - rings[of].begin }

func (s *steps) ring(of span) []uint32 { return s[rings[of].begin:rings[of].end] }

// at returns the count of a step of a span.
func (s *steps) at(of span, step int64) *uint32 { return &s.ring(of)[step%int64(of.count())] }

// add adds n to a step. The count stops at the largest value.
func (s *series) add(of span, step int64, n uint64) {
	to := s.at(of, step)
	n = min(n, math.MaxUint32-uint64(*to))
	*to += uint32(n)
	s.sums[of] += n
}

// history is the past of a counter: how much it had counted at the last fold, and
// when. The counter itself is atomic and elsewhere.
type history struct {
	folded uint64  // value of the counter at the last fold
	series *series // nil if nothing was counted in the last month
}

// fold adds what was counted since the last fold to minute m. counted is the value
// of the counter.
func (h *history) fold(m minute, counted uint64) {
	if counted == h.folded {
		return
	}
	if h.series == nil {
		h.series = new(series)
	}
	if counted > h.folded {
		for of := range spans {
			h.series.add(of, m.step(of), counted-h.folded)
		}
	}
	h.folded = counted
}

// advance makes to the current minute instead of from, and sets the counts of the
// time after from to 0. Once an hour it drops a series that is empty.
func (h *history) advance(from, to minute) {
	if h.series == nil {
		return
	}
	for of := range spans {
		last := to.step(of)
		for step := max(from.step(of)+1, last-int64(of.count())+1); step <= last; step++ {
			at := h.series.at(of, step)
			h.series.sums[of] -= uint64(*at)
			*at = 0
		}
	}
	if from.step(daySpan) != to.step(daySpan) && *h.series == (series{}) {
		h.series = nil
	}
}

// merge adds the counts of another history.
func (h *history) merge(other *history) {
	h.folded += other.folded
	if other.series == nil {
		return
	}
	if h.series == nil {
		h.series = new(series)
	}
	for of := range spans {
		for i, n := range other.series.ring(of) {
			h.series.add(of, int64(i), uint64(n))
		}
	}
}

// sum returns the count of a span.
func (h *history) sum(of span) (n uint64) {
	if h.series != nil {
		n = h.series.sums[of]
	}
	return n
}

// octets returns the octets that the series takes.
func (h *history) octets() int64 {
	if h.series == nil {
		return 0
	}
	return seriesSize
}

// addWindows adds the counts of each span.
func (h *history) addWindows(to *statusapi.Windows[uint64]) {
	to.Hour += h.sum(hourSpan)
	to.Day += h.sum(daySpan)
	to.Month += h.sum(monthSpan)
	to.Total += h.folded
}

// addTo adds the counts of the steps of a span to list, oldest first. list must
// have as many elements as the span has steps.
func (h *history) addTo(list []uint64, of span, m minute) {
	if h.sum(of) == 0 {
		return
	}
	ring := h.series.ring(of)
	oldest := int(m.step(of)+1) % len(ring)
	for i, n := range ring[oldest:] {
		list[i] += uint64(n)
	}
	for i, n := range ring[:oldest] {
		list[len(ring)-oldest+i] += uint64(n)
	}
}
