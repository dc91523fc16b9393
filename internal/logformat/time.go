package logformat

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// stamp is a time of a log.
type stamp struct {
	at         int64 // nanoseconds since 1970
	resolution int64 // nanoseconds
	zoned      bool
}

// timeParser parses the times of a log. A time without a zone is in the location, or in
// UTC if that is nil.
type timeParser struct{ location *time.Location }

// clock is a date and a time of day as the log has them.
type clock struct {
	year, month, day, hour, minute, second int
	nanos                                  int64
	resolution                             int64
	offset                                 int // seconds east of UTC
	zoned                                  bool
}

// The years of a log. A date in another year is not a valid time.
const (
	firstYear = 1990
	lastYear  = 2199
)

// stamp returns the time for c, and whether c is a valid date and time.
func (z timeParser) stamp(c *clock) (stamp, bool) {
	if c.year < firstYear || c.year > lastYear || c.month < 1 || c.month > 12 || c.day < 1 || c.day > daysIn(c.year, c.month) ||
		c.hour > 23 || c.minute > 59 || c.second > 60 {
		return stamp{}, false
	}
	s := stamp{resolution: c.resolution, zoned: c.zoned}
	if !c.zoned && z.location != nil {
		s.at = time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second, int(c.nanos), z.location).UnixNano()
		return s, true
	}
	seconds := int64(daysSince1970(c.year, c.month, c.day))*86400 + int64(c.hour*3600+c.minute*60+c.second-c.offset)
	s.at = seconds*1e9 + c.nanos
	return s, true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysSince1970 returns the number of days between 1970-01-01 and a date of the
// Gregorian calendar. It counts years from March on, so that the leap day is the last
// day of a year.
func daysSince1970(year, month, day int) int {
	if month <= 2 {
		year, month = year-1, month+12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468
}

// fraction parses the fraction of a second if there is one.
func (c *clock) fraction(b []byte, i *int) {
	if *i >= len(b) || b[*i] != '.' && b[*i] != ',' {
		return
	}
	*i++
	for unit := int64(1e8); *i < len(b) && '0' <= b[*i] && b[*i] <= '9'; *i++ {
		c.nanos += int64(b[*i]-'0') * unit
		if unit > 0 {
			c.resolution = max(unit, 1)
		}
		unit /= 10
	}
}

// zone parses Z, UTC, GMT, +hhmm, +hh:mm or +hh, with or without a blank before it. It
// returns false if something else is at the end.
func (c *clock) zone(b []byte, i *int) bool {
	skip(b, i, ' ')
	if *i == len(b) {
		return true
	}
	sign := 1
	switch b[*i] {
	case 'Z', 'z':
		*i++
		c.zoned = true
		return *i == len(b)
	case '-':
		sign = -1
	case '+':
	default:
		if string(b[*i:]) == "UTC" || string(b[*i:]) == "GMT" {
			c.zoned = true
			return true
		}
		return false
	}
	*i++
	h := digits(b, i, 2)
	skip(b, i, ':')
	m := 0
	if *i < len(b) {
		m = digits(b, i, 2)
	}
	c.offset, c.zoned = sign*(h*3600+m*60), true
	return h >= 0 && m >= 0 && *i == len(b)
}

// months are the first three letters of the English names.
var months = [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}

func monthOf(b []byte) int {
	for i := range months {
		if string(b) == months[i] {
			return i + 1
		}
	}
	return 0
}

// common parses 02/Jan/2006:15:04:05 -0700, the form of Apache's %t and nginx's
// $time_local. The seconds and the zone may be missing.
func (z timeParser) common(b []byte) (stamp, bool) {
	var c clock
	i := 0
	if c.day = digits(b, &i, 2); c.day < 0 || !skip(b, &i, '/') || i+3 > len(b) {
		return stamp{}, false
	}
	c.month = monthOf(b[i : i+3])
	i += 3
	if !skip(b, &i, '/') {
		return stamp{}, false
	}
	if c.year = digits(b, &i, 4); c.year < 0 || !skip(b, &i, ':') || !c.timeOfDay(b, &i) || !c.zone(b, &i) {
		return stamp{}, false
	}
	return z.stamp(&c)
}

// timeOfDay parses 15:04:05 with or without a fraction, or 15:04 with up to two colons
// after it.
func (c *clock) timeOfDay(b []byte, i *int) bool {
	c.hour = digits(b, i, 2)
	if c.hour < 0 || !skip(b, i, ':') {
		return false
	}
	if c.minute = digits(b, i, 2); c.minute < 0 {
		return false
	}
	c.resolution = int64(time.Minute)
	if !skip(b, i, ':') || skip(b, i, ':') || *i == len(b) || !isDigit(b[*i]) {
		return true
	}
	if c.second = digits(b, i, 2); c.second < 0 {
		return false
	}
	c.resolution = int64(time.Second)
	c.fraction(b, i)
	return true
}

// isoLike parses 2006-01-02T15:04:05.000Z and similar forms: with a blank in place of
// the T, with slashes, and with or without a fraction and a zone.
func (z timeParser) isoLike(b []byte) (stamp, bool) {
	var c clock
	i := 0
	if c.year = digits(b, &i, 4); c.year < 0 || i == len(b) || b[i] != '-' && b[i] != '/' {
		return stamp{}, false
	}
	mark := b[i]
	i++
	if c.month = digits(b, &i, 2); c.month < 0 || !skip(b, &i, mark) {
		return stamp{}, false
	}
	if c.day = digits(b, &i, 2); c.day < 0 || !skip(b, &i, 'T') && !skip(b, &i, ' ') && !skip(b, &i, 't') {
		return stamp{}, false
	}
	if !c.timeOfDay(b, &i) || !c.zone(b, &i) {
		return stamp{}, false
	}
	return z.stamp(&c)
}

// unix parses seconds, milliseconds, microseconds or nanoseconds since 1970, with or
// without a fraction. The number of digits shows which unit it is.
func (z timeParser) unix(b []byte) (stamp, bool) {
	whole, rest, _ := bytes.Cut(b, []byte("."))
	if len(whole) < 9 || len(whole) > 19 || bytes.IndexByte(rest, 'e') >= 0 || bytes.IndexByte(rest, 'E') >= 0 {
		return unixFloat(b)
	}
	n := int64(0)
	for _, c := range whole {
		if c < '0' || c > '9' {
			return stamp{}, false
		}
		n = n*10 + int64(c-'0')
	}
	unit := int64(1e9)
	switch {
	case len(whole) > 17:
		unit = 1
	case len(whole) > 14:
		unit = 1e3
	case len(whole) > 11:
		unit = 1e6
	}
	s := stamp{at: n * unit, resolution: unit, zoned: true}
	for _, c := range rest {
		if c < '0' || c > '9' {
			return stamp{}, false
		}
		if unit /= 10; unit == 0 {
			break
		}
		s.at += int64(c-'0') * unit
		s.resolution = min(unit, int64(time.Microsecond)) // a float is written without zeros at its end
	}
	return s, s.plausible()
}

// unixFloat parses 1.795288621e+09, the form of Caddy's console encoder.
func unixFloat(b []byte) (stamp, bool) {
	if len(b) > 40 {
		return stamp{}, false
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || f < 1e8 || f > 1e19 {
		return stamp{}, false
	}
	for f > 1e11 {
		f /= 1e3
	}
	seconds := int64(f)
	s := stamp{at: seconds*1e9 + int64((f-float64(seconds))*1e9), resolution: int64(time.Microsecond), zoned: true}
	return s, s.plausible()
}

// plausible reports whether the time is in the years of a log.
func (s stamp) plausible() bool {
	y := time.Unix(0, s.at).UTC().Year()
	return s.at > 0 && y >= firstYear && y <= lastYear
}

// layouts are further forms that operators configure.
var layouts = []string{
	time.ANSIC, time.UnixDate, time.RubyDate, time.RFC822, time.RFC822Z, time.RFC850, time.RFC1123, time.RFC1123Z,
	"02 Jan 2006 15:04:05 MST", "02 Jan 2006 15:04:05 -0700", "02 Jan 2006 15:04:05", "Jan 2, 2006 15:04:05", "Jan 2 2006 15:04:05",
	"02.01.2006 15:04:05", "02-01-2006 15:04:05", "02/01/2006 15:04:05", "02-Jan-2006 15:04:05", "20060102150405", "20060102T150405Z",
	"Jan 2, 2006 at 3:04pm (MST)", "2006-01-02 15:04:05 -0700 MST", "2006-01-02 15:04:05.999999999 -0700 MST",
}

// parse parses a time in any of the known forms. last is the layout that fitted last; it
// is tried before the others.
func (z timeParser) parse(b []byte, last *string) (stamp, bool) {
	if len(b) < 8 || len(b) > 64 {
		return stamp{}, false
	}
	if s, ok := z.isoLike(b); ok {
		return s, true
	}
	if s, ok := z.common(b); ok {
		return s, true
	}
	if s, ok := z.unix(b); ok {
		return s, true
	}
	if *last != "" {
		if s, ok := z.layout(b, *last); ok {
			return s, true
		}
	}
	for _, l := range layouts {
		if s, ok := z.layout(b, l); ok {
			*last = l
			return s, true
		}
	}
	return stamp{}, false
}

// layout parses a time in a layout of package time.
func (z timeParser) layout(b []byte, layout string) (stamp, bool) {
	location := z.location
	if location == nil {
		location = time.UTC
	}
	t, err := time.ParseInLocation(layout, string(b), location)
	if err != nil || t.Year() < firstYear || t.Year() > lastYear {
		return stamp{}, false
	}
	zoned := strings.Contains(layout, "MST") || strings.Contains(layout, "-0700") || strings.HasSuffix(layout, "Z")
	return stamp{at: t.UnixNano(), resolution: int64(time.Second), zoned: zoned}, true
}
