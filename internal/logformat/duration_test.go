package logformat

import (
	"strings"
	"testing"
	"time"
)

// Each format has the duration and the Referer, in its own notation and unit.
func TestDurationAndReferer(t *testing.T) {
	const (
		common = `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "https://example.org/" "Mozilla/5.0"`
		iis    = "#Fields: date time c-ip cs-method cs-uri-stem sc-status cs(User-Agent) cs(Referer) time-taken\n2026-11-07 12:00:00 192.0.2.1 GET / 200 Bot/1.0 https://example.org/ "
		caddy  = `{"ts":1794052800.5,"logger":"http.log.access","request":{"method":"GET","uri":"/","headers":{"Referer":["https://example.org/"],"User-Agent":["Bot/1.0"]}},"status":200`
		own    = `$remote_addr [$time_iso8601] "$request" "$http_user_agent" "$http_referer" `
		line   = `192.0.2.1 [2026-11-07T12:00:00Z] "GET / HTTP/1.1" "Bot/1.0" "https://example.org/" `
	)
	for _, c := range []struct {
		what, notation, log string
		want                time.Duration // -1: not known
	}{
		{"combined", "", common, -1},
		{"combined, nginx's $request_time", "", common + " 0.250", 250 * time.Millisecond},
		{"combined, nginx's $request_time after others", "", common + ` "-" 12 1.000`, time.Second},
		{"combined, a whole number", "", common + " 250000", -1},
		{"IIS: milliseconds", "", iis + "250", 250 * time.Millisecond},
		{"CloudFront: seconds", "", iis + "0.250", 250 * time.Millisecond},
		{"IIS: not known", "", iis + "-", -1},
		{"Caddy", "", caddy + `,"duration":0.25}`, 250 * time.Millisecond},
		{"Caddy, text", "", caddy + `,"duration":"250ms"}`, 250 * time.Millisecond},
		{"Caddy, a unit that is not known", "", caddy + `,"duration":250}`, -1},
		{"Caddy, none", "", caddy + `}`, -1},
		{"seconds", own + "$request_time", line + "0.250", 250 * time.Millisecond},
		{"milliseconds", own + "$request_time_ms", line + "250", 250 * time.Millisecond},
		{"microseconds, Apache's %D", own + "$request_time_us", line + "250000", 250 * time.Millisecond},
		{"negative", own + "$request_time", line + "-1", -1},
		{"too long", own + "$request_time", line + "1e300", -1},
		{"not a number", own + "$request_time", line + "NaN", -1},
	} {
		var f *Format
		if c.notation == "" {
			var sample [][]byte
			for l := range strings.SplitSeq(c.log, "\n") {
				sample = append(sample, []byte(l))
			}
			f = Detect(sample, nil)
		} else {
			f, _ = Custom(c.notation, nil)
		}
		if f == nil {
			t.Errorf("%s: the format is not detected", c.what)
			continue
		}
		var e Entry
		problem := NoRequest
		for l := range strings.SplitSeq(c.log, "\n") {
			e.Reset()
			problem = f.Parse([]byte(l), &e)
		}
		want := max(c.want, 0)
		if problem != None || e.Lasted != (c.want >= 0) || e.Duration != int64(want) || e.Referer != "https://example.org/" {
			t.Errorf("%s: %v, known %v, Referer %q (%v), want %v", c.what, time.Duration(e.Duration), e.Lasted, e.Referer, problem, c.want)
		}
	}
}
