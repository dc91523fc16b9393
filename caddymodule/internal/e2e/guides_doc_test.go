package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/child"
)

// Of crawlers, nginx with the lines of docs/migrate.md and Caddy with the ones in
// their place let as many requests pass at once.
func TestDocumentedLimitOfNginx(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page(""))
	s := start(t, documented(t, "docs/migrate.md", "caddyfile", "all 30/1m", "example.com {", "http://localhost:$PORT {", "localhost:8080", b.address()))
	const nginx = "/usr/sbin/nginx"
	ports := map[int]int{s.port: 429}
	if _, err := exec.LookPath(nginx); err != nil {
		t.Logf("%s is not installed: only the Caddyfile is run", nginx)
	} else {
		dir, port := t.TempDir(), freePort(t)
		ports[port] = 503
		file := filepath.Join(dir, "nginx.conf")
		writeFile(t, file, fmt.Sprintf("daemon off;\npid %s/pid;\nerror_log %[1]s/error.log;\nevents {}\nhttp {\naccess_log off;\n%s}\n", dir,
			documented(t, "docs/migrate.md", "nginx", "limit_req", "listen 80;", fmt.Sprintf("listen 127.0.0.1:%d;", port), "localhost:8080", b.address())))
		theirs := child.SignalledCommand(syscall.SIGTERM, nginx, "-c", file, "-p", dir)
		if err := theirs.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = theirs.Process.Signal(os.Interrupt); _ = theirs.Wait() })
		s.eventually("nginx is up", func() bool {
			_, err := send(client, http.MethodGet, fmt.Sprintf("http://localhost:%d/", port), chrome, "", nil)
			return err == nil
		})
	}
	for port, refused := range ports {
		url := fmt.Sprintf("http://localhost:%d/archive/x", port)
		passed := 0
		for range 10 { // a machine that is slow earns one request in two seconds
			resp := s.do(http.MethodGet, url, gptbot, "", nil)
			if resp.status == refused {
				break
			}
			s.wants(200, resp, url)
			passed++
		}
		if passed < 3 || passed == 10 {
			t.Errorf("%s: %d requests of a crawler passed at once, want 3", url, passed)
		}
		s.wants(200, s.do(http.MethodGet, url, chrome, "", nil), url+" for a person")
	}
}
