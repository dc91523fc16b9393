package audit

import (
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/origins"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// ownFetchLine is a line of a log for a request with the User-Agent of Caddy's own
// fetches.
func ownFetchLine(target string) string {
	return `example.com 192.0.2.1 - - [07/Nov/2026:12:00:00 +0000] "GET ` + target + ` HTTP/1.1" 200 5 "-" "` + origins.FetcherUserAgent + `"` + "\n"
}

// A fetch of robots.txt that Caddy itself sent, for example for an earlier audit, is
// in the access log of the site. It changes no figure but the number of other lines,
// and a warning says so.
func TestOwnFetchesAreNotCounted(t *testing.T) {
	crawler := strings.Repeat(`example.com 192.0.2.2 - - [07/Nov/2026:12:01:00 +0000] "GET / HTTP/1.1" 200 5 "-" "GPTBot/1.2"`+"\n", 3)
	site := oneSite("User-agent: *\nDisallow: /\n")
	without := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(crawler))}, Sites: site})
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(ownFetchLine("/robots.txt")+crawler+ownFetchLine("/robots.txt")))}, Sites: site})
	if r.Lines != 5 || r.Other != 2 || r.Requests != 3 || r.Robots != 3 || r.People != 0 || r.Addresses != 1 || len(r.Crawlers) != 1 || r.WouldHave.Judged != 3 {
		t.Errorf("%d lines, %d other, %d requests, %d addresses, crawlers %+v", r.Lines, r.Other, r.Requests, r.Addresses, r.Crawlers)
	}
	if in := r.Inputs[0]; in.Lines != 5 || in.Requests != 3 || *r.Period.From != *without.Period.From || r.Costs.All.Octets != without.Costs.All.Octets {
		t.Errorf("%+v, period %v, %d octets; want period %v, %d octets", in, r.Period, r.Costs.All.Octets, without.Period, without.Costs.All.Octets)
	}
	if !warned(r, "own_fetches") || warned(without, "own_fetches") {
		t.Errorf("warnings %v, and without such fetches %v", r.Warnings, without.Warnings)
	}
}

// A client that sends the User-Agent of Caddy's fetches cannot hide what else it
// requests.
func TestCaddyUserAgentOnOtherPathsIsCounted(t *testing.T) {
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(ownFetchLine("/private/")))}, Sites: oneSite("User-agent: *\nDisallow: /\n")})
	if r.Requests != 1 || r.Other != 0 || r.Robots != 1 || warned(r, "own_fetches") {
		t.Errorf("%d requests, %d other, warnings %v", r.Requests, r.Other, r.Warnings)
	}
}

// A log with nothing but own fetches is a log without requests.
func TestLogOfOwnFetches(t *testing.T) {
	o := Options{Files: []logfile.File{memory("access.log", []byte(ownFetchLine("/robots.txt")+"no request\n"))}}
	if r := mustRun(t, o); r.Requests != 0 || r.Other != 1 || r.Unreadable != 1 {
		t.Errorf("%d requests, %d other, %d unreadable", r.Requests, r.Other, r.Unreadable)
	}
}
