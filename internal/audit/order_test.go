package audit

import (
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// Files are read in order of time, in whatever order they are given. Files whose times
// overlap are interleaved.
func TestFilesAreReadInOrderOfTime(t *testing.T) {
	line := func(at time.Duration) string {
		return "192.0.2.1 - - [" + time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC).Add(at).Format("02/Jan/2006:15:04:05 -0700") + `] "GET /a HTTP/1.1" 200 1 "-" "ExampleBot/1.0 (+https://example.org)"` + "\n"
	}
	file := func(name string, from, step time.Duration) logfile.File {
		var b strings.Builder
		for i := range 20 {
			b.WriteString(line(from + time.Duration(i)*step))
		}
		return memory(name, []byte(b.String()))
	}
	site := oneSite("User-agent: *\nCrawl-delay: 10\nDisallow: /private/\n")
	rotated := []logfile.File{file("access.log", 400*time.Second, 20*time.Second), file("access.log.1", 0, 20*time.Second)}
	if r := mustRun(t, Options{Files: rotated, Sites: site}); r.WouldHave.Throttled != 0 || r.Inputs[0].Name != "access.log.1" {
		t.Errorf("rotated: %+v %v", r.WouldHave, r.Warnings)
	}
	// At each of two servers of one site, the crawler keeps to the delay. Together they
	// get two requests within a second.
	servers := []logfile.File{file("a.log", 0, 10*time.Second), file("b.log", time.Second, 10*time.Second)}
	if r := mustRun(t, Options{Files: servers, Sites: site}); r.WouldHave.Throttled != 20 {
		t.Errorf("interleaved: %+v %v", r.WouldHave, r.Warnings)
	}
}

// A server writes a line when a request has ended, so that a slow request is after
// requests that began later.
func TestSlowRequestsAreJudgedByTheirBegin(t *testing.T) {
	line := func(begin, took string) string {
		return `{"level":"info","ts":` + begin + `,"logger":"http.log.access","msg":"handled request","request":{"client_ip":"192.0.2.1","method":"GET","host":"example.com","uri":"/","headers":{"User-Agent":["ExampleBot/1.0 (+https://example.org)"]}},"duration":` + took + `,"size":1,"status":200}` + "\n"
	}
	text := line("1794052811.5", "1.5") + line("1794052815.25", "15.25") + line("1794052821.0", "1.0") // they began at 10, 0 and 20 seconds
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(text))}, Sites: oneSite("User-agent: *\nCrawl-delay: 10\n")})
	if r.WouldHave.Throttled != 0 || ruleOf(t, r, 2).Applied != 3 {
		t.Errorf("%+v", r.WouldHave)
	}
}
