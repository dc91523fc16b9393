package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// begin is the time of the first line of logs.
var begin = time.Date(2026, 11, 23, 14, 3, 0, 0, time.UTC)

// line is a line of Caddy's log.
type logLine struct {
	after                          time.Duration // since begin
	host, client, target, agent    string
	status                         int
	action, reason, rule, verified string // without an action, the log has no decision
	version                        string
	crawler, class, layer          string // default: GPTBot, crawler, file
}

const agentOfGPTBot = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)"

func (l *logLine) text() string {
	if l.agent == "" {
		l.agent = agentOfGPTBot
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
func read(after time.Duration, client, version string) logLine {
	return logLine{after: after, host: "a.test", client: client, target: "/robots.txt", status: 200, action: "pass", reason: "robots_txt", version: version}
}

func denied(after time.Duration, client, version string) logLine {
	return logLine{after: after, host: "a.test", client: client, target: "/private/x?q=secret", status: 403, action: "deny", reason: "disallowed",
		rule: "Disallow: /private/", version: version}
}

// query returns a query of a log.
func query(lines ...logLine) *Options {
	var text strings.Builder
	for i := range lines {
		text.WriteString(lines[i].text())
	}
	return queryText(text.String())
}

func queryText(text string) *Options {
	return &Options{Files: []logfile.File{{Name: "access.log", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}}}, Decided: true}
}

// What Caddy refused is counted by its own log, for each host and line.
func TestRefusals(t *testing.T) {
	t.Parallel()
	other := denied(4*time.Second, "192.0.2.9", "v1")
	other.host = "b.test"
	hidden := logLine{after: 5 * time.Second, host: "a.test", client: "192.0.2.9", target: "/hidden/", status: 404, action: "deny", reason: "hidden", layer: "hidden"}
	lines := []logLine{
		read(0, "192.0.2.1", "v1"), denied(time.Second, "192.0.2.1", "v1"), denied(2*time.Second, "192.0.2.2", "v1"),
		{after: 3 * time.Second, host: "a.test", client: "192.0.2.3", target: "/private/", agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", status: 403},
		other, hidden,
		{after: 6 * time.Second, host: "a.test", client: "192.0.2.1", target: "/x", status: 200, action: "would_throttle", reason: "crawl_delay", rule: "Crawl-delay: 9"},
	}
	for _, tt := range []struct {
		name                              string
		set                               func(*Options)
		requests, decided, refused, would int64
		rows                              string
		shown                             int
	}{
		{"everything", func(*Options) {}, 7, 6, 4, 1,
			"2 a.test disallowed Disallow: /private/; 1 b.test disallowed Disallow: /private/; 1 a.test hidden ; 1 a.test crawl_delay Crawl-delay: 9", 5},
		{"a host", func(q *Options) { q.Hosts = []string{"b.test"} }, 1, 1, 1, 0, "1 b.test disallowed Disallow: /private/", 1},
	} {
		q := query(lines...)
		tt.set(q)
		r, err := Run(t.Context(), *q)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		var rows []string
		for _, row := range r.Decisions {
			rows = append(rows, fmt.Sprint(row.Requests, " ", row.Host, " ", row.Reason, " ", row.Rule))
		}
		if r.Requests != tt.requests || r.Decided.Decided != tt.decided || r.Refused != tt.refused || r.WouldRefuse != tt.would ||
			strings.Join(rows, "; ") != tt.rows || len(r.Shown) != tt.shown {
			t.Errorf("%s: %d requests, %d decided, %d refused, %d would be, %q, %d shown", tt.name, r.Requests, r.Decided.Decided, r.Refused, r.WouldRefuse,
				rows, len(r.Shown))
		}
		text, _ := json.Marshal(r)
		for _, secret := range []string{"secret", "referer", "COOKIE", "/hidden/"} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s: %s is shown: %s", tt.name, secret, text)
			}
		}
		if strings.Contains(string(text), "192.0.2.1\"") {
			t.Errorf("%s: an address is not masked", tt.name)
		}
	}
	if _, err := Run(t.Context(), *query(logLine{host: "a.test", client: "192.0.2.1", target: "/", status: 403})); err != errUndecided {
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
		r, err := Run(t.Context(), *queryText(text + "\n"))
		if err != nil || r.Refused != 1 || r.Decisions[0].Rule != "Disallow: /private/" || r.Decisions[0].Line != 2 || r.Decisions[0].File != "robots.txt" || r.Decisions[0].Version != "v1" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// However many names strangers invent, memory is bounded, all are counted, and the row that
// counts most is the first.
func TestDecisionsAreBounded(t *testing.T) {
	t.Parallel()
	var lines []logLine
	for i := range 5 * maxCounted / 4 {
		l := denied(time.Duration(i)*time.Millisecond, "192.0.2.1", "v1")
		if i%5 > 0 {
			l.crawler = fmt.Sprint("Invented", i)
		}
		lines = append(lines, l)
	}
	for range 10 {
		lines = append(lines, denied(time.Hour, "192.0.2.1", "v1"))
	}
	r, err := Run(t.Context(), *query(lines...))
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, row := range r.Decisions {
		sum += row.Requests
	}
	if len(r.Decisions) > maxCounted+2 || len(r.Shown) != maxShown || sum != r.Refused || r.Refused != int64(len(lines)) || r.Decisions[0].Crawler != "GPTBot" {
		t.Errorf("%d rows, %d shown, %d of %d counted, first %+v", len(r.Decisions), len(r.Shown), sum, r.Refused, r.Decisions[0])
	}
	if last := r.Shown[maxShown-1]; last.Line != int64(len(lines)) {
		t.Errorf("the last one shown is line %d", last.Line)
	}
}

// The requests that a rule forbade are shown, of one crawler alone. Addresses and the values of
// queries are masked unless that is not wanted.
func TestForbidden(t *testing.T) {
	t.Parallel()
	other, wget := denied(3*time.Second, "192.0.2.9", "v1"), denied(4*time.Second, "192.0.2.10", "v1")
	other.crawler, wget.crawler, wget.agent, wget.class = "CCBot", "wget", "Wget/1.21", "scraper"
	hidden := denied(5*time.Second, "192.0.2.1", "v1")
	hidden.reason, hidden.layer = "hidden", "hidden"
	monitored := denied(6*time.Second, "192.0.2.2", "v1")
	monitored.action = "would_deny"
	lines := []logLine{read(0, "192.0.2.1", "v1"), denied(time.Second, "192.0.2.1", "v1"), other, wget, hidden, monitored}
	list := func(name string, set func(*Options)) (got []string) {
		q := query(lines...)
		set(q)
		err := Forbidden(t.Context(), *q, name, func(r *Request) error {
			got = append(got, r.Client+" "+r.Target+" "+r.Robots.Action)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return got
	}
	for _, tt := range []struct {
		name string
		set  func(*Options)
		want []string
	}{
		{"gptbot", func(*Options) {}, []string{"192.0.2.0/24 /private/x?q=… deny", "192.0.2.0/24 /private/x?q=… would_deny"}},
		{"GPTBot", func(q *Options) { q.Full = true }, []string{"192.0.2.1 /private/x?q=secret deny", "192.0.2.2 /private/x?q=secret would_deny"}},
		{"wget", func(*Options) {}, []string{"192.0.2.0/24 /private/x?q=… deny"}},
		{"Bingbot", func(*Options) {}, nil},
	} {
		if got := list(tt.name, tt.set); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	undecided := read(0, "192.0.2.1", "")
	undecided.action = ""
	if err := Forbidden(t.Context(), *query(undecided), "GPTBot", nil); err == nil || !strings.Contains(err.Error(), "--robots") {
		t.Errorf("a log without decisions: %v", err)
	}
	full := errors.New("full")
	if err := Forbidden(t.Context(), *query(lines...), "GPTBot", func(*Request) error { return full }); !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
}

// Whatever a log has, the figures agree, and lists are bounded.
func FuzzLog(f *testing.F) {
	first, second := read(0, "192.0.2.1", "v1"), denied(time.Second, "192.0.2.1", "v1")
	f.Add(first.text() + second.text() + second.text())
	f.Add(`{"ts":1,"logger":"http.log.access","request":{"host":"a","uri":"/","headers":{"User-Agent":["GPTBot"]}},"status":403,"robots":{"action":7,"line":"x"}}`)
	f.Add(`{"ts":1,"logger":"http.log.access","request":{"host":"a","uri":"/","headers":{"User-Agent":["GPTBot"]}},"status":403,"robots":{"action":"deny","layer":"hidden","line":1e99}}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Run(t.Context(), *queryText(first.text() + text))
		if err != nil {
			return
		}
		sum := int64(0)
		for _, row := range r.Decisions {
			sum += row.Requests
		}
		if sum != r.Refused+r.WouldRefuse || r.Decided.Decided > r.Requests || len(r.Shown) > maxShown {
			t.Errorf("%+v", r.Decided)
		}
		for _, r := range r.Shown {
			if _, query, _ := strings.Cut(r.Target, "?"); strings.Contains(query, "secret") || len(r.Target) > 600 {
				t.Errorf("%+v", r)
			}
		}
	})
}
