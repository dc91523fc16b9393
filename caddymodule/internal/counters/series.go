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

// series has counts for each of the last 60 minutes, 24 hours, and 31 days in UTC.
// They are in ring buffers: step n since 1970 is at index n % length. The owner of a
// series keeps the current minute.
type series [60 + 24 + 31]uint32

// minute is a number of minutes since 1970, in UTC.
type minute int64

// step returns the number of the step of a span since 1970.
func (m minute) step(of span) int64 { return int64(m / rings[of].step) }

// count returns the number of steps of a span.
func (of span) count() int { return rings[of].end - rings[of].begin }

func (s *series) ring(of span) []uint32 { return s[rings[of].begin:rings[of].end] }

// at returns the count of a step of a span.
func (s *series) at(of span, step int64) *uint32 { return &s.ring(of)[step%int64(of.count())] }

// saturatingAdd adds n to a count. It stops at the largest value.
func saturatingAdd(to *uint32, n uint64) {
	*to = uint32(min(uint64(*to)+n, math.MaxUint32))
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
			saturatingAdd(h.series.at(of, m.step(of)), counted-h.folded)
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
			*h.series.at(of, step) = 0
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
	for i, n := range other.series {
		saturatingAdd(&h.series[i], uint64(n))
	}
}

// sum returns the count of a span.
func (h *history) sum(of span) (n uint64) {
	if h.series != nil {
		for _, v := range h.series.ring(of) {
			n += uint64(v)
		}
	}
	return n
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
	if h.series == nil {
		return
	}
	first := m.step(of) + 1 - int64(of.count())
	for i := range list {
		list[i] += uint64(*h.series.at(of, first+int64(i)))
	}
}
