package robots

import (
	"fmt"
	"strconv"
	"time"
)

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
func (w Window) Always() bool {
	return w.From == w.To || (w.To+1)%minutesPerDay == w.From
}

// Contains reports whether the window is open at t.
func (w Window) Contains(t time.Time) bool {
	if w.Always() {
		return true
	}
	hour, minute, _ := t.UTC().Clock()
	m := 60*hour + minute
	if w.From < w.To {
		return w.From <= m && m <= w.To
	}
	return m >= w.From || m <= w.To
}

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
func (c CrawlDelay) String() string {
	return strconv.FormatFloat(c.Delay.Seconds(), 'f', -1, 64)
}
