package logformat

import (
	"bytes"
	"math"
	"slices"
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

// timeParser parses the times of a log. It remembers the last time, because many
// lines have the same, and the form of it, because most logs have only one.
type timeParser struct {
	zone   *time.Location // of times without a zone; nil: UTC
	text   []byte         // the last time
	stamp  stamp          // of text
	layout string         // that fitted last
}

// The years of a log. A date in another year is not a valid time.
const (
	firstYear = 1990
	lastYear  = 2199
)

// layouts are the forms of times that servers write and operators configure. A
// fraction of a second may be in each.
var layouts = func() (list []string) {
	for _, date := range []string{"02/Jan/2006:", "2006-01-02T", "2006-01-02 ", "2006/01/02 ", "2006/01/02T"} {
		for _, clock := range []string{"15:04:05", "15:04", "15:04:", "15:04::"} {
			for _, zone := range []string{" Z0700", "", "Z07:00", "Z0700", "Z07", " Z07:00", " Z07", " UTC", " GMT"} {
				list = append(list, date+clock+zone)
			}
		}
	}
	return append(list, time.RFC1123, time.RFC1123Z)
}()

// parse parses a time in any of the known forms.
func (z *timeParser) parse(b []byte) (stamp, bool) {
	if len(b) < 8 || len(b) > 64 {
		return stamp{}, false
	}
	if bytes.Equal(b, z.text) {
		return z.stamp, true
	}
	s, ok := z.parseLayout(b, z.layout)
	if !ok {
		s, ok = parseUnix(b)
	}
	if !ok && (isDigit(b[0]) || 'A' <= b[0] && b[0] <= 'Z') {
		i := slices.IndexFunc(layouts, func(layout string) bool {
			s, ok = z.parseLayout(b, layout)
			return ok
		})
		if ok {
			z.layout = layouts[i]
		}
	}
	if ok {
		z.text, z.stamp = append(z.text[:0], b...), s
	}
	return s, ok
}

// parseLayout parses a time in a layout of package time.
func (z *timeParser) parseLayout(b []byte, layout string) (stamp, bool) {
	if layout == "" {
		return stamp{}, false
	}
	inUTC := strings.HasSuffix(layout, "UTC") || strings.HasSuffix(layout, "GMT") || strings.HasSuffix(layout, "Z")
	zone := z.zone
	if zone == nil || inUTC {
		zone = time.UTC
	}
	t, err := time.ParseInLocation(layout, view(b), zone)
	if err != nil || t.Year() < firstYear || t.Year() > lastYear {
		return stamp{}, false
	}
	zoned := inUTC || strings.Contains(layout, "07") || strings.Contains(layout, "MST")
	resolution := time.Minute
	if strings.Contains(layout, "05") {
		resolution = fractionOf(b)
	}
	return stamp{t.UnixNano(), int64(resolution), zoned}, true
}

// fractionOf returns the resolution of a time with seconds: a second, or that of the
// fraction after 15:04:05.
func fractionOf(b []byte) time.Duration {
	resolution := time.Second
	for i := 3; i < len(b); i++ {
		if (b[i] == '.' || b[i] == ',') && b[i-3] == ':' {
			for i++; i < len(b) && isDigit(b[i]) && resolution > 1; i++ {
				resolution /= 10
			}
		}
	}
	return resolution
}

// parseUnix parses seconds, milliseconds, microseconds or nanoseconds since 1970, with or
// without a fraction, also in the form of Caddy's console encoder: 1.795288621e+09. The
// result is exact to a microsecond.
func parseUnix(b []byte) (s stamp, ok bool) {
	if !isDigit(b[0]) {
		return s, false
	}
	seconds, err := strconv.ParseFloat(view(b), 64)
	if err != nil || seconds < 1e8 || seconds > 1e19 {
		return s, false
	}
	resolution := time.Second
	for ; seconds > 1e11; seconds /= 1e3 {
		resolution /= 1e3
	}
	if bytes.IndexByte(b, '.') >= 0 { // a float is written without zeros at its end
		resolution = min(resolution, time.Microsecond)
	}
	s = stamp{at: int64(math.Round(seconds*1e6)) * 1e3, resolution: int64(max(resolution, time.Microsecond)), zoned: true}
	year := time.Unix(0, s.at).UTC().Year()
	return s, year >= firstYear && year <= lastYear
}
