package counters

import "math"

// Lengths of the ring buffers of a series.
const (
	minutes = 60
	hours   = 24
	days    = 31 // in UTC
)

// series has counts for each of the last minutes, hours and days. They are ring
// buffers: minute m is at index m%minutes, and so on. The owner of a series keeps
// the current minute.
type series struct {
	minutes [minutes]uint32
	hours   [hours]uint32
	days    [days]uint32
}

// minute is a number of minutes since 1970, in UTC.
type minute int64

func (m minute) hour() int64 { return int64(m) / 60 }
func (m minute) day() int64  { return int64(m) / (24 * 60) }

// add adds n to the current minute m, its hour and its day.
func (s *series) add(m minute, n uint64) {
	saturatingAdd(&s.minutes[int64(m)%minutes], n)
	saturatingAdd(&s.hours[m.hour()%hours], n)
	saturatingAdd(&s.days[m.day()%days], n)
}

// saturatingAdd adds n to a count. It stops at the largest value.
func saturatingAdd(to *uint32, n uint64) {
	*to = uint32(min(uint64(*to)+n, math.MaxUint32))
}

// advance makes to the current minute instead of from, and sets the counts of the
// time after from to 0.
func (s *series) advance(from, to minute) {
	clearRing(s.minutes[:], int64(from), int64(to))
	clearRing(s.hours[:], from.hour(), to.hour())
	clearRing(s.days[:], from.day(), to.day())
}

// clearRing sets the counts of the steps after from, up to and including to, to 0.
func clearRing(ring []uint32, from, to int64) {
	n := int64(len(ring))
	for i := max(from+1, to-n+1); i <= to; i++ {
		ring[i%n] = 0
	}
}

// isZero reports whether nothing happened in the last month.
func (s *series) isZero() bool { return *s == series{} }

// values returns the counts of a ring, oldest first. at is the number of the current
// step.
func values(ring []uint32, at int64) []uint64 {
	n := int64(len(ring))
	list := make([]uint64, n)
	for i := range list {
		list[i] = uint64(ring[(at+1+int64(i))%n])
	}
	return list
}

// sum returns the sum of the counts of a ring.
func sum(ring []uint32) (n uint64) {
	for _, v := range ring {
		n += uint64(v)
	}
	return n
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
		h.series.add(m, counted-h.folded)
	}
	h.folded = counted
}

// advance is series.advance. Once an hour it drops a series that is empty.
func (h *history) advance(from, to minute) {
	if h.series == nil {
		return
	}
	h.series.advance(from, to)
	if from.hour() != to.hour() && h.series.isZero() {
		h.series = nil
	}
}

// span selects one of the three rings of a series.
type span uint8

const (
	hourSpan span = iota
	daySpan
	monthSpan
)

// ring returns the ring of a span, and the number of its current step since 1970 if
// m is the current minute.
func (s *series) ring(of span, m minute) ([]uint32, int64) {
	switch of {
	case daySpan:
		return s.hours[:], m.hour()
	case monthSpan:
		return s.days[:], m.day()
	}
	return s.minutes[:], int64(m)
}

// sum returns the count of a span.
func (h *history) sum(of span) uint64 {
	if h.series == nil {
		return 0
	}
	ring, _ := h.series.ring(of, 0)
	return sum(ring)
}

// addTo adds the counts of the steps of a span to list, oldest first. list must
// have as many elements as the span has steps.
func (h *history) addTo(list []uint64, of span, m minute) {
	if h.series == nil {
		return
	}
	ring, at := h.series.ring(of, m)
	for i, v := range values(ring, at) {
		list[i] += v
	}
}
