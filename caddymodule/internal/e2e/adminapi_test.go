package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
)

// adminValue gets a value from the admin API.
func adminValue[T any](s *server, route string) (value T) {
	s.t.Helper()
	s.adminRequest(http.MethodGet, route, 200, &value)
	return value
}

// adminRequest sends a request to the admin API. It decodes the answer into value,
// unless value is nil.
func (s *server) adminRequest(method, route string, want int, value any) response {
	s.t.Helper()
	got := s.do(method, fmt.Sprintf("http://localhost:%d/robots/%s", s.admin, route), "test", "", nil)
	if got.status != want {
		s.t.Fatalf("%s /robots/%s: status %d, want %d: %s", method, route, got.status, want, got.body)
	}
	if value != nil {
		if err := json.Unmarshal([]byte(got.body), value); err != nil {
			s.t.Fatalf("%s /robots/%s: %v: %s", method, route, err, got.body)
		}
	}
	return got
}

// end stops a server with SIGTERM, and waits until it has ended.
func (s *server) end() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	s.eventually("the server has ended", func() bool {
		return s.cmd.Process.Signal(syscall.Signal(0)) != nil
	})
}

// tenants is a configuration of two sites. The first one has a hidden path, the
// address of the second one is a pattern.
const tenants = `
http://shop.test:$PORT {
	robots {
		refresh 1h
		policy {
			hidden /secret-area/*
		}
	}
	file_server {
		root $DIR/shop
	}
}
http://*.pages.test:$PORT {
	robots {
		source inline <<TXT
			User-agent: *
			Disallow: /drafts/
			Crawl-delay: 600
			TXT
	}
	respond "page"
}`

const shopRobots = "User-agent: *\nDisallow: /private/\n\nUser-agent: bingbot\nCrawl-delay: 600\n"

// startTenants starts a server with tenants and calls visit.
func startTenants(t *testing.T, global string) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir(), host: "localhost", port: freePort(t), admin: freePort(t)}
	writeFile(t, filepath.Join(s.dir, "shop/robots.txt"), shopRobots)
	writeFile(t, filepath.Join(s.dir, "shop/index.html"), "hello")
	s.run(global + tenants)
	s.visit()
	return s
}

// visit sends six requests: three of crawlers that are refused, one of a crawler
// that is allowed, and two of people.
func (s *server) visit() {
	s.t.Helper()
	s.wants(403, s.at("shop.test", gptbot, "/private/report?token=hunter2"), "a disallowed path")
	s.wants(404, s.at("shop.test", googlebot, "/secret-area/x?token=hunter2"), "a hidden path")
	s.wants(200, s.at("shop.test", googlebot, "/"), "an allowed path")
	s.wants(403, s.at("a.pages.test", "Mozilla/5.0 (compatible; PageBot/1.0)", "/drafts/1"), "a disallowed path of a page")
	for range 2 {
		s.wants(200, s.at("a.pages.test", chrome, "/drafts/1"), "a person")
	}
}
