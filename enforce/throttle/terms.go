package throttle

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// MaxLimits is the largest number of limits in one Terms, the Crawl-delay and
// the Request-rate lines together. Lines that a stricter one implies do not
// count. If there are more, those with the lowest sustained rates are kept.
const MaxLimits = 8

// DefaultMaxDelay is the longest interval that is enforced unless
// Options.MaxDelay says otherwise.
const DefaultMaxDelay = 24 * time.Hour

// maxMaxDelay bounds Options.MaxDelay, and with it all arithmetic on times.
const maxMaxDelay = 366 * 24 * time.Hour

// maxHorizon bounds how far ahead of now an arrival time can lie.
const maxHorizon = 10 * int64(maxMaxDelay/time.Microsecond)

// Grant is what the lines of a robots.txt group allow, as the file says it.
type Grant struct {
	// Delay is the Crawl-delay line. A Delay of zero or less is none.
	Delay robots.CrawlDelay

	// Rates are the Request-rate lines. Each holds while its window is open.
	// One whose Requests or Per is not above zero is ignored.
	Rates []robots.RequestRate

	// Visits are the Visit-time lines: requests only while one of the windows
	// is open. Without any, at any time.
	Visits []robots.VisitTime
}

// Options are how the operator wants a Grant to be enforced.
type Options struct {
	// MaxDelay is the longest interval between two requests that is
	// enforced; a longer one is enforced as this. Zero: DefaultMaxDelay. It
	// is at most 366 days.
	MaxDelay time.Duration

	// Burst is how many requests of a Crawl-delay may come at once, at least
	// 1. For a Request-rate of N/T it is N, or Burst if that is more.
	Burst int
}

// Terms is a compiled Grant. It does not change, and is safe for concurrent
// use.
//
// Each limit is a GCRA. For a Crawl-delay of N its emission interval is 0.9 N
// and its tolerance half an emission interval, plus burst-1 whole ones: within
// any time W at most 1 + (W + tolerance) / interval requests are accepted,
// which is a sustained rate of one in 0.9 N, and a second request at once is
// refused. A Request-rate of N/T has an emission interval of 0.9 T/N and
// takes N requests at once. A crawler that keeps its requests N apart, or
// that sends no more than N in any T, is never refused, even if the network
// delivers them up to a tenth too early.
//
// Times are whole microseconds. Times more than 70 minutes ahead are stored
// with a precision of one part in 2^31. Rounding favours the crawler. A limit
// of more than one request per microsecond is ignored.
type Terms struct {
	limits  [MaxLimits]limit
	n       int    // limits in use
	sig     uint32 // of the limits: stored arrival times of another signature are not ours
	windows bool   // a limit has a window
	visits  bool   // there are Visit-time lines
	visit   minutes
	opens   []opening // by minute
	part    atomic.Pointer[part]
}

// part is the terms of one of several processes that cannot ask each other.
type part struct {
	of    int
	terms *Terms
}

// limit is one GCRA. Times are microseconds.
type limit struct {
	interval  int64 // emission interval
	tolerance int64 // how far the theoretical arrival time may lie ahead
	window    span
	reason    Reason
	shift     uint8 // arrival times are stored in units of 2^shift microseconds
	line      int
}

// opening is the minute at which a Visit-time line opens.
type opening struct {
	minute int32
	line   int
}

// Compile returns the terms of g, or nil if g limits nothing.
func Compile(g Grant, o Options) *Terms {
	longest := o.MaxDelay
	if longest <= 0 {
		longest = DefaultMaxDelay
	}
	longest = min(longest, maxMaxDelay)
	burst := max(o.Burst, 1)

	t := &Terms{}
	var limits []limit
	if l, ok := newLimit(CrawlDelay, 1, g.Delay.Delay, burst, longest); ok {
		l.window, l.line = wholeDay, g.Delay.Line
		limits = append(limits, l)
	}
	for _, r := range g.Rates {
		window, valid := newSpan(r.Window)
		if l, ok := newLimit(RequestRate, r.Requests, r.Per, burst, longest); ok && valid {
			l.window, l.line = window, r.Line
			limits = addRate(limits, l)
		}
	}

	t.setLimits(limits)
	t.setVisits(g.Visits)
	if t.n == 0 && !t.visits {
		return nil
	}
	return t
}

// newLimit returns the GCRA of n requests in per, of which max(n, burst) may
// come at once. It reports false for one that limits nothing.
func newLimit(why Reason, n int, per time.Duration, burst int, longest time.Duration) (limit, bool) {
	if n <= 0 || per <= 0 {
		return limit{}, false
	}
	interval := int64(per/time.Microsecond) * 9 / 10 / int64(n)
	interval = min(interval, int64(longest/time.Microsecond)*9/10)
	if interval <= 0 {
		return limit{}, false
	}
	l := limit{interval: interval, reason: why}
	l.setTolerance(int64(max(n, burst) - 1))
	return l, true
}

// setTolerance sets how many requests more than one may come at once.
func (l *limit) setTolerance(extra int64) {
	extra = min(extra, maxHorizon/l.interval-2)
	l.tolerance = l.interval/2 + max(0, extra)*l.interval
	horizon := l.interval + l.tolerance
	l.shift = uint8(max(0, bits.Len64(uint64(horizon+horizon>>8))-32))
}

// implies reports whether every request that a accepts is accepted by b.
func (a limit) implies(b limit) bool {
	return a.interval >= b.interval && a.tolerance <= b.tolerance && a.window.covers(b.window)
}

// addRate adds l to the limits unless one of them implies it, and removes
// those that it implies. A file of 500 KiB can hold 30,000 lines, so what
// cannot be among the strictest is not kept while they are read.
func addRate(limits []limit, l limit) []limit {
	for _, have := range limits {
		if have.implies(l) {
			return limits
		}
	}
	limits = slices.DeleteFunc(limits, func(have limit) bool {
		return have.reason == RequestRate && l.implies(have)
	})
	limits = append(limits, l)
	if len(limits) > 4*MaxLimits {
		strictestFirst(limits)
		limits = limits[:len(limits)-1]
	}
	return limits
}

// strictestFirst orders limits by their sustained rate. The Crawl-delay stays
// in front: it has no window, so it is never without effect.
func strictestFirst(limits []limit) {
	slices.SortStableFunc(limits, func(a, b limit) int {
		return cmp.Or(cmp.Compare(a.reason, b.reason), cmp.Compare(b.interval, a.interval))
	})
}

// setLimits keeps at most MaxLimits of limits.
func (t *Terms) setLimits(limits []limit) {
	if len(limits) > MaxLimits {
		strictestFirst(limits)
		limits = limits[:MaxLimits]
	}
	sum := fnv.New64a()
	for i, l := range limits {
		t.limits[i] = l
		t.windows = t.windows || !l.window.always()
		for _, v := range [...]int64{l.interval, l.tolerance, int64(l.window.from), int64(l.window.length)} {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], uint64(v))
			sum.Write(b[:])
		}
	}
	t.n = len(limits)
	h := sum.Sum64()
	t.sig = uint32(h ^ h>>32)
}

// setVisits makes one set of minutes of all windows. Of those that open at
// the same minute only the longest counts.
func (t *Terms) setVisits(visits []robots.VisitTime) {
	var longest [minutesPerDay]span
	for _, v := range visits {
		s, ok := newSpan(v.Window)
		if !ok {
			continue
		}
		t.visits = true
		if longest[s.from].length == 0 {
			t.opens = append(t.opens, opening{s.from, v.Line})
		}
		if longest[s.from].length < s.length {
			longest[s.from] = s
		}
	}
	for _, s := range longest {
		t.visit.add(s)
	}
	if t.visit == everyMinute {
		t.visits, t.opens = false, nil
	}
	slices.SortFunc(t.opens, func(a, b opening) int { return cmp.Compare(a.minute, b.minute) })
}

var everyMinute = func() (m minutes) {
	m.add(wholeDay)
	return m
}()

// shared returns the terms of one of n processes that share what t allows but
// cannot ask each other: each interval is n times as long, and as many come at
// once as 1 of n may have. Visit-time is the same for all.
func (t *Terms) shared(n int) *Terms {
	if n <= 1 || t.n == 0 {
		return t
	}
	if p := t.part.Load(); p != nil && p.of == n {
		return p.terms
	}
	one := &Terms{windows: t.windows, visits: t.visits, visit: t.visit, opens: t.opens}
	limits := slices.Clone(t.limits[:t.n])
	for i := range limits {
		limits[i] = limits[i].shared(int64(n))
	}
	one.setLimits(limits)
	t.part.Store(&part{n, one})
	return one
}

// shared returns the limit of one of n processes.
func (l limit) shared(n int64) limit {
	atOnce := (l.tolerance-l.interval/2)/l.interval + 1
	atOnce = (atOnce + n - 1) / n
	l.interval = min(l.interval*n, maxHorizon/2)
	l.setTolerance(atOnce - 1)
	return l
}

// opener returns the line of the Visit-time window that opens at the given
// minute of the day.
func (t *Terms) opener(minute int32) int {
	i, ok := slices.BinarySearchFunc(t.opens, minute, func(o opening, m int32) int { return cmp.Compare(o.minute, m) })
	if !ok {
		return 0
	}
	return t.opens[i].line
}

// Same reports whether t and u hold a crawler to the same pace. Terms that
// limit nothing are the same as nil.
func (t *Terms) Same(u *Terms) bool {
	if t == nil || u == nil {
		return t == u
	}
	return t == u || t.sig == u.sig && t.n == u.n && t.visit == u.visit
}
