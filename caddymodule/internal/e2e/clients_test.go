package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// from sends a request with a client address, in the same way as a trusted proxy.
func (s *server) from(address, method, ua, path string, fields ...string) response {
	s.t.Helper()
	h := http.Header{"X-Forwarded-For": {address}}
	for i := 0; i+1 < len(fields); i += 2 {
		h.Set(fields[i], fields[i+1])
	}
	return s.do(method, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, "", h)
}

// behindProxy returns a configuration that trusts the proxy of from.
func behindProxy(robots, options string) string {
	return "{\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/8 ::1/128\n\t}\n}\nhttp://:$PORT {\n\trobots {\n\t\tsource inline <<TXT\n\t\t\t" +
		strings.ReplaceAll(strings.TrimSpace(robots), "\n", "\n\t\t\t") + "\n\t\t\tTXT\n\t\tpublish\n" + options + "\t}\n\trespond hello\n}\n"
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	const ua = "SiteSweeper/2.0"
	config := func(value string) string {
		return behindProxy("User-agent: *\nDisallow: /private/\nCrawl-delay: 100\n", "\t\tprograms "+value+"\n")
	}
	s := start(t, config("seen"))
	get := func(address string, fields ...string) response {
		return s.from(address, http.MethodGet, ua, "/private/", fields...)
	}
	s.wants(200, get("192.0.2.1"), "before it read /robots.txt")
	s.wants(200, s.from("192.0.2.1", http.MethodGet, ua, "/robots.txt"), "its request for /robots.txt")
	s.wants(403, get("192.0.2.1"), "after it read /robots.txt")
	s.wants(200, get("192.0.2.1", "Authorization", "Bearer x"), "with Authorization")
	s.wants(200, s.from("192.0.2.1", http.MethodPost, ua, "/private/"), "its POST")
	s.wants(200, get("192.0.2.2"), "from another address")
	s.wants(200, s.from("192.0.2.1", http.MethodGet, chrome, "/private/"), "a person at that address")
	for range 2 {
		s.wants(200, s.from("192.0.2.1", http.MethodGet, ua, "/"), "the Crawl-delay does not apply to it")
	}
	if err := s.reload(config("off")); err != nil {
		t.Fatal(err)
	}
	s.wants(200, get("192.0.2.1"), "off")
	if err := s.reload(config("on")); err != nil {
		t.Fatal(err)
	}
	s.wants(403, get("192.0.2.2"), "on")
	s.wants(200, s.from("192.0.2.1", http.MethodGet, chrome, "/private/"), "a person with programs on")
	if err := s.reload(config("seen")); err != nil {
		t.Fatal(err)
	}
	s.wants(403, get("192.0.2.1"), "after a reload")
}
