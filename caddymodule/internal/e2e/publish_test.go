package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// The handler answers GET and HEAD of /robots.txt. The site answers other methods.
func TestPublish(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "robots.txt")
	writeFile(t, path, disallow("/"))
	s := start(t, "http://:$PORT {\n\tlog\n\trobots {\n\t\tsource file "+path+"\n\t\tpublish\n\t}\n\trespond \"the site's {method}\"\n}\n")
	ask := func(method, ua string, header http.Header) response {
		t.Helper()
		return s.do(method, fmt.Sprintf("http://localhost:%d/robots.txt", s.port), ua, "", header)
	}
	s.wants(403, s.get(gptbot, "/"), "a crawler")
	first := ask(http.MethodGet, gptbot, nil)
	tag := first.header.Get("ETag")
	if first.status != 200 || first.body != disallow("/") || tag == "" {
		t.Errorf("GET: status %d, %q, ETag %q", first.status, first.body, tag)
	}
	if got := ask(http.MethodHead, gptbot, nil); got.status != 200 || got.body != "" || got.header.Get("Content-Length") != fmt.Sprint(len(disallow("/"))) || got.header.Get("ETag") != tag {
		t.Errorf("HEAD: status %d, %q, %v", got.status, got.body, got.header)
	}
	if got := ask(http.MethodGet, gptbot, http.Header{"If-None-Match": {tag}}); got.status != 304 || got.body != "" {
		t.Errorf("with the ETag: status %d, %q", got.status, got.body)
	}
	if got := ask(http.MethodGet, gptbot, http.Header{"If-None-Match": {`"another"`}}); got.status != 200 || got.body != first.body {
		t.Errorf("with another ETag: status %d, %q", got.status, got.body)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		for _, ua := range []string{chrome, gptbot} {
			if got := ask(method, ua, nil); got.status != 200 || got.body != "the site's "+method {
				t.Errorf("%s: status %d, %q, want the site's answer", method, got.status, got.body)
			}
		}
	}
	writeFile(t, path+".new", disallow("/new/"))
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	s.eventually("the new file is published", func() bool { return ask(http.MethodGet, chrome, nil).body == disallow("/new/") })
	if got := ask(http.MethodGet, gptbot, http.Header{"If-None-Match": {tag}}); got.status != 200 || got.header.Get("ETag") == tag {
		t.Errorf("a new file with the old one's ETag: status %d, %v", got.status, got.header)
	}
}

// Requests for /robots.txt are never denied. They are logged like other requests of
// a crawler.
func TestReadingRobotsTxtIsRecorded(t *testing.T) {
	t.Parallel()
	const text = "\"User-agent: *\nDisallow: /\nCrawl-delay: 600\""
	for name, site := range map[string]string{
		"the site's":    "robots\n\trespond /robots.txt " + text + "\n\trespond page",
		"published":     "robots {\n\t\tsource inline " + text + "\n\t\tpublish\n\t}\n\trespond page",
		"under monitor": "robots {\n\t\tmode monitor\n\t\tsource inline " + text + "\n\t\tpublish\n\t}\n\trespond page",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "http://:$PORT {\n\tlog\n\t"+site+"\n}\n")
			for i := range 3 {
				s.wants(200, s.get(gptbot, fmt.Sprintf("/robots.txt?%d", i)), "robots.txt")
			}
			s.wants(200, s.get(gptbot, "/robots.txt"), "robots.txt")
			got := s.decision("/robots.txt")
			if got["crawler"] != "GPTBot" || got["class"] != "crawler" || got["purpose"] != "ai-training" || got["action"] != "pass" {
				t.Errorf("the access log has %v", got)
			}
			if n := s.metric(`caddy_robots_decisions_total{action="deny",crawler="GPTBot",reason="disallowed"}`); n != 0 {
				t.Errorf("%v denials are counted", n)
			}
			s.wants(200, s.get(chrome, "/robots.txt?person"), "robots.txt for a person")
		})
	}
}

// Exempt paths are never denied or throttled, and use no budget.
func TestExemptPathsAreNeverRefused(t *testing.T) {
	t.Parallel()
	s := start(t, `http://:$PORT {
	log
	robots {
		source inline "User-agent: *
Disallow: /.well-known/
Disallow: /feed.xml
Disallow: /private/
Crawl-delay: 600

User-agent: GPTBot
Visit-time: 0000-0000
Disallow: /"
		exempt_paths /.well-known/* /feed.xml
	}
	respond page
}`)
	for range 3 {
		for _, path := range []string{"/.well-known/acme", "/feed.xml", "/feed.xml?x=1"} {
			s.wants(200, s.get(bingbot, path), path)
			s.wants(200, s.get(gptbot, path), path+" for a crawler that may fetch nothing")
		}
	}
	s.wants(200, s.get(bingbot, "/"), "the first request that counts")
	s.wants(429, s.get(bingbot, "/"), "the second one")
	s.wants(200, s.get(bingbot, "/.well-known/acme"), "an exempt path then")
	s.wants(403, s.get(bingbot, "/.well-known/../private/x"), "a path that begins like an exempt one and leads elsewhere")
	if got := s.decision("/feed.xml"); got["crawler"] != "bingbot" || got["action"] != "pass" {
		t.Errorf("an exempt path is logged with %v", got)
	}
}
