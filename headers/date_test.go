package headers

import (
	"strings"
	"testing"
)

// TestDates checks that a date in any supported form is read completely, and
// written without a comma: RFC 822, section 5; RFC 850, section 2.1.4; ISO 8601
// as in RFC 3339.
func TestDates(t *testing.T) {
	const want = "unavailable_after: 2027-06-05T13:30:00Z"
	for _, in := range []string{
		"Sat, 05 Jun 27 13:30:00 GMT",
		"5 Jun 27 13:30 UT",
		"Sat, 05 Jun 2027 13:30:00 +0000",
		"05 Jun 2027 09:30 EDT",
		"Sat, 05 Jun 2027 05:30:00 PST",
		"Sat 05 Jun 2027 13:30:00 UTC",
		"Saturday, 05-Jun-27 13:30:00 GMT",
		"Saturday, 5-Jun-2027 14:30:00 +0100",
		"2027-06-05T13:30:00Z",
		"2027-06-05T13:30:00.250Z",
		"2027-06-05T15:30:00+02:00",
		"2027-06-05T15:30+0200",
		"2027-06-05T15:30+02",
		"2027-06-05 13:30:00",
		"2027-06-05 13:30",
		"20270605T133000Z",
	} {
		for _, list := range []string{
			"unavailable_after: " + in, "unavailable_after:" + in + ", noindex", "noindex, unavailable_after: " + in + ",nofollow",
		} {
			d, err := ParseDirectives(list)
			if err != nil {
				t.Errorf("ParseDirectives(%q): %v", list, err)
				continue
			}
			if got := d.keep(unavailableAfter).String(); got != want {
				t.Errorf("ParseDirectives(%q): %s, want %s", list, got, want)
			}
			if strings.Contains(list, "noindex") != d.Has("noindex") || strings.Contains(list, "nofollow") != d.Has("nofollow") {
				t.Errorf("ParseDirectives(%q) = %q", list, d)
			}
			if again, err := ParseDirectives(d.String()); err != nil || again != d {
				t.Errorf("ParseDirectives(%q) = %v, %v, want %v", d.String(), again, err, d)
			}
		}
	}
}
