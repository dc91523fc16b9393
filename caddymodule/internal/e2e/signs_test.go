package e2e_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"

// trapPage is a page with a trap, which its site's trapRules disallow.
const (
	trapPage = `<!DOCTYPE html><title>Page</title><a href="/next.html">Next</a>` +
		`{{with placeholder "http.robots.trap"}}<div hidden><a href="{{.}}" rel="nofollow" tabindex="-1" aria-hidden="true">Everything</a></div>{{end}}`

	trapRules = `source inline <<TXT
			User-agent: *
			Disallow: /calendar-all/

			User-agent: GPTBot
			Disallow: /
			TXT
		publish`
)

// trapSite writes a site of pages with a trap, and returns its root.
func trapSite(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"index.html", "next.html", "account/index.html"} {
		writeFile(t, filepath.Join(dir, name), trapPage)
	}
	return dir
}

// startDocumentedTrap starts the example of caddymodule/steps/challenge/README.md, and returns its URL.
func startDocumentedTrap(t *testing.T) (s *server, base string) {
	t.Helper()
	port := freePort(t)
	base = fmt.Sprintf("https://localhost:%d", port)
	s = start(t, documented(t, "caddymodule/steps/challenge/README.md", "caddyfile", "trap /calendar-all/*", "example.com {", base+" {",
		"root * /srv/www", "root * "+trapSite(t), "robots {", "robots {\n"+trapRules))
	c := http2Client(port)
	t.Cleanup(c.CloseIdleConnections)
	s.eventually("there is a certificate", func() bool {
		_, err := send(c, http.MethodGet, base+"/", "curl/8.5.0", "", nil)
		return err == nil
	})
	return s, base
}

// The commands of the page show what its example does, and the page that it shows has a
// trap for the client.
func TestDocumentedSigns(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Log("curl is not installed: the commands are not run")
		return
	}
	s, base := startDocumentedTrap(t)
	commands := documented(t, "caddymodule/steps/challenge/README.md", "sh", "/account/", "https://localhost", base)
	s.eventually("it is asked", func() bool {
		out, err := exec.Command("bash", "-c", commands).Output()
		return err == nil && string(out) == "429\n"
	})
	html := documented(t, "caddymodule/steps/challenge/README.md", "html", "http.robots.trap")
	page, err := exec.Command("curl", "-sk", "-A", firefox, base+"/").Output()
	if link, _, _ := strings.Cut(string(page), `" rel="nofollow"`); err != nil || !strings.Contains(link, `<div hidden><a href="/calendar-all/`) ||
		!strings.Contains(html, `<div hidden><a href="{{.}}" rel="nofollow" tabindex="-1" aria-hidden="true">`) {
		t.Errorf("%v: there is no trap in %s", err, page)
	}
}
