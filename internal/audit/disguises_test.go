package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// disguiseLog writes a combined log. Browsers of people each fetch pages, and styles
// unless bare is set. A fleet fetches pages from some addresses.
type disguiseLog struct {
	people    int
	bare      bool
	agent     string // of the fleet; "" means that of a browser that no person has
	requests  int
	addresses int
	paths     int
	referer   string
	last      string // one more target of the fleet
}

func (l disguiseLog) text() string {
	var b strings.Builder
	line := func(client, target, referer, agent string) {
		fmt.Fprintf(&b, "example.com %s - - [07/Nov/2026:12:00:00 +0000] \"GET %s HTTP/1.1\" 200 5 %q %q\n", client, target, referer, agent)
	}
	for i := range l.people {
		for page := range 4 {
			line("192.0.2.1", fmt.Sprint("/", page), "-", strings.Replace(chrome141, "141", fmt.Sprint(100+i), 1))
			if !l.bare {
				line("192.0.2.1", "/style.css", "https://example.com/", strings.Replace(chrome141, "141", fmt.Sprint(100+i), 1))
			}
		}
	}
	if l.agent == "" {
		l.agent = chrome141
	}
	if l.referer == "" {
		l.referer = "-"
	}
	for i := range l.requests {
		line(fmt.Sprintf("198.51.%d.%d", i%l.addresses/200, i%l.addresses%200), fmt.Sprintf("/page/%d?id=%d", i%l.paths, i), l.referer, l.agent)
	}
	if l.last != "" {
		line("198.51.0.1", l.last, "-", l.agent)
	}
	return b.String()
}

// A browser's User-Agent that many addresses send, and none of them to fetch a file that
// pages embed, is named with its numbers. What people, apps and monitors do is not.
func TestDisguises(t *testing.T) {
	fleet := func(change func(*disguiseLog)) disguiseLog {
		l := disguiseLog{people: 12, requests: 400, addresses: 60, paths: 300}
		if change != nil {
			change(&l)
		}
		return l
	}
	for name, tt := range map[string]struct {
		log  disguiseLog
		want string
	}{
		"a fleet":                              {fleet(nil), "[400 from 60 at example.com]"},
		"links within the site":                {fleet(func(l *disguiseLog) { l.referer = "https://example.com/page/1" }), "[400 from 60 at example.com]"},
		"one image":                            {fleet(func(l *disguiseLog) { l.last = "/logo.png" }), "[]"},
		"few addresses, such as an office's":   {fleet(func(l *disguiseLog) { l.addresses = 19 }), "[]"},
		"few requests":                         {fleet(func(l *disguiseLog) { l.requests = 99 }), "[]"},
		"a monitor or an app that polls":       {fleet(func(l *disguiseLog) { l.paths = 19 }), "[]"},
		"a script of pages of other sites":     {fleet(func(l *disguiseLog) { l.referer = "https://example.org/" }), "[]"},
		"an app":                               {fleet(func(l *disguiseLog) { l.agent = chrome141 + " ExampleApp/1.0" }), "[]"},
		"browsers fetch no files of this host": {fleet(func(l *disguiseLog) { l.bare = true }), "[]"},
		"too few browsers to compare with":     {fleet(func(l *disguiseLog) { l.people = 8 }), "[]"},
		"people only":                          {fleet(func(l *disguiseLog) { l.requests = 0 }), "[]"},
	} {
		r := mustRun(t, Options{Files: []logfile.File{memory("log", []byte(tt.log.text()))}})
		got := []string{}
		for _, d := range r.Disguises {
			got = append(got, fmt.Sprintf("%d from %d at %s", d.Requests, d.Addresses, d.Host))
		}
		said := strings.Contains(findingOf(r, "disguised").Text, "400 requests with one browser's User-Agent came from 60 addresses, and none fetched an image, a style or a script. That seems to be a robot: "+chrome141)
		if fmt.Sprint(got) != tt.want || said != (tt.want != "[]") {
			t.Errorf("%s: %s, want %s; the findings are %+v", name, got, tt.want, r.Findings)
		}
	}
}

// The requests that a page of the site sends with a script are no robot's, and neither
// are those of clients with a cookie.
func TestDisguisesFields(t *testing.T) {
	for fields, want := range map[string]int{"": 1, fetchDocument: 1, hiddenCookie: 0, `,"Sec-Purpose":["prefetch"]`: 0, `,"Sec-Fetch-Dest":["empty"]`: 0} {
		l := newCaddyText()
		for i := range 200 {
			l.add(0, fmt.Sprintf("198.51.100.%d", i%50), fmt.Sprint("/api/", i), fields, overTLS)
		}
		text := disguiseLog{people: 12}.text()
		r := mustRun(t, Options{Files: []logfile.File{memory("people", []byte(text)), memory("caddy", []byte(l.String()))}})
		if len(r.Disguises) != want {
			t.Errorf("fields %s: %+v", fields, r.Disguises)
		}
	}
}
