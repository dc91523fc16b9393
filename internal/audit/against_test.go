package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// A group that names a word of a browser's User-Agent applies to people. The report
// counts their requests.
func TestGroupForABrowser(t *testing.T) {
	const agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 ExampleReader/3.1"
	text := `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "` + agent + `"` + "\n"
	o := Options{Files: []logfile.File{memory("access.log", []byte(text))}, Sites: comparedSite("User-agent: ExampleReader\nDisallow: /\n", "User-agent: *\nDisallow:\n"), Against: true}
	r := mustRun(t, o)
	if r.WouldHave.Browsers != 1 || r.Against.Browsers != 1 || !r.Against.Bad || r.People != 0 {
		t.Errorf("%+v %+v", r.WouldHave, r.Against)
	}
}

func TestAgainst(t *testing.T) {
	compare := func(now, was string) *Against {
		t.Helper()
		return mustRun(t, Options{Files: []logfile.File{onDisk("combined.log")}, Sites: comparedSite(now, was), Against: true}).Against
	}
	const loose, strict = "User-agent: *\nDisallow: /nothing/\n", "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n"
	a := compare(strict, loose)
	if a.Changed != 3 || a.MoreRefused != 3 || a.Search != 2 || a.SearchWas != 0 || !a.Bad || a.Browsers != 0 {
		t.Errorf("%+v", a)
	}
	first := a.Differences[0]
	if first.Crawler != "Googlebot" || first.Requests != 2 || first.Verdict.Line != 2 || first.Was.Action != "pass" || first.Example.Line != 4 {
		t.Errorf("%+v", first)
	}
	if a = compare(loose, strict); a.Changed != 3 || a.MorePassed != 3 || a.Bad {
		t.Errorf("%+v", a)
	}
	if a = compare(strict, strict); a.Changed != 0 || a.Bad || a.Search != 2 || a.SearchWas != 2 || len(a.Differences) != 0 {
		t.Errorf("%+v", a)
	}
	if a = compare("User-agent: GPTBot\nDisallow: /\n", loose); a.Changed != 1 || a.Bad {
		t.Errorf("a crawler that is no search engine: %+v", a)
	}
}

// vhosts has a request of GPTBot and of Googlebot to each of several hosts.
func vhosts(hosts ...string) []logfile.File {
	var text strings.Builder
	for _, host := range hosts {
		for i, agent := range []string{"GPTBot/1.2", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"} {
			fmt.Fprintf(&text, `%s 192.0.2.%d - - [07/Nov/2026:12:00:00 +0000] "GET /private/?key=secret HTTP/1.1" 200 5 "-" "%s"`+"\n", host, i+1, agent)
		}
	}
	return []logfile.File{memory("access.log", []byte(text.String()))}
}

// Modes make no difference: robots.txt files are compared.
func TestAgainstIgnoresModes(t *testing.T) {
	sites := comparedSite("User-agent: *\nDisallow: /private/\n", "User-agent: *\nDisallow:\n")
	sites[0].Rules.Monitor = true
	a := mustRun(t, Options{Files: vhosts("a.test"), Sites: sites, Against: true}).Against
	if a.Changed != 2 || a.MoreRefused != 2 || a.Differences[0].Action != "deny" {
		t.Errorf("%+v", a)
	}
}
