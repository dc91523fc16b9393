package logformat

import (
	"testing"
	"time"
)

// Each format has the duration and the Referer, in its own notation and unit.
func TestDurationAndReferer(t *testing.T) {
	const (
		common = `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "https://example.org/" "Mozilla/5.0"`
		caddy  = `{"ts":1794052800.5,"logger":"http.log.access","request":{"method":"GET","uri":"/","headers":{"Referer":["https://example.org/"],"User-Agent":["Bot/1.0"]}},"status":200`
		nginx  = `{"time_iso8601":"2026-11-07T12:00:00Z","remote_addr":"192.0.2.1","request":"GET / HTTP/1.1","status":200,"http_user_agent":"Bot/1.0","http_referer":"https://example.org/"`
	)
	for _, c := range []struct {
		what, log string
		want      time.Duration // -1: not known
	}{
		{"combined", common, -1},
		{"combined, nginx's $request_time", common + " 0.250", 250 * time.Millisecond},
		{"combined, nginx's $request_time after others", common + ` "-" 12 1.000`, time.Second},
		{"combined, a whole number", common + " 250000", -1},
		{"Caddy", caddy + `,"duration":0.25}`, 250 * time.Millisecond},
		{"Caddy, text", caddy + `,"duration":"250ms"}`, 250 * time.Millisecond},
		{"Caddy, a unit that is not known", caddy + `,"duration":250}`, -1},
		{"Caddy, none", caddy + `}`, -1},
		{"nginx", nginx + `,"request_time":0.250}`, 250 * time.Millisecond},
		{"nginx, text", nginx + `,"request_time":"0.250"}`, 250 * time.Millisecond},
		{"nginx, negative", nginx + `,"request_time":"-1"}`, -1},
		{"nginx, too long", nginx + `,"request_time":"1e300"}`, -1},
		{"nginx, not a number", nginx + `,"request_time":"NaN"}`, -1},
	} {
		f := Detect([][]byte{[]byte(c.log)}, nil)
		if f == nil {
			t.Errorf("%s: the format is not detected", c.what)
			continue
		}
		var e Entry
		problem := f.Parse([]byte(c.log), &e)
		want := max(c.want, 0)
		if problem != None || e.Lasted != (c.want >= 0) || e.Duration != int64(want) || e.Referer != "https://example.org/" {
			t.Errorf("%s: %v, known %v, Referer %q (%v), want %v", c.what, time.Duration(e.Duration), e.Lasted, e.Referer, problem, c.want)
		}
	}
}
