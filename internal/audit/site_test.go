package audit

import (
	"errors"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// A request is judged by the rules of the site that its host belongs to.
func TestSites(t *testing.T) {
	sites := []Site{
		{Hosts: []string{"example.com"}, Robots: []Version{robotsVersion("a", "User-agent: *\nDisallow: /private/\n")}},
		{Hosts: []string{"*.example.com"}, Rules: judge.Settings{HTTPClients: true}, Robots: []Version{robotsVersion("b", "User-agent: *\nAllow: /\n")}},
	}
	r := mustRun(t, Options{Files: []logfile.File{onDisk("caddy.log")}, Sites: sites})
	if r.WouldHave.Denied != 2 || crawlerOf(t, r, "GPTBot").Denied != 0 || r.Sources[0].Requests != 12 || r.Sources[1].Requests != 2 {
		t.Errorf("%+v %+v", r.WouldHave, r.Sources)
	}
	r = mustRun(t, Options{Files: []logfile.File{onDisk("caddy.log")}, Sites: sites[:1]})
	if r.WouldHave.Judged != 12 || !warned(r, "partly_judged") || r.Hosts[1].Known {
		t.Errorf("%+v %+v", r.WouldHave, r.Hosts)
	}
}

// With Options.Hosts, only the requests for these hosts count, in whatever form clients
// sent the name. Lines that are left out are no error unless no request is left.
func TestHostsThatCount(t *testing.T) {
	line := func(host string) string {
		return host + ` 192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET /private/ HTTP/1.1" 200 5 "-" "GPTBot/1.2"` + "\n"
	}
	text := line("a.test") + line("A.test:8443") + strings.Repeat(line("b.test"), 2000) + line("www.a.test")
	o := Options{Files: []logfile.File{memory("a", []byte(text))}, Sites: oneSite("User-agent: *\nDisallow: /private/\n")}
	for _, tt := range []struct {
		hosts           []string
		requests, other int64
	}{
		{nil, 2003, 0},
		{[]string{"A.TEST:80"}, 2, 2001},
		{[]string{"a.test", "www.a.test"}, 3, 2000},
	} {
		o.Hosts = tt.hosts
		r := mustRun(t, o)
		if r.Requests != tt.requests || r.Other != tt.other || r.WouldHave.Denied != tt.requests || r.Costs.Robots.Requests != tt.requests {
			t.Errorf("%q: %d requests, %d other, %+v", tt.hosts, r.Requests, r.Other, r.WouldHave)
		}
	}
	o.Hosts = []string{"c.test"}
	if _, err := Run(t.Context(), o); !errors.Is(err, ErrHosts) {
		t.Errorf("no error for a host that is not in the log: %v", err)
	}
}
