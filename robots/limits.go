package robots

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// limits holds the parsed limits and preferences of a group.
type limits struct {
	delay   *CrawlDelay // the shortest one
	rates   []RequestRate
	visits  []VisitTime
	signals []PreferenceLine
	usages  []PreferenceLine
}

// maxLimits is how many lines of each kind a group keeps: the first ones in the
// file.
const maxLimits = 16

func (l *limits) add(fd *field) {
	switch fd.directive {
	case DirectiveCrawlDelay:
		if d, ok := parseCrawlDelay(fd.value); ok {
			l.addDelay(&CrawlDelay{Delay: d, Line: fd.line})
		}
	case DirectiveRequestRate:
		addLimit(&l.rates, fd, parseRequestRate)
	case DirectiveVisitTime:
		addLimit(&l.visits, fd, parseVisitTime)
	case DirectiveContentSignal:
		addLimit(&l.signals, fd, parsePreferenceLine)
	case DirectiveContentUsage:
		addLimit(&l.usages, fd, parsePreferenceLine)
	}
}

// addLimit adds what parse reads from a line, unless it is malformed or the list is full.
func addLimit[T any](list *[]T, fd *field, parse func(*field) (T, bool)) {
	if v, ok := parse(fd); ok && len(*list) < maxLimits {
		*list = append(*list, v)
	}
}

func parseVisitTime(fd *field) (VisitTime, bool) {
	w, ok := parseWindow(fd.value)
	return VisitTime{Window: w, Line: fd.line}, ok
}

func (l *limits) addDelay(d *CrawlDelay) {
	if l.delay == nil || d.Delay < l.delay.Delay {
		l.delay = d
	}
}

// merge adds the limits of another unit of the same group.
func (l *limits) merge(o *limits) {
	if o.delay != nil {
		l.addDelay(o.delay)
	}
	l.rates = joinLimits(l.rates, o.rates, func(r *RequestRate) int { return r.Line })
	l.visits = joinLimits(l.visits, o.visits, func(v *VisitTime) int { return v.Line })
	l.signals = joinLimits(l.signals, o.signals, func(c *PreferenceLine) int { return c.Line })
	l.usages = joinLimits(l.usages, o.usages, func(c *PreferenceLine) int { return c.Line })
}

// joinLimits returns the first lines of a and b in the order of the file.
func joinLimits[T any](a, b []T, line func(*T) int) []T {
	all := joinLines([][]T{a, b}, func(list []T) []T { return list }, line)
	return all[:min(len(all), maxLimits)]
}

// minutesPerDay is the number of minutes in a day in UTC, which has no daylight
// saving time.
const minutesPerDay = 24 * 60

// Window is a part of the day in UTC. Visit-time and Request-rate lines write
// it as hhmm-hhmm. From and To are minutes after midnight, 0 to 1439. The
// minute To is a part of the window, so that there is no gap between 1700-0459
// and 0500-1659. If To is before From, the window includes midnight. If both
// are equal, as in the zero Window, the window is the whole day. With other
// values of From and To, the results of the methods have no meaning.
type Window struct {
	From, To int
}

// WholeDay is a window that is always open.
var WholeDay = Window{From: 0, To: minutesPerDay - 1}

// Always reports whether the window is open at every minute of the day.
func (w Window) Always() bool { return w.From == w.To || (w.To+1)%minutesPerDay == w.From }

// String returns the window in the syntax of robots.txt: hhmm-hhmm.
func (w Window) String() string {
	return fmt.Sprintf("%02d%02d-%02d%02d", w.From/60, w.From%60, w.To/60, w.To%60)
}

// CrawlDelay is a Crawl-delay line: requests must be at least Delay apart.
type CrawlDelay struct {
	Delay time.Duration
	Line  int
}

// RequestRate is a Request-rate line: while Window is open, a crawler may send
// at most Requests requests in each period Per. If the line has no times, or
// malformed ones, Window is WholeDay.
type RequestRate struct {
	Requests int
	Per      time.Duration
	Window   Window
	Line     int
}

// VisitTime is a Visit-time line: a crawler may send requests only while Window
// is open.
type VisitTime struct {
	Window Window
	Line   int
}

// String returns the rate in the syntax of robots.txt: N/T[s|m|h] [hhmm-hhmm].
// It uses the largest unit in which the time is a whole number.
func (r RequestRate) String() string {
	per, unit := r.Per, "s"
	switch {
	case per%time.Hour == 0:
		per, unit = per/time.Hour, "h"
	case per%time.Minute == 0:
		per, unit = per/time.Minute, "m"
	default:
		per /= time.Second
	}
	s := fmt.Sprintf("%d/%d%s", r.Requests, per, unit)
	if !r.Window.Always() {
		s += " " + r.Window.String()
	}
	return s
}

// String returns the delay in the syntax of robots.txt: a number of seconds.
func (c CrawlDelay) String() string { return strconv.FormatFloat(c.Delay.Seconds(), 'f', -1, 64) }

// parseCrawlDelay parses a number of seconds: digits and at most one dot. Any
// other value, for example one with a sign or a unit, is malformed.
func parseCrawlDelay(s string) (time.Duration, bool) {
	if s == "" || strings.Trim(s, "0123456789.") != "" || strings.Count(s, ".") > 1 || s == "." {
		return 0, false
	}
	sec, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, false
	}
	return seconds(sec), true
}

// seconds converts seconds to a Duration. It returns the longest Duration if
// the number is too large.
func seconds(sec float64) time.Duration {
	if ns := sec * float64(time.Second); ns < math.MaxInt64 {
		return time.Duration(math.Round(ns))
	}
	return math.MaxInt64
}

// rateUnits are the units of time in a Request-rate. Conner's Extended Standard
// has s, m and h; many parsers also accept d.
var rateUnits = map[string]time.Duration{
	"": time.Second, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

// maxRate is the highest value of both numbers of a Request-rate.
const maxRate = 1_000_000_000

// parseRequestRate parses N/T[s|m|h|d] [hhmm-hhmm]. If the window is malformed,
// the rate applies all day.
func parseRequestRate(fd *field) (r RequestRate, ok bool) {
	rate, window := fd.value, ""
	if i := strings.IndexAny(rate, " \t"); i >= 0 {
		rate, window = rate[:i], strings.TrimSpace(rate[i:])
	}
	number, per, found := strings.Cut(rate, "/")
	if !found {
		return r, false
	}
	digits := strings.LastIndexAny(per, "0123456789") + 1
	unit, known := rateUnits[strings.ToLower(per[digits:])]
	n, okN := parseCount(number)
	t, okT := parseCount(per[:digits])
	if !known || !okN || !okT {
		return r, false
	}
	r = RequestRate{Requests: n, Per: seconds(float64(t) * unit.Seconds()), Window: WholeDay, Line: fd.line}
	if w, ok := parseWindow(window); ok {
		r.Window = w
	}
	return r, true
}

// parseCount parses a whole number from 1 to maxRate.
func parseCount(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	return int(n), err == nil && len(s) <= 10 && 0 < n && n <= maxRate
}

// parseWindow parses hhmm-hhmm. It also accepts blanks instead of the hyphen,
// and a colon or a dot between hours and minutes, since real files have such
// spellings.
func parseWindow(s string) (w Window, ok bool) {
	from, to, found := strings.Cut(s, "-")
	if !found {
		fields := strings.Fields(s)
		if len(fields) != 2 {
			return w, false
		}
		from, to = fields[0], fields[1]
	}
	f, okFrom := parseClock(strings.TrimSpace(from))
	t, okTo := parseClock(strings.TrimSpace(to))
	if f == minutesPerDay {
		f = 0
	}
	if t == minutesPerDay {
		t-- // the window's last minute
	}
	return Window{From: f, To: t}, okFrom && okTo
}

// parseClock returns the minutes after midnight of hhmm, from 0000 to 2400.
func parseClock(s string) (int, bool) {
	if len(s) == 5 && (s[2] == ':' || s[2] == '.') {
		s = s[:2] + s[3:]
	}
	n, err := strconv.ParseUint(s, 10, 64)
	h, m := int(n/100), int(n%100)
	if err != nil || len(s) != 4 || n > 2400 || m > 59 {
		return 0, false
	}
	return h*60 + m, true
}
