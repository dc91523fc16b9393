package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

const (
	hostilePrefix = `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET /private/ HTTP/1.1" 200 5 "-" `
	hostileGood   = hostilePrefix + `"ExampleBot/1.0 (+https://example.org)"`
)

// A line is read, or it is counted as unreadable with the reason.
func TestHostileLines(t *testing.T) {
	for _, c := range []struct {
		name, line, reason string
		agent              string // the crawler that the line counts for
		target             string // in the report
	}{
		{name: "quotation marks without escapes", line: hostilePrefix + `"Foo "Bar" ExampleBot/1.0 "x" (+https://example.org)"`, agent: "ExampleBot"},
		{name: "quotation marks with Apache's escapes", line: hostilePrefix + `"\"ExampleBot/1.0\" (+https://example.org)"`, agent: "ExampleBot"},
		{name: "quotation marks with nginx's escapes", line: hostilePrefix + `"\x22ExampleBot/1.0\x22 (+https://example.org)"`, agent: "ExampleBot"},
		{name: "a quotation mark in the target", line: `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET /private/"x" y HTTP/1.1" 200 5 "-" "ExampleBot/1.0 (+https://example.org)"`, agent: "ExampleBot", target: `/private/"x" y`},
		{name: "blanks in the target", line: `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET /private/a b HTTP/1.1" 200 5 "-" "ExampleBot/1.0 (+https://example.org)"`, agent: "ExampleBot", target: "/private/a b"},
		{name: "a user with blanks and brackets", line: `192.0.2.1 - a [b c [07/Nov/2026:12:00:00 +0000] "GET /private/ HTTP/1.1" 200 5 "-" "ExampleBot/1.0 (+https://example.org)"`, agent: "ExampleBot"},
		{name: "octets that are not UTF-8", line: hostilePrefix + "\"ExampleBot/1.0 (+https://example.org) \xff\xfe\"", agent: "ExampleBot"},
		{name: "control octets", line: hostilePrefix + "\"ExampleBot/1.0 (+https://example.org) \x1b[2J\"", agent: "ExampleBot"},
		{name: "NUL octets of a rotation", line: "\x00\x00\x00" + hostileGood, agent: "ExampleBot"},
		{name: "a line of half a megabyte", line: hostilePrefix + `"ExampleBot/1.0 (+https://example.org)` + strings.Repeat("x", 1<<19) + `"`, agent: "ExampleBot"},
		{name: "the absolute form", line: `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET http://other.test/private/ HTTP/1.1" 200 5 "-" "ExampleBot/1.0 (+https://example.org)"`, agent: "ExampleBot", target: "/private/"},
		{name: "HTTP/0.9", line: `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET /private/" 200 5 "-" "ExampleBot/1.0 (+https://example.org)"`, agent: "ExampleBot"},
		{name: "HTTP/2", line: `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET /private/ HTTP/2" 200 5 "-" "ExampleBot/1.0 (+https://example.org)"`, agent: "ExampleBot", target: "/private/"},
		{name: "no size", line: `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET /private/ HTTP/1.1" 304 - "-" "ExampleBot/1.0 (+https://example.org)"`, agent: "ExampleBot"},
		{name: "seconds that were removed", line: `192.0.2.1 - - [07/Nov/2026:12:00:: +0000] "GET /private/ HTTP/1.1" 200 5 "-" "ExampleBot/1.0 (+https://example.org)"`, agent: "ExampleBot"},
		{name: "several proxies", line: `192.0.2.1, 10.0.0.1 - - [07/Nov/2026:12:00:00 +0000] "GET /private/ HTTP/1.1" 200 5 "-" "ExampleBot/1.0 (+https://example.org)"`, agent: "ExampleBot"},

		{name: "NUL", line: hostilePrefix + "\"ExampleBot\x00/1.0\"", reason: "has a NUL octet"},
		{name: "longer than 1 MiB", line: hostilePrefix + `"` + strings.Repeat("x", 3<<20) + `"`, reason: "longer than 1 MiB"},
		{name: "cut in the User-Agent", line: hostilePrefix + `"ExampleBot/1.0 (+htt`, reason: "ends too early"},
		{name: "cut in the time", line: `192.0.2.1 - - [07/Nov/2026:12:0`, reason: "ends too early"},
		{name: "cut in the request", line: `192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET /priv`, reason: "ends too early"},
		{name: "no time", line: strings.Replace(hostileGood, "07/Nov/2026:12:00:00 +0000", "yesterday", 1), reason: "has no valid time"},
		{name: "a day that does not exist", line: strings.Replace(hostileGood, "07/Nov", "31/Nov", 1), reason: "has no valid time"},
		{name: "a year far in the future", line: strings.Replace(hostileGood, "2026", "9026", 1), reason: "has no valid time"},
		{name: "no status", line: strings.Replace(hostileGood, `" 200 5`, `" 2000 5`, 1), reason: "has no valid status"},
		{name: "prose", line: "this is no line of a log, however long it may be", reason: "has no valid request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Repeat(strings.Replace(hostileGood, "ExampleBot", "OtherBot", 1)+"\n", 5) + c.line
			sites := oneSite("User-agent: *\nDisallow: /private/\n")
			sites[0].Rules.Strict = true // a line with a user is judged too
			r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(text))}, Sites: sites, Full: true})
			if c.reason != "" {
				if r.Unreadable != 1 || r.Requests != 5 || r.UnreadableExamples[0].Reason != c.reason || r.UnreadableExamples[0].LineNo != 6 || r.UnreadableReasons[0].Name != c.reason {
					t.Errorf("%d unreadable: %v", r.Unreadable, r.UnreadableExamples)
				}
				return
			}
			if r.Unreadable != 0 || r.Requests != 6 {
				t.Fatalf("%d requests, %d unreadable: %v", r.Requests, r.Unreadable, r.UnreadableExamples)
			}
			got := crawlerOf(t, r, c.agent)
			if got.Requests != 1 || got.Denied != 1 {
				t.Errorf("%+v", got)
			}
			if c.target != "" && got.Refused[0].Target != c.target {
				t.Errorf("target %q, want %q", got.Refused[0].Target, c.target)
			}
		})
	}
}

func TestHostileCaddyLines(t *testing.T) {
	const good = `{"level":"info","ts":1794052811.5,"logger":"http.log.access","msg":"handled request","request":{"client_ip":"192.0.2.1","method":"GET","host":"example.com","uri":"/private/","headers":{"User-Agent":["ExampleBot/1.0 (+https://example.org)"]}},"duration":1.5,"size":1,"status":200}`
	for _, c := range []struct {
		name, line, reason string
		other              bool
		agent              string
	}{
		{name: "escapes", line: strings.Replace(good, "ExampleBot", `\u0022\ud83d\ude00\" Ex\u0061mpleSpider`, 1), agent: "ExampleSpider"},
		{name: "two User-Agents", line: strings.Replace(good, `["ExampleBot/1.0`, `["Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0","ExampleSpider/1.0`, 1), agent: "ExampleSpider"},
		{name: "41 User-Agents", line: strings.Replace(good, `["ExampleBot/1.0 (+https://example.org)"`, `["x"`+strings.Repeat(`,"Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"`, 40), 1), agent: "several-user-agents"},
		{name: "a prefix of a log driver", line: "<6>" + strings.Replace(good, "ExampleBot", "ExampleSpider", 1), agent: "ExampleSpider"},
		{name: "a key twice", line: strings.Replace(strings.Replace(good, "ExampleBot", "ExampleSpider", 1), `"method":"GET"`, `"method":"PUT","method":"GET"`, 1), agent: "ExampleSpider"},
		{name: "values of other kinds", line: strings.Replace(strings.Replace(good, "ExampleBot", "ExampleSpider", 1), `"method":"GET"`, `"method":null,"proto":[1,{"a":"}"}],"tls":{"x":[[]]}`, 1), agent: "ExampleSpider"},
		{name: "another logger", line: `{"level":"debug","ts":1742400753.05,"logger":"http.handlers.reverse_proxy","msg":"upstream roundtrip","request":{"method":"GET","uri":"/","headers":{"User-Agent":["x"]}},"status":200}`, other: true},
		{name: "a line about the start", line: `{"level":"info","ts":1742400753.05,"msg":"serving initial configuration"}`, other: true},
		{name: "cut", line: good[:len(good)-40], reason: "ends too early"},
		{name: "invalid JSON", line: `{"level":"info",ts}`, reason: "is not valid JSON"},
		{name: "100,000 nested arrays", line: `{"request":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `,"msg":"handled request"}`, reason: "has no valid request"},
		{name: "a request that is a string", line: `{"ts":1742400753.05,"msg":"handled request","request":"x","status":200}`, reason: "has no valid request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Repeat(good+"\n", 5) + c.line + "\n"
			r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(text))}, Sites: oneSite("User-agent: *\nDisallow: /private/\n"), Full: true})
			switch {
			case c.reason != "":
				if r.Unreadable != 1 || r.UnreadableExamples[0].Reason != c.reason {
					t.Errorf("%d unreadable: %v", r.Unreadable, r.UnreadableExamples)
				}
			case c.other:
				if r.Other != 1 || r.Requests != 5 {
					t.Errorf("%d other, %d requests", r.Other, r.Requests)
				}
			default:
				if got := crawlerOf(t, r, c.agent); r.Unreadable != 0 || got.Denied != 1 {
					t.Errorf("%+v %v", got, r.UnreadableExamples)
				}
			}
		})
	}
}

// fuzzed runs an audit of any octets and checks what must be true for every report.
func fuzzed(t *testing.T, head string, data []byte) {
	text := append([]byte(head), data...)
	r, err := Run(context.Background(), Options{Files: []logfile.File{memory("fuzz.log", text)}, Sites: oneSite("User-agent: *\nDisallow: /a\nCrawl-delay: 5\nVisit-time: 0600-0900\n")})
	if err != nil {
		return
	}
	lines := int64(bytes.Count(text, []byte("\n")))
	if n := len(text); n > 0 && text[n-1] != '\n' {
		lines++
	}
	if r.Lines != lines || r.Lines != r.Requests+r.Unreadable+r.Other || r.Requests != r.People+r.Robots {
		t.Errorf("%d lines: %d, %d requests, %d unreadable, %d other, %d people, %d robots", lines, r.Lines, r.Requests, r.Unreadable, r.Other, r.People, r.Robots)
	}
	sum := int64(0)
	for _, c := range r.Crawlers {
		sum += c.Requests
		if c.Denied+c.Throttled > c.Requests {
			t.Errorf("%+v", c)
		}
	}
	if sum != r.Robots || r.WouldHave.Refused > r.Robots || r.Costs.All.Octets < 0 {
		t.Errorf("the crawlers have %d of %d requests of robots; %d refused, %d octets", sum, r.Robots, r.WouldHave.Refused, r.Costs.All.Octets)
	}
	b, err := json.Marshal(r)
	if err != nil || !utf8.Valid(b) {
		t.Errorf("the report is not valid JSON: %v", err)
	}
}

func FuzzAudit(f *testing.F) {
	f.Add([]byte(hostileGood))
	f.Add([]byte("example.com:443 " + hostileGood + ` 0.003 "x" example.com`))
	f.Add([]byte(`{"log":"{\"request\":{\"uri\":\"/\"},\"status\":200}"}`))
	f.Add([]byte(`{"msec":"1794052811.5","request_uri":"/a","status":200,"http_user_agent":"x\u0022"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzed(t, "", data)
		fuzzed(t, hostileGood+"\n", data)
	})
}
