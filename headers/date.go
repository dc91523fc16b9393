package headers

import (
	"strconv"
	"strings"
	"time"
)

// dateLayouts are the forms of a date without its weekday and with an offset in
// place of the name of its time zone. Go reads a two-digit year up to 68 as
// 20xx.
var dateLayouts = []string{
	"2006-01-02", "20060102", "2 Jan 2006", "2 Jan 06", "2-Jan-2006", "2-Jan-06",
	// RFC 822, section 5.1, with the four-digit years of RFC 1123.
	"2 Jan 2006 15:04:05 -0700", "2 Jan 2006 15:04 -0700",
	"2 Jan 06 15:04:05 -0700", "2 Jan 06 15:04 -0700",
	"2 Jan 2006 15:04:05", "2 Jan 2006 15:04",
	"2 Jan 06 15:04:05", "2 Jan 06 15:04",
	// RFC 850, section 2.1.4, and the same with four-digit years.
	"2-Jan-06 15:04:05 -0700", "2-Jan-2006 15:04:05 -0700",
	"2-Jan-06 15:04:05", "2-Jan-2006 15:04:05",
	"2-Jan-06 15:04 -0700", "2-Jan-2006 15:04 -0700",
	// ISO 8601, calendar dates in extended and basic form. Also with a blank
	// instead of the T (RFC 3339), without seconds, and with offsets of whole
	// hours.
	"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700", "2006-01-02T15:04Z07",
	"2006-01-02T15:04:05", "2006-01-02T15:04",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 Z07:00", "2006-01-02 15:04:05 -0700",
	"2006-01-02 15:04:05", "2006-01-02 15:04",
	"20060102T150405Z07:00", "20060102T150405Z0700", "20060102T150405Z07", "20060102T150405",
	"20060102T1504Z0700", "20060102T1504",
}

// dayLayouts is the number of layouts at the start of dateLayouts without a time
// of day.
const dayLayouts = 6

// zones are the offsets of the time zones in RFC 822, section 5.1, and of those
// that HTTP and ISO 8601 add. time.Parse knows only the names of the local time
// zone, and reads all others as UTC.
var zones = map[string]string{
	"UT": "+0000", "UTC": "+0000", "GMT": "+0000", "Z": "+0000",
	"EST": "-0500", "EDT": "-0400",
	"CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600",
	"PST": "-0800", "PDT": "-0700",
}

// longestDate is the maximal length of a date, in octets. All valid dates are
// shorter.
const longestDate = 64

// parseDate parses a date in RFC 822, RFC 850 or ISO 8601 form. It reads a date
// without a time zone as UTC. day reports whether the date has no time of day.
func parseDate(s string) (t time.Time, day, ok bool) {
	if len(s) > longestDate {
		return time.Time{}, false, false
	}
	s = cutWeekday(strings.Join(strings.Fields(s), " "))
	if i := strings.LastIndexByte(s, ' '); i >= 0 {
		if offset, known := zones[strings.ToUpper(s[i+1:])]; known {
			s = s[:i+1] + offset
		}
	}
	for i, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC().Truncate(time.Second), i < dayLayouts, printable(t)
		}
	}
	return time.Time{}, false, false
}

// printable reports whether t has a year from 1 to 9999 in UTC, which
// formatDate writes with four digits.
func printable(t time.Time) bool {
	year := t.UTC().Year()
	return 1 <= year && year <= 9999
}

// cutWeekday removes the day of the week from a date: its long or short name,
// and a comma after it. The weekday is redundant and often wrong.
func cutWeekday(s string) string {
	name, rest, found := strings.Cut(s, " ")
	if !found || !isWeekday(strings.TrimSuffix(name, ",")) {
		return s
	}
	return rest
}

func isWeekday(s string) bool {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.EqualFold(s, d.String()) || strings.EqualFold(s, d.String()[:3]) {
			return true
		}
	}
	return false
}

// formatDate formats a date in ISO 8601. Unlike the RFC 822 and RFC 850 forms,
// this form has no comma, at which a simple parser would split the list, and no
// name of a time zone.
func formatDate(t time.Time, day bool) string {
	if day {
		return t.Format("2006-01-02")
	}
	return t.Format("2006-01-02T15:04:05Z")
}

// RetryAfter returns the value of a Retry-After field for a client that should
// wait for d: a number of whole seconds (RFC 9110, section 10.2.3), at least 1.
// It rounds up, so that the client does not come back too early.
func RetryAfter(d time.Duration) string {
	seconds := int64(d / time.Second)
	if d%time.Second > 0 {
		seconds++
	}
	return strconv.FormatInt(max(1, seconds), 10)
}
