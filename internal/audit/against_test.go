package audit

import (
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// A group that names a word of a browser's User-Agent applies to people. The report
// counts their requests.
func TestGroupForABrowser(t *testing.T) {
	const agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 ExampleReader/3.1"
	text := `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "` + agent + `"` + "\n"
	site := oneSite("User-agent: ExampleReader\nDisallow: /\n")
	site[0].Was = []Version{robotsVersion("old", "User-agent: *\nDisallow:\n")}
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(text))}, Sites: site, Compare: true})
	if r.WouldHave.Browsers != 1 || r.Against.Browsers != 1 || !r.Against.Bad || r.People != 0 {
		t.Errorf("%+v %+v", r.WouldHave, r.Against)
	}
}

func TestAgainst(t *testing.T) {
	compare := func(now, was string) *Against {
		t.Helper()
		site := oneSite(now)
		site[0].Was = []Version{robotsVersion("old.txt", was)}
		return mustRun(t, Options{Files: []logfile.File{onDisk("combined.log")}, Sites: site, Compare: true}).Against
	}
	const loose, strict = "User-agent: *\nDisallow: /nothing/\n", "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n"
	a := compare(strict, loose)
	if a.Changed != 3 || a.MoreRefused != 3 || a.Search != 2 || a.SearchWas != 0 || !a.Bad || a.Browsers != 0 {
		t.Errorf("%+v", a)
	}
	first := a.Differences[0]
	if first.Crawler != "Googlebot" || first.Requests != 2 || first.Now.Line != 2 || first.Was.Action != "pass" || len(first.Examples) != 2 || first.Examples[0].LineNo != 4 {
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
