package e2e_test

import (
	"fmt"
	"net/http"

	"testing"
)

// The internal read must not double the background work of the site's modules,
// such as active health checks.
func TestInternalReadDoublesNoHealthChecks(t *testing.T) {
	t.Parallel()
	pages := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			fmt.Fprint(w, disallow("/private/"))
		}
	}
	with, without := newBackend(t, pages), newBackend(t, pages)
	site := func(host, directive string, b *backend) string {
		return "http://" + host + ":$PORT {\n\t" + directive + "\n\treverse_proxy " + b.URL + " {\n\t\thealth_uri /health\n\t\thealth_interval 50ms\n\t}\n}\n"
	}
	config := site("with.test", "robots {\n\t\trefresh 1s\n\t}", with) + site("without.test", "header X-Robots no", without)
	s := start(t, config)
	// Both timers run in one process, so a busy machine delays both. One begins
	// before the other, and a check may be running, so the numbers may differ by a
	// quarter.
	compare := func(when string) {
		t.Helper()
		s.wants(403, s.at("with.test", googlebot, "/private/x"), "a crawler "+when)
		const intervals = 40
		a, b := len(with.requests("/health")), len(without.requests("/health"))
		s.eventually("there were forty intervals", func() bool { return len(without.requests("/health")) >= b+intervals })
		got, want := len(with.requests("/health"))-a, len(without.requests("/health"))-b
		if got > want*5/4 || got < want*3/4 {
			t.Errorf("%s: %d health checks with robots, %d without", when, got, want)
		}
	}
	compare("at first")
	if err := s.reload(config); err != nil {
		t.Fatal(err)
	}
	compare("after a reload")
}
