package e2e_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// stormed is a site that strangers storm; trusted proxies give the addresses.
type stormed struct{ *server }

func stormedSite(storage, lines string) string {
	return fmt.Sprintf(`{
	metrics
	storage file_system %s
	servers {
		trusted_proxies static 127.0.0.1/8
	}
}
http://:$PORT {
	bind $HOST
	log
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /private/
			TXT
		challenge /blame/* {
			over 20/1m
		}
		%s
	}
	handle_errors {
		respond "an error page" 418
	}
	header Content-Type text/html
	respond "page {http.request.uri}"
}`, storage, lines)
}

// startStormed starts a server with the clock of tests.
func startStormed(t *testing.T, host string, port int, dir, config string) stormed {
	t.Helper()
	return stormed{(&server{t: t, dir: dir, host: host, port: port, admin: freePort(t)}).run(config)}
}

// from sends a request from an address.
func (s stormed) from(addr, method, path string, fields ...string) (response, http.Header) {
	s.t.Helper()
	header := http.Header{"X-Forwarded-For": {addr}, "X-Forwarded-Proto": {"https"}, "Accept": {"text/html"}}
	for i := 0; i < len(fields); i += 2 {
		header.Set(fields[i], fields[i+1])
	}
	r := s.do(method, fmt.Sprintf("http://%s:%d%s", s.host, s.port, path), chrome, "example.com", header)
	return r, r.header
}

// storm lets 40 strangers come, and 30 seconds pass.
func (s stormed) storm() {
	s.t.Helper()
	for i := range 40 {
		s.from(fmt.Sprintf("203.0.113.%d", i), "GET", fmt.Sprintf("/blame/%d", i))
	}
	s.pass(30 * time.Second)
}

// passes opens a page as a browser does, and returns its cookie.
func (s stormed) passes(addr string) (cookie string) {
	s.t.Helper()
	page, _ := s.from(addr, "GET", "/blame/x?a=1")
	s.wants(429, page, "a stranger")
	m := regexp.MustCompile(`<link rel="stylesheet" href="([^"]*)">.*"(caddy-robots-pass=[^"]*)"`).FindStringSubmatch(page.body)
	if m == nil {
		s.t.Fatalf("the page has no style sheet:\n%s", page.body)
	}
	css, header := s.from(addr, "GET", "/blame/x"+m[1], "Sec-Fetch-Dest", "style", "Sec-Fetch-Site", "same-origin")
	s.wants(200, css, "the style sheet")
	cookie, _, _ = strings.Cut(header.Get("Set-Cookie"), ";")
	if !strings.HasPrefix(cookie, "__Host-caddy-robots-pass=") {
		s.t.Fatalf("the style sheet sets %q", cookie)
	}
	back, header := s.from(addr, "GET", "/blame/x?a=1&"+m[2], "Cookie", cookie)
	if s.wants(303, back, "the URL with the token"); header.Get("Location") != "/blame/x?a=1" {
		s.t.Errorf("it leads to %q", header.Get("Location"))
	}
	s.good(cookie, addr)
	return cookie
}

// good checks that a pass is good.
func (s stormed) good(cookie, addr string) {
	s.t.Helper()
	page, _ := s.from(addr, "GET", "/blame/x?a=1", "Cookie", cookie)
	if s.wants(200, page, "with the pass"); page.body != "page /blame/x?a=1" {
		s.t.Errorf("%q", page.body)
	}
}

// The servers of a fleet have one key, also while Redis is away and after it was emptied.
func TestChallengeInAFleet(t *testing.T) {
	t.Parallel()
	redis, port := miniredis.RunT(t), freePort(t)
	var servers [2]stormed
	for i := range servers {
		servers[i] = startStormed(t, fmt.Sprintf("127.0.0.%d", i+2), port, t.TempDir(),
			stormedSite(t.TempDir(), "fleet redis://"+redis.Addr()))
		servers[i].eventually("the server shares", func() bool { return servers[i].metric("caddy_robots_fleet_up") == 1 })
	}
	storm := func() {
		for _, s := range servers {
			s.eventually("strangers are asked at "+s.host, func() bool {
				s.storm()
				page, _ := s.from("192.0.2.1", "GET", "/blame/x")
				return page.status == 429
			})
		}
	}
	storm()
	cookie := servers[0].passes("192.0.2.2")
	servers[1].eventually("the other server has the key", func() bool {
		page, _ := servers[1].from("192.0.2.2", "GET", "/blame/x?a=1", "Cookie", cookie)
		return page.status == 200
	})
	redis.FlushAll()
	redis.Close()
	for _, s := range servers {
		s.good(cookie, "192.0.2.2")
	}
	if err := redis.Restart(); err != nil {
		t.Fatal(err)
	}
	storm()
	second := servers[1].passes("192.0.2.5")
	for _, s := range servers {
		s.good(cookie, "192.0.2.2")
		s.eventually("both servers accept new passes", func() bool {
			page, _ := s.from("192.0.2.5", "GET", "/blame/x?a=1", "Cookie", second)
			return page.status == 200
		})
	}
}
