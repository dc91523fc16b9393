package e2e_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// The back end gets the field of the example for suspects only.
func TestDocumentedMatcherOfSuspects(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page(disallow("/private")))
	tlsPort := freePort(t)
	s := start(t, documented(t, "suspects.md", "caddyfile", "@suspect robots suspect", "example.com {", fmt.Sprintf("https://localhost:%d {", tlsPort), "localhost:8080", b.address()))
	c := http2Client(tlsPort)
	t.Cleanup(c.CloseIdleConnections)
	get := func(ua, path string) {
		t.Helper()
		if _, err := send(c, http.MethodGet, fmt.Sprintf("https://localhost:%d%s", tlsPort, path), ua, "", nil); err != nil {
			t.Fatal(err)
		}
	}
	s.eventually("there is a certificate", func() bool {
		_, err := send(c, http.MethodGet, fmt.Sprintf("https://localhost:%d/", tlsPort), "curl/8.5.0", "", nil)
		return err == nil
	})
	get(firefox, "/robots.txt")
	for i := range 60 {
		get(firefox, fmt.Sprintf("/page-%d.html", i))
	}
	get(firefox, "/by-a-suspect")
	get(chrome, "/by-a-person")
	for path, want := range map[string]string{"/by-a-suspect": "yes", "/by-a-person": ""} {
		if got := b.requests(path)[0].Header.Get("X-Suspect"); got != want {
			t.Errorf("%s: X-Suspect %q, want %q", path, got, want)
		}
	}
}

// The commands of the page, run against its first example, make a suspect.
func TestDocumentedSuspect(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("curl is not installed: the commands are not run")
		return
	}
	tlsPort := freePort(t)
	s := start(t, documented(t, "suspects.md", "caddyfile", "action observe", "example.com {", fmt.Sprintf("https://localhost:%d {", tlsPort),
		"root * /srv/www", "root * "+trapSite(t), "robots {", "robots {\n"+trapRules))
	c := http2Client(tlsPort)
	t.Cleanup(c.CloseIdleConnections)
	s.eventually("there is a certificate", func() bool {
		_, err := send(c, http.MethodGet, fmt.Sprintf("https://localhost:%d/", tlsPort), "curl/8.5.0", "", nil)
		return err == nil
	})
	commands := documented(t, "suspects.md", "sh", "/calendar-all/", "https://localhost", fmt.Sprintf("https://localhost:%d", tlsPort), "localhost:2019", fmt.Sprintf("localhost:%d", s.admin))
	out, err := exec.Command("bash", "-c", commands).Output()
	if err != nil || !strings.Contains(string(out), `"signals":["robots_txt","trap"]`) && !strings.Contains(string(out), `"signals":["trap","robots_txt"]`) {
		t.Errorf("%v: %s", err, out)
	}
}
