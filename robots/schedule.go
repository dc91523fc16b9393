package robots

import (
	"fmt"
	"strconv"
	"time"
)

// minutesPerDay is the number of minutes in a day of UTC, which has no
// daylight saving.
const minutesPerDay = 24 * 60

// Window is a span of the day in UTC, as the Visit-time and Request-rate
// lines write it (hhmm-hhmm). Both ends are minutes after midnight, 0 to
// 1439, and the minute To belongs to the window, so that 1700-0459 and
// 0500-1659 leave no gap. A window whose To lies before its From wraps
// midnight; one whose ends are equal is the whole day.
type Window struct {
	From, To int
}

// WholeDay is the window that is always open.
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
	m := minuteOfDay(t)
	if w.From < w.To {
		return w.From <= m && m <= w.To
	}
	return m >= w.From || m <= w.To
}

// Next returns the first instant not before t at which the window is open:
// t itself while it is open.
func (w Window) Next(t time.Time) time.Time {
	if w.Contains(t) {
		return t
	}
	t = t.UTC()
	open := time.Date(t.Year(), t.Month(), t.Day(), w.From/60, w.From%60, 0, 0, time.UTC)
	if open.Before(t) {
		open = open.AddDate(0, 0, 1)
	}
	return open
}

// Closes returns the first instant after t at which the window is closed, for a
// t at which it is open. It returns the zero Time if the window is always open.
func (w Window) Closes(t time.Time) time.Time {
	if w.Always() {
		return time.Time{}
	}
	t = t.UTC()
	end := (w.To + 1) % minutesPerDay
	shut := time.Date(t.Year(), t.Month(), t.Day(), end/60, end%60, 0, 0, time.UTC)
	if !shut.After(t) {
		shut = shut.AddDate(0, 0, 1)
	}
	return shut
}

// String writes the window as robots.txt does: hhmm-hhmm.
func (w Window) String() string {
	return fmt.Sprintf("%02d%02d-%02d%02d", w.From/60, w.From%60, w.To/60, w.To%60)
}

func minuteOfDay(t time.Time) int {
	sec := t.Unix() % 86400
	if sec < 0 {
		sec += 86400
	}
	return int(sec / 60)
}

// CrawlDelay is a Crawl-delay line: at most one request in Delay.
type CrawlDelay struct {
	Delay time.Duration
	Line  int
}

// RequestRate is a Request-rate line: at most Requests requests in each Per,
// while Window is open.
type RequestRate struct {
	Requests int
	Per      time.Duration
	Window   Window
	Line     int
}

// VisitTime is a Visit-time line: requests only while Window is open.
type VisitTime struct {
	Window Window
	Line   int
}

// String writes the rate as robots.txt does, in the largest unit that is
// whole: N/T[s|m|h] [hhmm-hhmm].
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

// String writes the delay as robots.txt does: in seconds.
func (c CrawlDelay) String() string {
	return strconv.FormatFloat(c.Delay.Seconds(), 'f', -1, 64)
}
