package robots

import (
	"math"
	"strconv"
	"strings"
	"time"
)

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
func parseRequestRate(s string) (r RequestRate, ok bool) {
	rate, window := s, ""
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		rate, window = s[:i], strings.TrimSpace(s[i:])
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
	r = RequestRate{Requests: n, Per: seconds(float64(t) * unit.Seconds()), Window: WholeDay}
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
