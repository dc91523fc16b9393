package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/mail"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/logfile"
	"github.com/caddy-robots/caddy-robots/internal/logformat"
)

// begin is the time of the first line of logs.
var begin = time.Date(2026, 11, 23, 14, 3, 0, 0, time.UTC)

// line is a line of Caddy's log.
type line struct {
	after                          time.Duration // since begin
	host, client, target, agent    string
	status                         int
	action, reason, rule, verified string // without an action, the log has no decision
	version                        string
	crawler, class, layer          string // default: GPTBot, crawler, file
}

const gptbot = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"

func (l *line) text() string {
	if l.agent == "" {
		l.agent = gptbot
	}
	request := map[string]any{
		"remote_ip": l.client, "client_ip": l.client, "remote_port": "40001", "proto": "HTTP/2.0", "method": "GET", "host": l.host, "uri": l.target,
		"headers": map[string]any{"User-Agent": []string{l.agent}, "Referer": []string{"https://referer.example/"}, "Cookie": []string{"REDACTED-COOKIE"}},
	}
	object := map[string]any{
		"level": "info", "ts": float64(begin.Add(l.after).UnixMicro()) / 1e6, "logger": "http.log.access.log0", "msg": "handled request",
		"request": request, "status": l.status, "size": 5,
	}
	if l.action != "" {
		or := func(s, other string) string {
			if s == "" {
				return other
			}
			return s
		}
		object["robots"] = map[string]any{
			"crawler": or(l.crawler, "GPTBot"), "class": or(l.class, "crawler"), "evidence": "token", "purpose": "ai-training", "group": "*",
			"action": l.action, "reason": l.reason, "rule": l.rule, "layer": or(l.layer, "file"), "line": 2, "version": l.version, "verified": or(l.verified, "none"),
		}
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return string(text) + "\n"
}

// read and denied are lines of GPTBot at a.test.
func read(after time.Duration, client, version string) line {
	return line{after: after, host: "a.test", client: client, target: "/robots.txt", status: 200, action: "pass", reason: "robots_txt", version: version}
}

func denied(after time.Duration, client, version string) line {
	return line{after: after, host: "a.test", client: client, target: "/private/x?q=secret", status: 403, action: "deny", reason: "disallowed",
		rule: "Disallow: /private/", version: version}
}

// query returns a query of a log.
func query(lines ...line) *Query {
	var text strings.Builder
	for i := range lines {
		text.WriteString(lines[i].text())
	}
	return queryText(text.String())
}

func queryText(text string) *Query {
	return &Query{Options: audit.Options{Files: []logfile.File{{Name: "access.log", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}}}}}
}

// What Caddy refused is counted by its own log, for each host and line.
func TestRefusals(t *testing.T) {
	t.Parallel()
	other := denied(4*time.Second, "192.0.2.9", "v1")
	other.host = "b.test"
	hidden := line{after: 5 * time.Second, host: "a.test", client: "192.0.2.9", target: "/hidden/", status: 404, action: "deny", reason: "hidden", layer: "hidden"}
	lines := []line{
		read(0, "192.0.2.1", "v1"), denied(time.Second, "192.0.2.1", "v1"), denied(2*time.Second, "192.0.2.2", "v1"),
		{after: 3 * time.Second, host: "a.test", client: "192.0.2.3", target: "/private/", agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", status: 403},
		other, hidden,
		{after: 6 * time.Second, host: "a.test", client: "192.0.2.1", target: "/x", status: 200, action: "would_throttle", reason: "crawl_delay", rule: "Crawl-delay: 9"},
	}
	for _, tt := range []struct {
		name                              string
		set                               func(*Query)
		requests, decided, refused, would int64
		rows                              string
		shown                             int
		nearest                           string
	}{
		{"everything", func(*Query) {}, 7, 6, 4, 1,
			"2 a.test disallowed Disallow: /private/; 1 b.test disallowed Disallow: /private/; 1 a.test hidden ; 1 a.test crawl_delay Crawl-delay: 9", 5, ""},
		{"a host", func(q *Query) { q.Hosts = []string{"b.test"} }, 1, 1, 1, 0, "1 b.test disallowed Disallow: /private/", 1, ""},
		{"a client", func(q *Query) { q.Clients = []netip.Prefix{netip.MustParsePrefix("192.0.2.2/31")} }, 2, 1, 1, 0, "1 a.test disallowed Disallow: /private/", 1, ""},
		{"a second", func(q *Query) { q.From, q.To = begin.Add(3*time.Second), begin.Add(4*time.Second) }, 1, 0, 0, 0, "", 1, ""},
		{"no request then", func(q *Query) { q.From, q.To = begin.Add(8*time.Second), begin.Add(9*time.Second) }, 0, 0, 0, 0, "", 0, "/x"},
	} {
		q := query(lines...)
		tt.set(q)
		r, err := Ask(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var rows []string
		for _, row := range r.Rows {
			rows = append(rows, fmt.Sprint(row.Requests, " ", row.Host, " ", row.Reason, " ", row.Rule))
		}
		nearest := ""
		if r.Nearest != nil {
			nearest = r.Nearest.Target
		}
		if r.Requests != tt.requests || r.Decided != tt.decided || r.Refused != tt.refused || r.WouldRefuse != tt.would ||
			strings.Join(rows, "; ") != tt.rows || len(r.Shown) != tt.shown || nearest != tt.nearest {
			t.Errorf("%s: %d requests, %d decided, %d refused, %d would be, %q, %d shown, nearest %q", tt.name, r.Requests, r.Decided, r.Refused, r.WouldRefuse,
				rows, len(r.Shown), nearest)
		}
		text, _ := json.Marshal(r)
		for _, secret := range []string{"secret", "referer", "COOKIE", "/hidden/"} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s: %s is shown: %s", tt.name, secret, text)
			}
		}
		if strings.Contains(string(text), "192.0.2.1\"") && len(q.Clients) == 0 {
			t.Errorf("%s: an address is not masked", tt.name)
		}
	}
	if _, err := Ask(t.Context(), query(line{host: "a.test", client: "192.0.2.1", target: "/", status: 403})); err != errUndecided {
		t.Errorf("a log without decisions: %v", err)
	}
}

// The decision is read in whatever form Caddy's log comes.
func TestFormsOfTheLog(t *testing.T) {
	t.Parallel()
	l := denied(0, "192.0.2.1", "v1")
	line := strings.TrimSuffix(l.text(), "\n")
	wrapped, _ := json.Marshal(map[string]string{"log": line + "\n", "stream": "stdout"})
	for name, text := range map[string]string{
		"JSON": line, "console": "2026/11/23 14:03:00.250\tinfo\thttp.log.access.log0\thandled request\t" + line, "Docker": string(wrapped),
	} {
		r, err := Ask(t.Context(), queryText(text+"\n"))
		if err != nil || r.Refused != 1 || r.Rows[0].Rule != "Disallow: /private/" || r.Rows[0].Line != 2 || r.Rows[0].File != "robots.txt" || r.Rows[0].Version != "v1" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// However many names and hosts strangers invent, memory is bounded, all are counted, and
// the row that counts most stays.
func TestRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	var lines []line
	for i := range 5 * maxRows {
		l := denied(time.Duration(i)*time.Millisecond, "192.0.2.1", "v1")
		if i%5 > 0 {
			l.crawler = fmt.Sprint("Invented", i)
		}
		lines = append(lines, l)
	}
	r, err := Ask(t.Context(), query(lines...))
	if err != nil {
		t.Fatal(err)
	}
	sum := r.LeftOut
	for _, row := range r.Rows {
		sum += row.Requests
	}
	if len(r.Rows) > maxRows || len(r.Shown) != maxShown || sum != r.Refused || r.Refused != 5*maxRows || r.Rows[0].Crawler != "GPTBot" || r.Rows[0].Requests != maxRows {
		t.Errorf("%d rows, %d shown, %d of %d counted, first %+v", len(r.Rows), len(r.Shown), sum, r.Refused, r.Rows[0])
	}
	if last := r.Shown[maxShown-1]; last.Line != int64(len(lines)) {
		t.Errorf("the last one shown is line %d", last.Line)
	}
}

// A request counts against a crawler if it, or an address of it that is confirmed, has
// read the version that disallows the request, or another one more than 24 hours ago
// (RFC 9309, section 2.4).
func TestWhichRequestsCount(t *testing.T) {
	t.Parallel()
	sure := func(l line) line { l.verified = "verified"; return l }
	elsewhere := denied(time.Second, "192.0.2.1", "v1")
	elsewhere.host = "b.test"
	for _, tt := range []struct {
		name  string
		lines []line
		want  int64
		left  string
	}{
		{"after its read", []line{read(0, "192.0.2.1", "v1"), denied(time.Second, "192.0.2.1", "v1")}, 1, ""},
		{"before its read", []line{denied(0, "192.0.2.1", "v1"), read(time.Second, "192.0.2.1", "v1")}, 0, earlier},
		{"another host's file", []line{read(0, "192.0.2.1", "v1"), elsewhere}, 0, earlier},
		{"read by an address that nobody confirmed", []line{read(0, "192.0.2.1", "v1"), denied(time.Second, "192.0.2.2", "v1")}, 0, earlier},
		{"read by another address of the crawler", []line{sure(read(0, "192.0.2.1", "v1")), sure(denied(time.Second, "192.0.2.2", "v1"))}, 1, ""},
		{"confirmed, but not who sent the request", []line{sure(read(0, "192.0.2.1", "v1")), denied(time.Second, "192.0.2.2", "v1")}, 0, earlier},
		{"another version, an hour later", []line{read(0, "192.0.2.1", "v1"), denied(time.Hour, "192.0.2.1", "v2")}, 0, cached},
		{"another version, a day later", []line{read(0, "192.0.2.1", "v1"), denied(24*time.Hour, "192.0.2.1", "v2")}, 1, ""},
		{"a failed read", []line{{host: "a.test", client: "192.0.2.1", target: "/robots.txt", status: 503, action: "pass", reason: "robots_txt"}, denied(time.Second, "192.0.2.1", "v1")}, 0, earlier},
		{"too fast", []line{read(0, "192.0.2.1", "v1"), {after: time.Second, host: "a.test", client: "192.0.2.1", target: "/", status: 429, action: "throttle", reason: "crawl_delay"}}, 0, ""},
		{"in monitor mode", []line{read(0, "192.0.2.1", "v1"), {after: time.Second, host: "a.test", client: "192.0.2.1", target: "/", status: 200, action: "would_deny", reason: "disallowed", version: "v1"}}, 1, ""},
	} {
		v, err := Collect(t.Context(), query(tt.lines...), "gptbot", begin)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		hours := int64(0)
		for _, h := range v.Hours {
			hours += h.Requests
		}
		if v.Disallowed != tt.want || int64(len(v.Requests)) != tt.want || hours != tt.want {
			t.Errorf("%s: %d disallowed, %d listed, %d in hours, want %d", tt.name, v.Disallowed, len(v.Requests), hours, tt.want)
		}
		if tt.left != "" && !slices.Contains(v.CanNotShow, tt.left+": 1.") {
			t.Errorf("%s: %q lacks %q", tt.name, v.CanNotShow, tt.left)
		}
	}
}

// The document says what an abuse desk needs, and no more.
func TestDocument(t *testing.T) {
	t.Parallel()
	const file = "User-agent: *\nDisallow: /private/\n"
	rules, err := judge.Settings{}.Rules(judge.Response{Status: 200, Body: []byte(file)})
	if err != nil {
		t.Fatal(err)
	}
	first, second := read(0, "192.0.2.1", rules.Tag()), denied(time.Second+250*time.Millisecond, "192.0.2.1", rules.Tag())
	first.verified, second.verified = "verified", "verified"
	forged := denied(2*time.Second, "198.51.100.7", rules.Tag())
	forged.verified = "impostor"
	forgedRead := read(time.Second, "198.51.100.7", "unknown")
	q := query(first, second, forgedRead, forged, line{host: "a.test", client: "203.0.113.77", target: "/", agent: "curl/8.5", status: 200})
	var whole strings.Builder
	for _, l := range []line{first, second, forgedRead, forged, {host: "a.test", client: "203.0.113.77", target: "/", agent: "curl/8.5", status: 200}} {
		whole.WriteString(l.text())
	}
	q.Sites = []audit.Site{{Robots: []audit.Version{{Name: "november.txt", Response: judge.Response{Status: 200, Body: []byte(file)}}}}}
	v, err := Collect(t.Context(), q, "GPTBot", begin)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(v.Summary, "Confirmed as GPTBot's: 1 of the 2 addresses ") || v.Operator != "OpenAI" || v.DeleteBy != "2027-02-21" {
		t.Errorf("%+v", v)
	}
	if got := v.Requests[0]; got.Time != "2026-11-23T14:03:01.250Z" || got.Client != "192.0.2.1" || got.Port != "40001" || got.Target != "/private/x?q=…" {
		t.Errorf("%+v", got)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(whole.String()))); len(v.Logs) != 1 || v.Logs[0].SHA256 != sum || v.Logs[0].Octets != int64(whole.Len()) {
		t.Errorf("logs %+v, want the hash %s", v.Logs, sum)
	}
	texts := map[string]string{}
	for _, r := range v.RobotsTxt {
		texts[r.Version] = r.Text + r.Name + r.SHA256
	}
	if want := file + "november.txt" + fmt.Sprintf("%x", sha256.Sum256([]byte(file))); texts[rules.Tag()] != want || texts["unknown"] != "" || len(texts) != 2 {
		t.Errorf("%q", texts)
	}
	var xarf bytes.Buffer
	if err := v.WriteXARF(&xarf, &mail.Address{Name: "Example Hosting", Address: "abuse@example.com"}); err != nil {
		t.Fatal(err)
	}
	var x struct {
		Reporter struct{ Org, Contact, Domain string }
		Source   string `json:"source_identifier"`
		Port     int    `json:"source_port"`
		Total    int    `json:"total_requests"`
		Evidence []struct {
			Payload []byte
			Hash    string
		}
	}
	if err := json.Unmarshal(xarf.Bytes(), &x); err != nil || x.Source != "192.0.2.1" || x.Port != 40001 || x.Total != 1 || x.Reporter.Domain != "example.com" ||
		x.Evidence[0].Hash != fmt.Sprintf("sha256:%x", sha256.Sum256(x.Evidence[0].Payload)) {
		t.Errorf("%v, %s", err, xarf.Bytes())
	}
	text, _ := json.Marshal(v)
	for _, word := range []string{"secret", "referer", "COOKIE", "203.0.113.77", "proof", "proves"} {
		if bytes.Contains(append(text, xarf.Bytes()...), []byte(word)) {
			t.Errorf("the document has %q", word)
		}
	}
}

// There is no document about software that people run, or whose addresses are people's.
func TestWhoADocumentMayBeAbout(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, agent, client, want string }{
		{"GPTBot", gptbot, "", ""},
		{"FooBot", "FooBot/1.0 (+https://foo.example)", "", ""},
		{"Scrapy", "Scrapy/2.11", "", "anyone can run Scrapy"},
		{"Scrapy", "Scrapy/2.11", "192.0.2.1/32", ""},
		{"Scrapy", "Scrapy/2.11", "192.0.0.0/16", "anyone can run Scrapy"},
		{"Miniflux", "Mozilla/5.0 (compatible; Miniflux/2.0; +https://miniflux.app)", "192.0.2.1/32", "can be those of people"},
		{"Slackbot", "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", "192.0.2.1/32", "can be those of people"},
		{"ChatGPT-User", "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)", "192.0.2.1/32", "can be those of people"},
		{"curl", "curl/8.5.0", "192.0.2.1/32", "can be those of people"},
		{"Firefox", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "192.0.2.1/32", "no request of Firefox"},
		{"Nobody", gptbot, "", "no request of Nobody"},
	} {
		l := read(0, "192.0.2.1", "v1")
		l.agent, l.crawler = tt.agent, tt.name
		q := query(l)
		if tt.client != "" {
			q.Clients = []netip.Prefix{netip.MustParsePrefix(tt.client)}
		}
		_, err := Collect(t.Context(), q, tt.name, begin)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s from %q: %v, want %q", tt.name, tt.client, err, tt.want)
		}
	}
}

// Addresses, requests and reads are bounded, and what is left out is said.
func TestDocumentIsBounded(t *testing.T) {
	t.Parallel()
	var lines []line
	for i := range maxAddresses + 10 {
		lines = append(lines, read(0, netip.AddrFrom4([4]byte{198, 51, byte(i >> 8), byte(i)}).String(), fmt.Sprint("v", i)))
	}
	for i := range maxRequests + 5 {
		lines = append(lines, denied(time.Duration(i)*time.Millisecond+time.Second, "198.51.0.1", "v1"))
	}
	confirmed := read(time.Minute, "192.0.2.1", "v1") // there is room for it after all others
	confirmed.verified = "verified"
	v, err := Collect(t.Context(), query(append(lines, confirmed)...), "GPTBot", begin)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Addresses) != maxAddresses+1 || len(v.Requests) != maxRequests || v.Disallowed != maxRequests+5 || len(v.Reads) != maxReads || len(v.RobotsTxt) != maxVersions {
		t.Errorf("%d addresses, %d requests of %d, %d reads, %d versions", len(v.Addresses), len(v.Requests), v.Disallowed, len(v.Reads), len(v.RobotsTxt))
	}
	for _, want := range []string{noAddress + ": 10.", noRequest + ": 5."} {
		if !slices.Contains(v.CanNotShow, want) {
			t.Errorf("%q lacks %q", v.CanNotShow, want)
		}
	}
}

// Whatever a log has, the figures agree, and lists are bounded.
func FuzzLog(f *testing.F) {
	first, second := read(0, "192.0.2.1", "v1"), denied(time.Second, "192.0.2.1", "v1")
	sample := []byte(first.text())
	f.Add(first.text() + second.text() + second.text())
	f.Add(`{"ts":1,"logger":"http.log.access","request":{"host":"a","uri":"/","headers":{"User-Agent":["GPTBot"]}},"status":403,"robots":{"action":7,"line":"x"}}`)
	f.Add(`{"ts":1,"logger":"http.log.access","request":{"host":"a","uri":"/","headers":{"User-Agent":["GPTBot"]}},"status":403,"robots":{"action":"deny","layer":"hidden","line":1e99}}`)
	format := logformat.Detect([][]byte{sample}, nil)
	f.Fuzz(func(t *testing.T, text string) {
		q := new(Query)
		a, c := &asker{Query: q, rows: make(map[rowKey]*Row)}, newCollector(q, "GPTBot")
		for l := range strings.SplitSeq(text, "\n") {
			j := &audit.Judged{Log: new(logfile.Log), By: new(judge.Decision)}
			if format.Parse([]byte(l), &j.Entry) == logformat.None {
				a.count(j)
				c.count(j)
			}
		}
		sum := a.LeftOut
		for _, row := range a.rows {
			sum += row.Requests
		}
		if sum != a.Refused+a.WouldRefuse || a.Decided > a.Requests || len(a.rows) > maxRows || len(a.Shown) > 2*maxShown {
			t.Errorf("%+v", a.Refusals)
		}
		sum = 0
		for _, address := range c.Addresses {
			sum += address.Disallowed
		}
		if sum != c.Disallowed || len(c.Requests) > int(c.Disallowed) || len(c.Addresses) > maxAddresses {
			t.Errorf("%+v", c.Evidence)
		}
		for _, r := range append(a.Shown, c.Requests...) {
			if _, query, _ := strings.Cut(r.Target, "?"); strings.Contains(query, "secret") || len(r.Target) > 600 {
				t.Errorf("%+v", r)
			}
		}
	})
}
