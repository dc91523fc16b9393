package logformat

import (
	"testing"
	"time"
)

// A time has its form's resolution. A form without a zone is in the zone of the parser.
func TestTimes(t *testing.T) {
	at := time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC)
	east := time.FixedZone("", 2*3600)
	for _, c := range []struct {
		text       string
		want       time.Time
		resolution time.Duration
		zoned      bool
	}{
		{"07/Nov/2026:12:00:00 +0000", at, time.Second, true},
		{"07/Nov/2026:12:00:00 +0200", at.Add(-2 * time.Hour), time.Second, true},
		{"07/Nov/2026:12:00:00", at.Add(-2 * time.Hour), time.Second, false},
		{"07/Nov/2026:12:00:: +0000", at, time.Minute, true},
		{"07/Nov/2026:12:00:00.123 +0000", at.Add(123 * time.Millisecond), time.Millisecond, true},
		{"2026-11-07T12:00:00.000Z", at, time.Millisecond, true},
		{"2026-11-07T14:00:00+02:00", at, time.Second, true},
		{"2026-11-07 12:00:00,500 GMT", at.Add(time.Second / 2), time.Millisecond, true},
		{"2026/11/07 14:00:00.1", at.Add(time.Second / 10), time.Second / 10, false},
		{"Sat, 07 Nov 2026 12:00:00 GMT", at, time.Second, true},
		{"1794052800", at, time.Second, true},
		{"1794052800.5", at.Add(time.Second / 2), time.Microsecond, true},
		{"1794052800123", at.Add(123 * time.Millisecond), time.Millisecond, true},
		{"1794052800000001000", at.Add(time.Microsecond), time.Microsecond, true},
		{"1.7940528e+09", at, time.Microsecond, true},
		{"31/Nov/2026:12:00:00 +0000", time.Time{}, 0, false},
		{"07/Nov/9026:12:00:00 +0000", time.Time{}, 0, false},
		{"handled request", time.Time{}, 0, false},
		{"0.000365512", time.Time{}, 0, false},
	} {
		z := timeParser{zone: east}
		for range 2 { // the second time, it is the last time
			s, ok := z.parse([]byte(c.text))
			if ok != (c.resolution > 0) || ok && s != (stamp{c.want.UnixNano(), int64(c.resolution), c.zoned}) {
				t.Errorf("%q: %v %+v, want %v %v %v", c.text, ok, s, c.want.UnixNano(), c.resolution, c.zoned)
			}
		}
	}
}
