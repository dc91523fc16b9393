package audit

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// update writes the golden files: go test ./internal/audit -update
var update = flag.Bool("update", false, "write the golden files")

// chrome141 is a browser that always sends Sec-Fetch-* fields over HTTPS.
const chrome141 = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"

// caddyText is a Caddy log that a test writes.
type caddyText struct {
	strings.Builder
	at time.Time
}

func newCaddyText() *caddyText {
	return &caddyText{at: time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC)}
}

// add writes a request that is later than the one before by after. fields are further
// header fields, more are further members of the request.
func (l *caddyText) add(after time.Duration, client, target, fields, more string) {
	l.at = l.at.Add(after)
	fmt.Fprintf(l, `{"level":"info","ts":%.3f,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":%q,"remote_port":"40000","client_ip":%q,"proto":"HTTP/2.0","method":"GET",`+
		`"host":"example.com","uri":%q,"headers":{"User-Agent":[%q]%s}%s},"duration":0.002,"size":10,"status":200}`+"\n",
		float64(l.at.UnixMilli())/1000, client, client, target, chrome141, fields, more)
}

// oneSite returns a site for all hosts with a robots.txt.
func oneSite(text string) []Site {
	return []Site{{Robots: []Version{robotsVersion("robots.txt", text)}}}
}

// comparedSite returns a site whose robots.txt is compared with another one.
func comparedSite(now, was string) []Site {
	return []Site{{Robots: []Version{robotsVersion("robots.txt", now)}, Was: []Version{robotsVersion("robots.txt", was)}}}
}

func robotsVersion(name, text string) Version {
	return Version{Name: name, Response: judge.Response{Status: http.StatusOK, Body: []byte(text)}}
}

func exampleSite(t testing.TB) []Site {
	t.Helper()
	text, err := os.ReadFile("testdata/robots.txt")
	if err != nil {
		t.Fatal(err)
	}
	return oneSite(string(text))
}

// onDisk returns a log of testdata.
func onDisk(name string) logfile.File {
	return logfile.File{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(filepath.Join("../logformat/testdata", name)) }}
}

// mustRun runs an audit. The test fails if it returns an error.
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

// crawlerOf returns the row of a crawler, by its name.
func crawlerOf(t testing.TB, r *Report, name string) *Crawler {
	t.Helper()
	for _, c := range r.Crawlers {
		if c.Name == name && !c.Rest {
			return c
		}
	}
	t.Errorf("no crawler %q", name)
	return new(Crawler)
}

// ruleOf returns the rule at a line of robots.txt.
func ruleOf(t testing.TB, r *Report, line int) *Line {
	t.Helper()
	for _, rule := range r.Sources[0].Lines {
		if rule.TextLine == line {
			return rule
		}
	}
	t.Errorf("no rule at line %d", line)
	return new(Line)
}

// warned reports whether a report has the warning with a code.
func warned(r *Report, code string) bool {
	for _, w := range r.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}

// memory returns a log that is in memory.
func memory(name string, text []byte) logfile.File {
	return logfile.File{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
}

// findingOf returns the finding with a code; an empty one if there is none.
func findingOf(r *Report, code string) Finding {
	for _, f := range r.Findings {
		if f.Code == code {
			return f
		}
	}
	return Finding{}
}
