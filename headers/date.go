package headers

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dateLayouts are the forms of a date without its weekday and with an offset in
// place of the name of its time zone: those of RFC 822 and RFC 850, with two and
// with four digits of the year, and those of ISO 8601 in extended and basic form.
// Go reads a two-digit year up to 68 as 20xx.
var dateLayouts = func() []string {
	list := slices.Clone(dayLayouts)
	for _, day := range dayLayouts {
		for _, clock := range []string{" 15:04:05", " 15:04", "T15:04:05", "T15:04", "T150405", "T1504"} {
			for _, zone := range []string{" -0700", "", "Z07:00", "Z0700", "Z07", " Z07:00"} {
				list = append(list, day+clock+zone)
			}
		}
	}
	return list
}()

// dayLayouts are the forms without a time of day.
var dayLayouts = []string{"2006-01-02", "20060102", "2 Jan 2006", "2 Jan 06", "2-Jan-2006", "2-Jan-06"}

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

// parseDate parses a date in RFC 822, RFC 850 or ISO 8601 form. It reads a date
// without a time zone as UTC. The result is twice the seconds since 1970, and one
// more for a date with a time of day: so the day is the more restrictive one.
func parseDate(s string) (date int64, ok bool) {
	if len(s) > 64 { // longer than all valid ones
		return 0, false
	}
	s = strings.Join(strings.Fields(s), " ")
	if name, rest, found := strings.Cut(s, " "); found && isWeekday(strings.TrimSuffix(name, ",")) {
		s = rest // the weekday is redundant and often wrong
	}
	if i := strings.LastIndexByte(s, ' '); i >= 0 {
		if offset, known := zones[strings.ToUpper(s[i+1:])]; known {
			s = s[:i+1] + offset
		}
	}
	for i, layout := range dateLayouts {
		t, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		date = 2 * t.Unix()
		if i >= len(dayLayouts) {
			date++
		}
		year := t.UTC().Year() // formatDate writes it with four digits
		return date, 1 <= year && year <= 9999
	}
	return 0, false
}

// isWeekday reports whether s is the long or short name of a weekday.
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
func formatDate(date int64) string {
	layout := "2006-01-02"
	if date&1 != 0 {
		layout = "2006-01-02T15:04:05Z"
	}
	return time.Unix(date>>1, 0).UTC().Format(layout)
}

// RetryAfter returns the value of a Retry-After field for a client that should
// wait for d: a number of whole seconds (RFC 9110, section 10.2.3), at least 1.
// It rounds up, so that the client does not come back too early.
func RetryAfter(d time.Duration) string {
	seconds := int64(math.Ceil(d.Seconds()))
	return strconv.FormatInt(max(1, seconds), 10)
}
