package audit

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"

	"github.com/caddy-robots/caddy-robots/internal/logfile"
)

// operator answers requests for the published list of one crawler, and DNS lookups.
type operator struct {
	down    bool
	noLists bool // only DNS answers; ListBot is in both
	asked   atomic.Int64
}

func (p *operator) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.down || p.noLists || r.URL.Host != "operator.test" {
		return nil, errors.New("no route to host")
	}
	body := `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}`
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: r}, nil
}

func (p *operator) LookupAddr(_ context.Context, addr string) ([]string, error) {
	p.asked.Add(1)
	switch {
	case p.down:
		return nil, errors.New("no answer")
	case addr == "203.0.113.5":
		return []string{"5.crawl.test."}, nil
	}
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

func (p *operator) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("203.0.113.5")}, nil
}

var claimsTime = time.Date(2026, 11, 7, 12, 0, 0, 0, time.UTC)

// claimsSite returns a site that verifies two crawlers: ListBot by its list, NameBot by
// DNS.
func claimsSite(t *testing.T, p *operator, now time.Time) []Site {
	t.Helper()
	listed := crawler.Verify{Ranges: []string{"https://operator.test/list.json"}}
	if p.noLists {
		listed.Hosts = []string{"crawl.test"}
	}
	registry, err := crawler.Builtin().With(
		crawler.Crawler{Name: "ListBot", UserAgents: []string{"ListBot"}, Robots: []string{"ListBot"}, Class: crawler.Registered, Purposes: []crawler.Purpose{crawler.Search}, Verify: listed},
		crawler.Crawler{Name: "NameBot", UserAgents: []string{"NameBot"}, Robots: []string{"NameBot"}, Class: crawler.Registered,
			Verify: crawler.Verify{Hosts: []string{"crawl.test"}}})
	if err != nil {
		t.Fatal(err)
	}
	verifier := verify.New(verify.Config{Lists: true, DNS: true, Client: &http.Client{Transport: p}, Resolver: p, Now: func() time.Time { return now }})
	t.Cleanup(verifier.Close)
	checker, err := verifier.Bind(registry)
	if err != nil {
		t.Fatal(err)
	}
	return []Site{{
		Rules:  judge.Settings{Registry: registry, Verification: &judge.Verification{Checker: checker}},
		Robots: []Version{robotsVersion("robots.txt", "User-agent: *\nDisallow: /private/\n")},
	}}
}

const claimsLog = `198.51.100.1 - - [07/Nov/2026:11:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "ListBot/1.0"
192.0.2.9 - - [07/Nov/2026:11:00:01 +0000] "GET /private/ HTTP/1.1" 200 5 "-" "ListBot/1.0"
198.51.100.2 - - [07/Nov/2026:11:00:02 +0000] "GET /a HTTP/1.1" 200 5 "-" "NameBot/1.0"
203.0.113.5 - - [07/Nov/2026:11:00:03 +0000] "GET /a HTTP/1.1" 200 5 "-" "NameBot/1.0"
203.0.113.5 - - [07/Nov/2026:11:00:04 +0000] "GET /b HTTP/1.1" 200 5 "-" "NameBot/1.0"
10.0.0.1 - - [07/Nov/2026:11:00:05 +0000] "GET /b HTTP/1.1" 200 5 "-" "NameBot/1.0"
`

// Claims are looked up before anything is judged, so that even the first request of the
// log can count as an impostor's.
func TestClaims(t *testing.T) {
	p := &operator{}
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(claimsLog))}, Sites: claimsSite(t, p, claimsTime), Verify: true, Now: func() time.Time { return claimsTime }})
	list, name := crawlerOf(t, r, "ListBot"), crawlerOf(t, r, "NameBot")
	if list.Verified != 1 || list.Impostor != 1 || name.Verified != 2 || name.Impostor != 1 || name.Unverified != 1 {
		t.Errorf("%+v %+v", list, name)
	}
	if list.VerifiedRefused != 1 || list.ClaimsRefused != 0 || findingOf(r, "search_refused").Paste != "verify\nexempt ListBot" {
		t.Errorf("%d verified and %d claims refused; %+v", list.VerifiedRefused, list.ClaimsRefused, findingOf(r, "search_refused"))
	}
	if p.asked.Load() != 2 {
		t.Errorf("%d DNS lookups, want 2", p.asked.Load())
	}
	if w := r.WouldHave; w.Search != 1 || w.SearchVerified != 1 || !r.Verified || warned(r, "verify_failed") {
		t.Errorf("%+v %v", w, r.Warnings)
	}
}

// A refused impostor is no search engine.
func TestImpostorsAreNoSearchEngines(t *testing.T) {
	log := strings.Join(strings.SplitAfter(claimsLog, "\n")[:2], "")
	sites := claimsSite(t, &operator{}, claimsTime)
	sites[0].Was = []Version{robotsVersion("old", "User-agent: *\nDisallow:\n")}
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(log))}, Sites: sites, Against: true, Verify: true, Now: func() time.Time { return claimsTime }})
	if w := r.WouldHave; w.Denied != 2 || w.Search != 1 || r.Against.Search != 1 || r.Against.SearchWas != 0 {
		t.Errorf("%+v, %+v", w, r.Against)
	}
	r = mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(log[:strings.Index(log, "192.0.2.9")]))}, Sites: sites, Verify: true, Now: func() time.Time { return claimsTime }})
	if f := findingOf(r, "search_refused"); crawlerOf(t, r, "ListBot").Denied != 1 || f.Change+f.Paste != "" {
		t.Errorf("only impostors are refused: %+v", f)
	}
}

// Nobody is exempt by a claim alone.
func TestClaimsAreNotExempt(t *testing.T) {
	log := strings.ReplaceAll(claimsLog, "192.0.2.9", "10.0.0.2") // can't be verified
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(log))}, Sites: claimsSite(t, &operator{}, claimsTime), Verify: true, Now: func() time.Time { return claimsTime }})
	if f, c := findingOf(r, "search_refused"), crawlerOf(t, r, "ListBot"); c.ClaimsRefused != 1 || c.VerifiedRefused != 0 || f.Paste != "" || !strings.Contains(f.Text, "change nothing") {
		t.Errorf("%+v %+v", f, c)
	}
}

// The list of today can verify an address in a log of last month, but an address that is
// not in it does not count as an impostor's.
func TestClaimsOfOldLogs(t *testing.T) {
	now := claimsTime.AddDate(0, 1, 0)
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(claimsLog))}, Sites: claimsSite(t, &operator{}, now), Verify: true, Now: func() time.Time { return now }})
	if c := crawlerOf(t, r, "ListBot"); c.Verified != 1 || c.Impostor != 0 || c.Unverified != 1 || !warned(r, "verify_old") {
		t.Errorf("%+v %v", c, r.Warnings)
	}
}

func TestClaimsWithoutNetwork(t *testing.T) {
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(claimsLog))}, Sites: claimsSite(t, &operator{down: true}, claimsTime), Verify: true})
	if c := crawlerOf(t, r, "NameBot"); c.Verified+c.Impostor != 0 || c.Unverified != 4 || !warned(r, "verify_failed") {
		t.Errorf("%+v %v", c, r.Warnings)
	}
}

// DNS alone can't refute the claim of a crawler whose lists did not answer, so the report
// must not say that no real search engine is refused.
func TestClaimsWithoutLists(t *testing.T) {
	log := strings.Join(strings.SplitAfter(claimsLog, "\n")[:2], "")
	r := mustRun(t, Options{Files: []logfile.File{memory("access.log", []byte(log))}, Sites: claimsSite(t, &operator{noLists: true}, claimsTime), Verify: true, Now: func() time.Time { return claimsTime }})
	if f := findingOf(r, "search_refused"); !warned(r, "verify_failed") || !strings.Contains(f.Change, "No crawler could be verified") {
		t.Errorf("%+v %v", f, r.Warnings)
	}
}
