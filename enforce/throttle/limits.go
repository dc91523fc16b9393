package throttle

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// MaxLimits is the largest number of limits in one Limits: one for the
// Crawl-delay, and one for each Request-rate line. Lines that a stricter line
// implies do not count. If there are more, Compile keeps the Crawl-delay and
// the lines with the lowest rates.
const MaxLimits = 8

// DefaultMaxDelay is the default of Grant.MaxDelay.
const DefaultMaxDelay = 24 * time.Hour

// maxMaxDelay limits Grant.MaxDelay, so that calculations with times can't
// overflow.
const maxMaxDelay = 366 * 24 * time.Hour

// Horizon is how far ahead of now an arrival time can lie.
const Horizon = 10 * maxMaxDelay

// maxHorizon is Horizon in microseconds.
const maxHorizon = int64(Horizon / time.Microsecond)

// Grant has the lines of a robots.txt group that limit the rate or the time of
// requests, and says how they are enforced.
type Grant struct {
	// Delay is the Crawl-delay line. There is none if its Delay is zero or
	// less.
	Delay robots.CrawlDelay

	// Rates are the Request-rate lines. Each applies while its window is open.
	// A line is ignored if its Requests or Per is zero or less.
	Rates []robots.RequestRate

	// Visits are the Visit-time lines. Requests are accepted only while one of
	// the windows is open. If there are no lines, they are accepted at any
	// time.
	Visits []robots.VisitTime

	// MaxDelay is the longest interval between two requests that is enforced. A
	// longer one is enforced as MaxDelay. Zero means DefaultMaxDelay; more than
	// 366 days counts as 366 days.
	MaxDelay time.Duration

	// Burst is how many requests may come at once under a Crawl-delay. Less
	// than 1 counts as 1. Under a Request-rate of N/T, N requests may come at
	// once, or Burst if that is more.
	Burst int

	// Exact limits Rates without regard to inexact networks: the emission interval
	// of N/T is T/N, and only Burst requests may come at once. So in no time T are
	// more than N + Burst requests accepted.
	Exact bool
}

// Limits is a compiled Grant. It is immutable and safe for concurrent use.
//
// Each limit is a GCRA (generic cell rate algorithm). For a Crawl-delay of D,
// the emission interval is 0.9 D. The tolerance is half an emission interval,
// plus Burst-1 emission intervals. Within any time W, at most 1 + (W +
// tolerance) / interval requests are accepted, so the sustained rate is one
// request per 0.9 D. With a Burst of 1, a second request without delay is
// refused. For a Request-rate of N/T, the emission interval is 0.9 T/N. The
// tolerance is half of it, plus N-1 or Burst-1 emission intervals, whichever is
// more.
//
// A limit never refuses a crawler that waits D between requests, or that sends
// at most N requests in any time T, even if the network delivers its requests
// too early by a tenth of D or T.
//
// Times are in whole microseconds. If the interval and the tolerance of a limit
// are together longer than 70 minutes, arrival times are stored with a
// precision of 1/2^31 of that sum. Rounding favours the crawler. A limit of
// more than one request per microsecond is ignored.
type Limits struct {
	limits  []Rate
	sig     uint32      // signature of the limits: stored arrival times with another signature belong to other limits
	windows bool        // a limit has a window
	visits  []visitTime // none without Visit-time lines, or if at each minute one is open
	slow    atomic.Pointer[slow]
}

// slow has the limits of a process that decides alone, without those that share its budgets.
type slow struct {
	times  int
	limits *Limits
}

// Rate is one GCRA. Times are in microseconds.
type Rate struct {
	Interval  int64 // emission interval
	Tolerance int64 // how far the theoretical arrival time may lie ahead
	window    span
	reason    Reason
	shift     uint8 // arrival times are stored in units of 2^shift microseconds
	line      int
}

// visitTime is the window of a Visit-time line.
type visitTime struct {
	span
	line int
}

// ParseRate parses a rate in the syntax of Request-rate, without a time of day. "" is
// no rate.
func ParseRate(s string) (rate robots.RequestRate, err error) {
	rates := robots.Parse([]byte("User-agent: *\nRequest-rate: " + s)).Star().RequestRates()
	switch {
	case s == "":
		return rate, nil
	case len(rates) != 1 || strings.ContainsAny(s, " \t\r\n#"),
		Compile(Grant{Rates: rates}) == nil: // such as 0/1s, and more than one in a microsecond
		return rate, fmt.Errorf("%q is not a rate: write it as 30/1m", s)
	}
	return rates[0], nil
}

// Compile compiles g to Limits. It returns nil if g limits nothing.
func Compile(g Grant) *Limits {
	if g.Delay.Delay <= 0 && len(g.Rates)+len(g.Visits) == 0 {
		return nil
	}
	longest := min(cmp.Or(max(g.MaxDelay, 0), DefaultMaxDelay), maxMaxDelay)
	burst := max(g.Burst, 1)

	t := &Limits{}
	var limits []Rate
	if l, ok := newLimit(CrawlDelay, 1, g.Delay.Delay, burst, longest); ok {
		l.window, l.line = wholeDay, g.Delay.Line
		limits = append(limits, l)
	}
	for _, r := range g.Rates {
		window, valid := newSpan(r.Window)
		if l, ok := newLimit(RequestRate, r.Requests, r.Per, burst, longest); ok && valid {
			if g.Exact {
				l.Interval = max(1, min(int64(r.Per), int64(longest))/int64(time.Microsecond)/int64(r.Requests))
				l.setTolerance(int64(burst - 1))
			}
			l.window, l.line = window, r.Line
			limits = addRate(limits, l)
		}
	}

	t.setLimits(limits)
	t.setVisits(g.Visits)
	if len(t.limits)+len(t.visits) == 0 {
		return nil
	}
	return t
}

// newLimit returns the GCRA for n requests in the time per. max(n, burst)
// requests may come at once. It returns false if there is no limit.
func newLimit(why Reason, n int, per time.Duration, burst int, longest time.Duration) (Rate, bool) {
	if n <= 0 || per <= 0 {
		return Rate{}, false
	}
	interval := int64(per/time.Microsecond) * 9 / 10 / int64(n)
	interval = min(interval, int64(longest/time.Microsecond)*9/10)
	if interval <= 0 {
		return Rate{}, false
	}
	l := Rate{Interval: interval, reason: why}
	l.setTolerance(int64(max(n, burst) - 1))
	return l, true
}

// setTolerance sets the tolerance so that 1+extra requests may come at once.
func (l *Rate) setTolerance(extra int64) {
	extra = min(extra, maxHorizon/l.Interval-2)
	l.Tolerance = l.Interval/2 + max(0, extra)*l.Interval
	horizon := l.Interval + l.Tolerance
	l.shift = uint8(max(0, bits.Len64(uint64(horizon+horizon>>8))-32))
}

// implies reports whether b accepts every request that a accepts.
func (a Rate) implies(b Rate) bool {
	return a.Interval >= b.Interval && a.Tolerance <= b.Tolerance && a.window.covers(b.window)
}

// addRate adds l to the limits unless one of them implies it, and removes those
// that it implies.
func addRate(limits []Rate, l Rate) []Rate {
	for _, have := range limits {
		if have.implies(l) {
			return limits
		}
	}
	limits = slices.DeleteFunc(limits, func(have Rate) bool { return have.reason == RequestRate && l.implies(have) })
	return append(limits, l)
}

// setLimits sets the limits of t: at most MaxLimits, those with the lowest
// sustained rates. The Crawl-delay stays first: it has no window, so it always has
// an effect.
func (t *Limits) setLimits(limits []Rate) {
	if len(limits) > MaxLimits {
		slices.SortStableFunc(limits, func(a, b Rate) int {
			return cmp.Or(cmp.Compare(a.reason, b.reason), cmp.Compare(b.Interval, a.Interval))
		})
		limits = limits[:MaxLimits]
	}
	t.limits = slices.Clone(limits)
	sum := fnv.New64a()
	for _, l := range limits {
		t.windows = t.windows || !l.window.always()
		for _, v := range [...]int64{l.Interval, l.Tolerance, int64(l.window.from), int64(l.window.length)} {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], uint64(v))
			sum.Write(b[:])
		}
	}
	h := sum.Sum64()
	t.sig = uint32(h ^ h>>32)
}

// setVisits sets the windows of t.
func (t *Limits) setVisits(visits []robots.VisitTime) {
	for _, v := range visits {
		if s, ok := newSpan(v.Window); ok {
			t.visits = append(t.visits, visitTime{s, v.Line})
		}
	}
	for m := range int32(minutesPerDay) {
		if !t.inVisit(m) {
			return
		}
	}
	t.visits = nil
}

// inVisit reports whether a Visit-time window is open at a minute of the day.
func (t *Limits) inVisit(minute int32) bool {
	return slices.ContainsFunc(t.visits, func(v visitTime) bool { return v.open(minute) })
}

// Slower returns the limits with intervals that are n times as long. As many requests
// may come at once, and Visit-time stays the same.
func (t *Limits) Slower(n int) *Limits {
	if t == nil || n <= 1 || len(t.limits) == 0 {
		return t
	}
	if s := t.slow.Load(); s != nil && s.times == n {
		return s.limits
	}
	all := &Limits{windows: t.windows, visits: t.visits}
	limits := slices.Clone(t.limits)
	for i := range limits {
		l := &limits[i]
		extra := (l.Tolerance - l.Interval/2) / l.Interval
		l.Interval = min(l.Interval*int64(n), maxHorizon/2)
		l.setTolerance(extra)
	}
	all.setLimits(limits)
	t.slow.Store(&slow{n, all})
	return all
}

// nextVisit returns the window that opens next after a minute of the day at which all
// Visit-time windows are closed.
func (t *Limits) nextVisit(minute int32) visitTime {
	return slices.MinFunc(t.visits, func(a, b visitTime) int { return cmp.Compare(minutesFrom(minute, a.from), minutesFrom(minute, b.from)) })
}
