package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// A group that names a word of a browser's User-Agent applies to people. The report
// counts their requests.
func TestGroupForABrowser(t *testing.T) {
	const agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 ExampleReader/3.1"
	text := `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "` + agent + `"` + "\n"
	o := Options{Files: []logfile.File{memory("access.log", []byte(text))}, Sites: oneSite("User-agent: ExampleReader\nDisallow: /\n"), Was: oneSite("User-agent: *\nDisallow:\n")}
	r := mustRun(t, o)
	if r.WouldHave.Browsers != 1 || r.Against.Browsers != 1 || !r.Against.Bad || r.People != 0 {
		t.Errorf("%+v %+v", r.WouldHave, r.Against)
	}
}

func TestAgainst(t *testing.T) {
	compare := func(now, was string) *Against {
		t.Helper()
		return mustRun(t, Options{Files: []logfile.File{onDisk("combined.log")}, Sites: oneSite(now), Was: oneSite(was)}).Against
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

// siteWith returns a site with a robots.txt.
func siteWith(text string, rules judge.Settings, hosts ...string) Site {
	return Site{Hosts: hosts, Rules: rules, Robots: []Version{robotsVersion("robots.txt", text)}}
}

// Each host is judged by its site in either configuration. A host without a site there
// has no handler, so everything passes; a site whose robots.txt is not known can't be
// compared.
func TestAgainstConfiguration(t *testing.T) {
	const closed, open = "User-agent: *\nDisallow: /private/\n", "User-agent: *\nDisallow:\n"
	none := judge.Settings{}
	o := Options{
		Files: vhosts("both.test", "new.test", "old.test", "www.old.test", "monitor.test", "unknown.test", "neither.test"), WasConfig: "old.caddy",
		Sites: []Site{siteWith(closed, none, "both.test"), siteWith(closed, none, "new.test"), siteWith(closed, none, "monitor.test"), siteWith(closed, none, "unknown.test")},
		Was: []Site{
			siteWith(open, none, "both.test"), siteWith(closed, none, "old.test", "*.old.test"), siteWith(closed, judge.Settings{Monitor: true}, "monitor.test"),
			{Hosts: []string{"unknown.test"}},
		},
	}
	a := mustRun(t, o).Against
	if a.Config != "old.caddy" || a.Changed != 10 || a.MoreRefused != 6 || a.MorePassed != 4 || a.Search != 3 || a.SearchWas != 2 || !a.Bad {
		t.Errorf("%+v", a)
	}
	sites, err := json.Marshal(a.Sites)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"site":"old.test, *.old.test","only":"was","requests":4,"changed":4,"changes":[{"was":"deny","now":"pass","requests":4}]},` +
		`{"site":"both.test","requests":2,"changed":2,"changes":[{"was":"pass","now":"deny","requests":2}]},` +
		`{"site":"monitor.test","requests":2,"changed":2,"changes":[{"was":"would_deny","now":"deny","requests":2}]},` +
		`{"site":"new.test","only":"now","requests":2,"changed":2,"changes":[{"was":"pass","now":"deny","requests":2}]}]`
	if string(sites) != want {
		t.Errorf("got\n%s\nwant\n%s", sites, want)
	}
	if len(a.Differences) != 8 {
		t.Fatalf("%+v", a.Differences)
	}
	for _, d := range a.Differences {
		e := d.Examples[0]
		if e.Client != "192.0.2.0/24" || e.Target != "/private/?key=…" {
			t.Errorf("not masked: %+v", e)
		}
		if (d.Site == "new.test") != (d.Was.Reason == "no_handler") || strings.HasPrefix(d.Site, "old") != (d.Now.Reason == "no_handler") || d.Now.Line+d.Was.Line == 0 {
			t.Errorf("%+v", d)
		}
	}
}

// Without configurations, modes make no difference: robots.txt files are compared.
func TestAgainstIgnoresModes(t *testing.T) {
	monitor := judge.Settings{Monitor: true}
	a := mustRun(t, Options{
		Files: vhosts("a.test"), Sites: []Site{siteWith("User-agent: *\nDisallow: /private/\n", monitor)}, Was: []Site{siteWith("User-agent: *\nDisallow:\n", monitor)},
	}).Against
	if a.Changed != 2 || a.MoreRefused != 2 || a.Differences[0].Now.Action != "deny" {
		t.Errorf("%+v", a)
	}
}

// A log without hosts is not judged by a configuration with several sites.
func TestAgainstWithoutHosts(t *testing.T) {
	const closed = "User-agent: *\nDisallow: /private/\n"
	one, two := siteWith(closed, judge.Settings{}, "a.test"), siteWith(closed, judge.Settings{}, "b.test")
	for _, tt := range []struct {
		now, was []Site
		changed  int64
	}{
		{[]Site{one}, []Site{one, two}, 0},
		{[]Site{one, two}, []Site{one}, 0},
		{[]Site{one}, []Site{}, 2},
		{nil, []Site{one}, 2},
	} {
		a := mustRun(t, Options{Files: []logfile.File{onDisk("combined.log")}, Sites: tt.now, Was: tt.was, WasConfig: "old"}).Against
		if a.Changed != tt.changed {
			t.Errorf("%d and %d sites: %+v", len(tt.now), len(tt.was), a)
		}
	}
}
