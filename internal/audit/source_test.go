package audit

import (
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// A request is judged by the version of robots.txt that was in force at its time.
func TestVersions(t *testing.T) {
	site := Site{Robots: []Version{robotsVersion("new", "User-agent: *\nDisallow: /\n"), robotsVersion("old", "User-agent: *\nDisallow: /private/\n")}}
	site.Robots[0].From = time.Date(2026, 11, 7, 12, 0, 15, 0, time.UTC)
	r := mustRun(t, Options{Files: []logfile.File{onDisk("combined.log")}, Sites: []Site{site}})
	// ExampleSpider came after the change, Googlebot and GPTBot before it.
	if r.WouldHave.Denied != 2+3 || crawlerOf(t, r, "ExampleSpider").Denied != 3 {
		t.Errorf("%+v", r.WouldHave)
	}
	if len(r.Sources) != 2 || r.Sources[0].Name != "old" || r.Sources[0].To == nil || r.Sources[1].From == nil || r.Sources[0].Requests != 7 || r.Sources[1].Requests != 7 {
		t.Errorf("sources %+v", r.Sources)
	}
}

func TestWithoutRobots(t *testing.T) {
	r := mustRun(t, Options{Files: []logfile.File{onDisk("combined.log")}})
	if r.WouldHave.Known || r.WouldHave.Refused != 0 || !warned(r, "no_robots") || len(r.Crawlers) != 5 {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(strings.Join(r.Summary, " "), "No robots.txt is known") {
		t.Errorf("summary %q", r.Summary)
	}
}

// For a search engine that sent requests before a change, the version before applies
// until it has read the file again.
func TestGrace(t *testing.T) {
	line := func(clock, target, agent string) string {
		return `192.0.2.1 - - [07/Nov/2026:` + clock + ` +0000] "GET ` + target + ` HTTP/1.1" 200 5 "-" "` + agent + `"` + "\n"
	}
	const google, gpt = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "GPTBot/1.2"
	text := line("11:00:00", "/a", google) + line("11:00:01", "/a", gpt) +
		line("12:01:00", "/a", google) + line("12:01:01", "/a", gpt) + // after the change
		line("12:02:00", "/robots.txt", google) + line("12:03:00", "/a", google)
	site := Site{Robots: []Version{robotsVersion("old", "User-agent: *\nDisallow:\n"), robotsVersion("new", "User-agent: *\nDisallow: /a\n")}}
	site.Robots[1].From = time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC)
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(text))}, Sites: []Site{site}})
	if n := crawlerOf(t, r, "Googlebot").Denied; n != 1 {
		t.Errorf("%d requests of Googlebot are denied, want only the one after its read", n)
	}
	if n := crawlerOf(t, r, "GPTBot").Denied; n != 1 {
		t.Errorf("%d requests of GPTBot are denied, want 1", n)
	}
	site.Rules.Grace = judge.GraceOff
	r = mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(text))}, Sites: []Site{site}})
	if n := crawlerOf(t, r, "Googlebot").Denied; n != 2 {
		t.Errorf("without grace, %d requests of Googlebot are denied, want 2", n)
	}
}
