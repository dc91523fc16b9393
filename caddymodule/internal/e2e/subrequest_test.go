package e2e_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
)

// A page that the server assembles from parts counts as one request of the
// crawler.
func TestSubrequestsAreNotCounted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "page.html"), `<p>page with {{httpInclude "/part.html"}}, {{httpInclude "/private/part.html"}}</p>`)
	writeFile(t, filepath.Join(dir, "part.html"), "a part")
	writeFile(t, filepath.Join(dir, "private", "part.html"), "a disallowed part")
	writeFile(t, filepath.Join(dir, "robots.txt"), "User-agent: bingbot\nCrawl-delay: 600\nDisallow: /private/\n")
	s := start(t, "http://:$PORT {\n\troot "+dir+"\n\tlog\n\trobots\n\ttemplates\n\tfile_server\n}\n")
	const want = "<p>page with a part, a disallowed part</p>"
	if got := s.get(chrome, "/page.html"); got.status != 200 || got.body != want {
		t.Fatalf("a person: status %d, %q", got.status, got.body)
	}
	if got := s.get(bingbot, "/page.html"); got.status != 200 || got.body != want {
		t.Errorf("the first page in a Crawl-delay: status %d, %q", got.status, got.body)
	}
	s.wants(429, s.get(bingbot, "/page.html"), "the second")
	// The templates handler marks its requests with a field that clients can send too.
	marked := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/private/part.html", s.port), bingbot, "", http.Header{"Caddy-Templates-Include": {"1"}})
	s.wants(403, marked, "a client that sends the mark of the templates handler")
	if n := s.metric(`caddy_robots_decisions_total{action="throttle",crawler="bingbot",reason="crawl_delay"}`); n != 1 {
		t.Errorf("%v requests are counted as throttled, want 1", n)
	}
}
