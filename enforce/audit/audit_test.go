package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/caddy-robots/caddy-robots/enforce"
)

// update writes the golden files anew: go test ./enforce/audit -update
var update = flag.Bool("update", false, "write the golden files")

// oneSite is one for all hosts, with a robots.txt.
func oneSite(text string) []Site {
	return []Site{{Robots: []Version{robotsVersion("robots.txt", text)}}}
}

func robotsVersion(name, text string) Version {
	return Version{Name: name, Response: enforce.Response{Status: http.StatusOK, Body: []byte(text)}}
}

func exampleSite(t testing.TB) []Site {
	t.Helper()
	text, err := os.ReadFile("testdata/robots.txt")
	if err != nil {
		t.Fatal(err)
	}
	return oneSite(string(text))
}

// onDisk is a log of testdata.
func onDisk(name string) File {
	return File{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(filepath.Join("testdata/logs", name)) }}
}

// mustRun runs an audit that has to succeed.
func mustRun(t testing.TB, o Options) *Report {
	t.Helper()
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Lines != r.Requests+r.Unreadable+r.Other {
		t.Errorf("%d lines, but %d requests, %d unreadable and %d other", r.Lines, r.Requests, r.Unreadable, r.Other)
	}
	return r
}

// crawlerOf returns the row of a crawler.
func crawlerOf(t testing.TB, r *Report, name string) Crawler {
	t.Helper()
	for _, c := range r.Crawlers {
		if c.Name == name && !c.Rest {
			return c
		}
	}
	t.Errorf("no crawler %q", name)
	return Crawler{}
}

// ruleOf returns the rule at a line.
func ruleOf(t testing.TB, r *Report, line int) Rule {
	t.Helper()
	for _, rule := range r.Rules {
		if rule.TextLine == line {
			return rule
		}
	}
	t.Errorf("no rule at line %d", line)
	return Rule{}
}

func warned(r *Report, code string) bool {
	for _, w := range r.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

// The logs of testdata hold the same 14 requests in each format, so that each
// report has the same figures. The format is found out.
func TestFormats(t *testing.T) {
	const custom = `$host | $time_iso8601 | $remote_addr | $status | "$request" | "$http_user_agent" | $body_bytes_sent | "$http_referer"`
	for _, c := range []struct {
		file, format, given string
		other               int64
		hosts               bool
	}{
		{file: "combined.log", format: "combined"},
		{file: "vhost-combined.log", format: "vhost-combined", hosts: true},
		{file: "combined-vhost.log", format: "combined-vhost", hosts: true},
		{file: "caddy.log", format: "caddy-json", other: 1, hosts: true},
		{file: "caddy-2.0.log", format: "caddy-json", hosts: true},
		{file: "caddy-renamed.log", format: "caddy-json", hosts: true},
		{file: "caddy-console.log", format: "caddy-console", hosts: true},
		{file: "docker.log", format: "caddy-json", hosts: true},
		{file: "w3c.log", format: "w3c", other: 4, hosts: true},
		{file: "cloudfront.log", format: "w3c", other: 2, hosts: true},
		{file: "custom.log", format: "custom", given: custom, hosts: true},
		{file: "mixed.log", format: "caddy-json"},
	} {
		t.Run(c.file, func(t *testing.T) {
			r := mustRun(t, Options{Files: []File{onDisk(c.file)}, Format: c.given, Sites: exampleSite(t)})
			if r.Requests != 14 || r.Unreadable != 0 || r.Other != c.other {
				t.Errorf("%d requests, %d unreadable, %d other: %v", r.Requests, r.Unreadable, r.Other, r.UnreadableExamples)
			}
			if in := r.Inputs[0]; in.Format != c.format {
				t.Errorf("format %s, want %s", in.Format, c.format)
			}
			if r.People != 4 || r.Robots != 10 || r.Bytes != 120+5120+900+901+5120+12+100+100+7000+44+10 || r.Addresses != 8 {
				t.Errorf("%d of people, %d of robots, %d octets, %d addresses", r.People, r.Robots, r.Bytes, r.Addresses)
			}
			if w := r.WouldHave; w.Denied != 2 || w.Throttled != 1 || w.Refused != 3 || w.Search != 1 || w.Judged != 14 || !w.Known {
				t.Errorf("would have %+v", w)
			}
			google, gpt, example := crawlerOf(t, r, "Googlebot"), crawlerOf(t, r, "GPTBot"), crawlerOf(t, r, "ExampleSpider")
			if google.Requests != 3 || google.Denied != 1 || google.RobotsTxtReads != 1 || google.Purpose != "search" || len(google.Reads) != 1 || google.Reads[0].Status != 200 {
				t.Errorf("%+v", google)
			}
			if gpt.Requests != 2 || gpt.Denied != 1 || gpt.Reads[0].Status != 404 || gpt.Group != "GPTBot" || gpt.GroupLine != 7 {
				t.Errorf("%+v", gpt)
			}
			if example.Requests != 3 || example.Throttled != 1 || example.Class != "self-declared" || example.Pace == nil || example.Pace.Interval != 10 || !example.Pace.Judged {
				t.Errorf("%+v", example)
			}
			if c := crawlerOf(t, r, ""); c.Class != "library" || c.Requests != 1 {
				t.Errorf("%+v", c)
			}
			for line, want := range map[int][2]int64{3: {1, 1}, 4: {1, 0}, 5: {3, 1}, 8: {1, 1}, 11: {0, 0}} {
				if rule := ruleOf(t, r, line); rule.Bound != want[0] || rule.Denied != want[1] {
					t.Errorf("line %d bound %d and denied %d, want %v", line, rule.Bound, rule.Denied, want)
				}
			}
			if from, to := r.Period.From, r.Period.To; from == nil || !from.Truncate(time.Second).Equal(time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC)) || to.Sub(*from).Round(time.Second) != 44*time.Second {
				t.Errorf("from %v to %v", from, to)
			}
			if c.hosts && (len(r.Hosts) != 2 || r.Hosts[1].Name != "www.example.com" || r.Hosts[1].Requests != 2) {
				t.Errorf("hosts %+v", r.Hosts)
			}
			if c.file != "mixed.log" && c.hosts == warned(r, "no_hosts") {
				t.Errorf("warnings %v", r.Warnings)
			}
			referrals := map[string]int64{}
			for _, ref := range r.Referrals {
				referrals[ref.Operator] = ref.Referrals
			}
			if referrals["Google"] != 1 || referrals["OpenAI"] != 1 {
				t.Errorf("referrals %v", r.Referrals)
			}
		})
	}
}

// The whole report, as JSON has it.
func TestGolden(t *testing.T) {
	for _, name := range []string{"combined", "caddy", "w3c"} {
		t.Run(name, func(t *testing.T) {
			r := mustRun(t, Options{Files: []File{onDisk(name + ".log")}, Sites: exampleSite(t)})
			got, err := json.MarshalIndent(r, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			file := filepath.Join("testdata", name+".golden.json")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs from the report; go test -update writes it anew:\n%s", file, got)
			}
		})
	}
}

func TestCompressed(t *testing.T) {
	text, err := os.ReadFile("testdata/logs/combined.log")
	if err != nil {
		t.Fatal(err)
	}
	const copies = 2000
	text = bytes.Repeat(text, copies)
	var g, z bytes.Buffer
	gw := gzip.NewWriter(&g)
	gw.Write(text)
	gw.Close()
	zw, _ := zstd.NewWriter(&z)
	zw.Write(text)
	zw.Close()
	for name, data := range map[string][]byte{"gzip": g.Bytes(), "zstd": z.Bytes()} {
		r := mustRun(t, Options{Files: []File{memory("access.log", data)}, Sites: exampleSite(t)})
		if r.Requests != copies*14 || r.Inputs[0].Compression != name {
			t.Errorf("%s: %d requests, compression %q", name, r.Requests, r.Inputs[0].Compression)
		}
		// What comes before the end of a file that was cut off counts.
		r = mustRun(t, Options{Files: []File{memory("cut.log", data[:len(data)*3/4])}, Sites: exampleSite(t)})
		if !warned(r, "cut_input") || r.Requests < copies*14/3 || r.Requests >= copies*14 {
			t.Errorf("%s: %d requests, warnings %v", name, r.Requests, r.Warnings)
		}
	}
}

// Rotated files are read in order of time, in whatever order they are given,
// and files of the same time are interleaved.
func TestOrder(t *testing.T) {
	line := func(at time.Duration) string {
		return "192.0.2.1 - - [" + time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC).Add(at).Format("02/Jan/2006:15:04:05 -0700") + `] "GET /a HTTP/1.1" 200 1 "-" "ExampleBot/1.0 (+https://example.org)"` + "\n"
	}
	file := func(name string, from, step time.Duration) File {
		var b strings.Builder
		for i := range 20 {
			b.WriteString(line(from + time.Duration(i)*step))
		}
		return memory(name, []byte(b.String()))
	}
	site := oneSite("User-agent: *\nCrawl-delay: 10\nDisallow: /private/\n")
	rotated := []File{file("access.log", 400*time.Second, 20*time.Second), file("access.log.1", 0, 20*time.Second)}
	if r := mustRun(t, Options{Files: rotated, Sites: site}); r.WouldHave.Throttled != 0 || warned(r, "time_back") || r.Inputs[0].Name != "access.log.1" {
		t.Errorf("rotated: %+v %v", r.WouldHave, r.Warnings)
	}
	// Two servers of one site, each of which sees a polite crawler: together they
	// see one that comes every second.
	servers := []File{file("a.log", 0, 10*time.Second), file("b.log", time.Second, 10*time.Second)}
	if r := mustRun(t, Options{Files: servers, Sites: site}); r.WouldHave.Throttled != 20 || warned(r, "time_back") {
		t.Errorf("interleaved: %+v %v", r.WouldHave, r.Warnings)
	}
}

// A server writes a line when a request has ended: a slow one stands behind
// those that came later.
func TestSlowRequests(t *testing.T) {
	line := func(begin, took string) string {
		return `{"level":"info","ts":` + begin + `,"logger":"http.log.access","msg":"handled request","request":{"client_ip":"192.0.2.1","method":"GET","host":"example.com","uri":"/","headers":{"User-Agent":["ExampleBot/1.0 (+https://example.org)"]}},"duration":` + took + `,"size":1,"status":200}` + "\n"
	}
	text := line("1794052811.5", "1.5") + line("1794052815.25", "15.25") + line("1794052821.0", "1.0") // came at 10, 0 and 20 seconds
	r := mustRun(t, Options{Files: []File{memory("access.log", []byte(text))}, Sites: oneSite("User-agent: *\nCrawl-delay: 10\n")})
	if r.WouldHave.Throttled != 0 || crawlerOf(t, r, "ExampleBot").Pace.Requests != 3 {
		t.Errorf("%+v", r.WouldHave)
	}
}

func TestWithoutAgents(t *testing.T) {
	caddy := strings.Repeat(`{"level":"info","ts":1794052811.5,"logger":"http.log.access","msg":"handled request","request":{"client_ip":"192.0.2.1","method":"GET","host":"example.com","uri":"/"},"duration":1.5,"size":1,"status":200}`+"\n", 3)
	w3c := "#Fields: date time c-ip cs-method cs-uri-stem sc-status\n2026-11-07 12:00:00 192.0.2.1 GET / 200\n"
	hyphens := strings.Repeat(`192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-"`+"\n", 100)
	for name, file := range map[string]File{
		"common": onDisk("common.log"), "caddy": memory("caddy", []byte(caddy)), "w3c": memory("w3c", []byte(w3c)), "hyphens": memory("hyphens", []byte(hyphens)),
	} {
		_, err := Run(context.Background(), Options{Files: []File{file}})
		if err == nil || !strings.Contains(err.Error(), "has no User-Agents") || !strings.Contains(err.Error(), file.Name) || !IsNoLog(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Run(context.Background(), Options{Files: []File{memory("notes.txt", []byte("Dear diary,\ntoday nothing happened.\n"))}}); err == nil || !IsNoLog(err) {
		t.Errorf("a text: %v", err)
	}
	if r := mustRun(t, Options{Files: []File{memory("empty.log", nil)}}); r.Requests != 0 || r.Summary[0] == "" {
		t.Errorf("an empty log: %+v", r)
	}
}

// Each version of a robots.txt counts for its time.
func TestVersions(t *testing.T) {
	site := Site{Robots: []Version{robotsVersion("new", "User-agent: *\nDisallow: /\n"), robotsVersion("old", "User-agent: *\nDisallow: /private/\n")}}
	site.Robots[0].From = time.Date(2026, 11, 7, 12, 0, 15, 0, time.UTC)
	r := mustRun(t, Options{Files: []File{onDisk("combined.log")}, Sites: []Site{site}})
	// ExampleSpider came after the change, Googlebot and GPTBot before it.
	if r.WouldHave.Denied != 2+3 || crawlerOf(t, r, "ExampleSpider").Denied != 3 {
		t.Errorf("%+v", r.WouldHave)
	}
	if len(r.Sources) != 2 || r.Sources[0].Name != "old" || r.Sources[0].To == nil || r.Sources[1].From == nil || r.Sources[0].Requests != 7 || r.Sources[1].Requests != 7 {
		t.Errorf("sources %+v", r.Sources)
	}
}

func TestWithoutRobots(t *testing.T) {
	r := mustRun(t, Options{Files: []File{onDisk("combined.log")}})
	if r.WouldHave.Known || r.WouldHave.Refused != 0 || !warned(r, "no_robots") || len(r.Crawlers) != 5 {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(strings.Join(r.Summary, " "), "No robots.txt is known") {
		t.Errorf("summary %q", r.Summary)
	}
}

// Hosts have the rules of their own site.
func TestSites(t *testing.T) {
	sites := []Site{
		{Hosts: []string{"example.com"}, Robots: []Version{robotsVersion("a", "User-agent: *\nDisallow: /private/\n")}},
		{Hosts: []string{"*.example.com"}, Rules: enforce.Rules{HTTPClients: true}, Robots: []Version{robotsVersion("b", "User-agent: *\nAllow: /\n")}},
	}
	r := mustRun(t, Options{Files: []File{onDisk("caddy.log")}, Sites: sites})
	if r.WouldHave.Denied != 2 || crawlerOf(t, r, "GPTBot").Denied != 0 || r.Sources[0].Requests != 12 || r.Sources[1].Requests != 2 {
		t.Errorf("%+v %+v", r.WouldHave, r.Sources)
	}
	r = mustRun(t, Options{Files: []File{onDisk("caddy.log")}, Sites: sites[:1]})
	if r.WouldHave.Judged != 12 || !warned(r, "partly_judged") || r.Hosts[1].Known {
		t.Errorf("%+v %+v", r.WouldHave, r.Hosts)
	}
}

// What names a word of a browser's User-Agent binds people; the report says so.
func TestNamedBrowsers(t *testing.T) {
	const agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 ExampleReader/3.1"
	text := `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "` + agent + `"` + "\n"
	site := oneSite("User-agent: ExampleReader\nDisallow: /\n")
	site[0].Was = []Version{robotsVersion("old", "User-agent: *\nDisallow:\n")}
	r := mustRun(t, Options{Files: []File{memory("access.log", []byte(text))}, Sites: site, Compare: true})
	if r.WouldHave.Browsers != 1 || r.Against.Browsers != 1 || !r.Against.Bad || r.People != 0 {
		t.Errorf("%+v %+v", r.WouldHave, r.Against)
	}
}

func TestAgainst(t *testing.T) {
	compare := func(now, was string) *Against {
		t.Helper()
		site := oneSite(now)
		site[0].Was = []Version{robotsVersion("old.txt", was)}
		return mustRun(t, Options{Files: []File{onDisk("combined.log")}, Sites: site, Compare: true}).Against
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

// Nothing of clients' addresses and of queries' values is in a report, unless it
// is asked for.
func TestMasked(t *testing.T) {
	site := oneSite("User-agent: *\nDisallow: /\n")
	log := `192.0.2.77 - - [07/Nov/2026:12:00:00 +0000] "GET /x?token=sesame&other=simsim HTTP/1.1" 200 5 "-" "ExampleBot/1.0 (+https://example.org)"
2001:db8:7:8::99 - - [07/Nov/2026:12:01:00 +0000] "GET /y?sesame HTTP/1.1" 200 5 "-" "ExampleBot/1.0 (+https://example.org)"
192.0.2.78 - - [07/Nov/2026:12:01:00 +0000] "GET /y?token=sesame HTTP/1.1" x200
2001:db8:7:8::99 - - [07/Nov/2026:12:01:00 +0000] "GET /y?token=sesame HTTP/1.1" x200
`
	text := func(full bool) string {
		r := mustRun(t, Options{Files: []File{memory("access.log", []byte(log))}, Sites: site, Full: full})
		if r.Masked == full || r.Unreadable != 2 {
			t.Errorf("masked %v, %d unreadable", r.Masked, r.Unreadable)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	masked := text(false)
	for _, secret := range []string{"192.0.2.77", "192.0.2.78", "7:8::99", "sesame", "simsim"} {
		if strings.Contains(masked, secret) {
			t.Errorf("%q is in %s", secret, masked)
		}
		if !strings.Contains(text(true), secret) {
			t.Errorf("%q is not in the full report", secret)
		}
	}
	if !strings.Contains(masked, "token=") || !strings.Contains(masked, "192.0.2.0/24") {
		t.Errorf("too much is masked: %s", masked)
	}
}

// A search engine that was there before a change goes by the version before,
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
	r := mustRun(t, Options{Files: []File{memory("access.log", []byte(text))}, Sites: []Site{site}})
	if n := crawlerOf(t, r, "Googlebot").Denied; n != 1 {
		t.Errorf("%d requests of Googlebot are denied, want that after its read alone", n)
	}
	if n := crawlerOf(t, r, "GPTBot").Denied; n != 1 {
		t.Errorf("%d requests of GPTBot are denied", n)
	}
	site.Rules.Grace = enforce.GraceOff
	r = mustRun(t, Options{Files: []File{memory("access.log", []byte(text))}, Sites: []Site{site}})
	if n := crawlerOf(t, r, "Googlebot").Denied; n != 2 {
		t.Errorf("without grace, %d requests of Googlebot are denied", n)
	}
}
