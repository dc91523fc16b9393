package counters

import "math"

// What is remembered of the past.
const (
	minutes = 60 // a minute each
	hours   = 24 // an hour each
	days    = 31 // a day each, in UTC
)

// series counts over the last hour, day and month. Its owner knows which minute
// it is; the series are rings with a place for each minute, hour and day.
type series struct {
	minutes [minutes]uint32
	hours   [hours]uint32
	days    [days]uint32
}

// minute is a number of minutes since 1970, in UTC.
type minute int64

func (m minute) hour() int64 { return int64(m) / 60 }
func (m minute) day() int64  { return int64(m) / (24 * 60) }

// add adds to minute m, which is the present one.
func (s *series) add(m minute, n uint64) {
	saturate(&s.minutes[int64(m)%minutes], n)
	saturate(&s.hours[m.hour()%hours], n)
	saturate(&s.days[m.day()%days], n)
}

func saturate(to *uint32, n uint64) {
	*to = uint32(min(uint64(*to)+n, math.MaxUint32))
}

// advance makes room for the time after minute from until minute to.
func (s *series) advance(from, to minute) {
	clearRing(s.minutes[:], int64(from), int64(to))
	clearRing(s.hours[:], from.hour(), to.hour())
	clearRing(s.days[:], from.day(), to.day())
}

// clearRing clears the places of a ring after from until to.
func clearRing(ring []uint32, from, to int64) {
	n := int64(len(ring))
	for i := max(from+1, to-n+1); i <= to; i++ {
		ring[i%n] = 0
	}
}

// isZero reports whether nothing happened in the last month.
func (s *series) isZero() bool { return *s == series{} }

// values returns the counts of a ring whose present place is that of at, oldest
// first.
func values(ring []uint32, at int64) []uint64 {
	n := int64(len(ring))
	list := make([]uint64, n)
	for i := range list {
		list[i] = uint64(ring[(at+1+int64(i))%n])
	}
	return list
}

// sum returns the counts of a ring together.
func sum(ring []uint32) (n uint64) {
	for _, v := range ring {
		n += uint64(v)
	}
	return n
}

// history is a count whose present value is an atomic counter elsewhere: what
// was counted until the last fold, and when. A history of the past month without
// anything has no series.
type history struct {
	folded uint64
	series *series
}

// fold adds what was counted since the last fold to minute m.
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

// advance is series.advance.
func (h *history) advance(from, to minute) {
	if h.series == nil {
		return
	}
	h.series.advance(from, to)
	if from.hour() != to.hour() && h.series.isZero() {
		h.series = nil
	}
}

// span is one of the three rings of a series.
type span uint8

const (
	hourSpan span = iota
	daySpan
	monthSpan
)

// ring returns the ring of a span and the present number of its steps since
// 1970.
func (s *series) ring(of span, m minute) ([]uint32, int64) {
	switch of {
	case daySpan:
		return s.hours[:], m.hour()
	case monthSpan:
		return s.days[:], m.day()
	}
	return s.minutes[:], int64(m)
}

// sum returns what happened in a span.
func (h *history) sum(of span) uint64 {
	if h.series == nil {
		return 0
	}
	ring, _ := h.series.ring(of, 0)
	return sum(ring)
}

// addTo adds the steps of a span to list, which has as many.
func (h *history) addTo(list []uint64, of span, m minute) {
	if h.series == nil {
		return
	}
	ring, at := h.series.ring(of, m)
	for i, v := range values(ring, at) {
		list[i] += v
	}
}
