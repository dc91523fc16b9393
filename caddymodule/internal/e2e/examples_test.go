package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/child"
	doc "github.com/caddy-robots/caddy-robots/internal/test/pages"
)

// documented returns the block of a page, in a language, that contains a text, with
// parts of it replaced.
func documented(t *testing.T, page, language, contains string, oldnew ...string) string {
	t.Helper()
	path := filepath.Join(root(t), page)
	blocks, _ := doc.Blocks(path)
	for _, block := range blocks {
		if block.Language == language && strings.Contains(block.Text, contains) {
			contains = block.Text
			break
		}
	}
	text, err := doc.Snippet(path, contains, oldnew...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// example returns a file of testdata/examples with parts of it replaced.
func example(t *testing.T, name string, oldnew ...string) string {
	t.Helper()
	text, err := doc.Snippet(filepath.Join(root(t), "testdata", "examples", name+".Caddyfile"), "", oldnew...)
	if err != nil {
		t.Fatal(err)
	}
	for strings.HasPrefix(text, "#") { // so that the global options are at the beginning, where start adds the test's
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// address returns the host and port of a back end.
func (b *backend) address() string { return strings.TrimPrefix(b.URL, "http://") }

// page answers /robots.txt with a text, and other paths with a page that names the
// path.
func page(robots string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, robots)
			return
		}
		fmt.Fprintf(w, "page %s", r.URL.Path)
	}
}

// startPHP starts php-fpm with the file fpm.conf in a folder. An interrupt ends it with
// its children.
func startPHP(t *testing.T, program, dir string) {
	t.Helper()
	fpm := child.SignalledCommand(syscall.SIGTERM, program, "--fpm-config", filepath.Join(dir, "fpm.conf"), "--allow-to-run-as-root", "--nodaemonize")
	if err := fpm.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fpm.Process.Signal(os.Interrupt); _ = fpm.Wait() })
}

func TestExamplePHP(t *testing.T) {
	t.Parallel()
	programs, _ := filepath.Glob("/usr/sbin/php-fpm*")
	if len(programs) == 0 {
		t.Log("php-fpm is not installed: the example is only validated")
		return
	}
	dir := t.TempDir()
	socket, port := filepath.Join(dir, "fpm.sock"), freePort(t)
	status := filepath.Join(dir, "status") // if it exists, a maintenance page with this status answers all requests
	writeFile(t, filepath.Join(dir, "site", "index.php"), fmt.Sprintf(`<?php
if (is_file('%s')) {
	http_response_code((int) file_get_contents('%[1]s'));
	echo '<!DOCTYPE html><title>Maintenance</title>';
	return;
}
if ($_SERVER['REQUEST_URI'] === '/robots.txt') {
	header('Content-Type: text/plain');
	echo "User-agent: *\nDisallow: /private/\nDisallow: /wp-admin/\nCrawl-delay: 600\n";
	return;
}
echo 'page ' . $_SERVER['REQUEST_URI'];
`, status))
	writeFile(t, filepath.Join(dir, "site", "wp-admin", "admin-ajax.php"), "<?php echo 'ajax';")
	writeFile(t, filepath.Join(dir, "fpm.conf"), fmt.Sprintf(`[global]
error_log = %[1]s/fpm.log
daemonize = no
[www]
listen = %[2]s
pm = static
pm.max_children = 2
[port]
listen = 127.0.0.1:%[3]d
pm = static
pm.max_children = 2
`, dir, socket, port))
	config := func(listen string) string {
		return example(t, "php", "example.com {", "http://localhost:$PORT {",
			"/var/www/wordpress", filepath.Join(dir, "site"), "unix//run/php/php-fpm.sock", listen)
	}
	s := start(t, config("unix/"+socket))
	s.wants(502, s.get(googlebot, "/private/x"), "before php-fpm runs, no rule of robots.txt is enforced")
	s.wants(404, s.get(googlebot, "/index.php/private/x"), "hidden paths are denied nevertheless")

	startPHP(t, programs[0], dir)
	s.eventually("PHP answers", func() bool { return s.get(chrome, "/hello").body == "page /hello" })
	s.eventually("the rules are in force", func() bool { return s.get(googlebot, "/private/x").status == 403 })
	if got := s.get(chrome, "/feed/atom").header.Get("X-Robots-Tag"); got != "noindex" {
		t.Errorf("X-Robots-Tag of a feed: %q", got)
	}

	// admin-ajax.php and PATH_INFO
	s.wants(403, s.get(googlebot, "/wp-admin/options.php"), "a disallowed path")
	s.wants(200, s.get(chrome, "/wp-admin/options.php"), "a person")
	for range 2 {
		if got := s.get(bingbot, "/wp-admin/admin-ajax.php?action=x"); got.status != 200 || got.body != "ajax" {
			t.Errorf("admin-ajax.php, which is disallowed and has a Crawl-delay: status %d, %q", got.status, got.body)
		}
	}
	s.wants(404, s.get(googlebot, "/index.php/private/x"), "a disallowed path as PATH_INFO")
	s.wants(404, s.rawGet("//index%2ephp/private/x", googlebot), "another spelling of it")
	if got := s.get(chrome, "/index.php/private/x"); got.status != 200 || got.body != "page /index.php/private/x" {
		t.Errorf("a person at a path with PATH_INFO: status %d, %q", got.status, got.body)
	}
	if text := s.get(chrome, "/robots.txt").body; strings.Contains(text, "index.php") || !strings.Contains(text, "Disallow: /private/") {
		t.Errorf("the published robots.txt:\n%s", text)
	}

	// Maintenance
	refresh := fmt.Sprintf("http://localhost:%d/robots/refresh", s.admin)
	for _, c := range []struct {
		page, want int
		what       string
	}{
		{503, 403, "a maintenance page with status 503: the last robots.txt stays in force"},
		{200, 403, "a maintenance page with status 200: it is no robots.txt"},
	} {
		writeFile(t, status, fmt.Sprint(c.page))
		s.wants(200, s.do(http.MethodPost, refresh, "", "", nil), "refresh")
		s.wants(c.want, s.get(googlebot, "/private/x"), c.what)
	}
	if err := os.Remove(status); err != nil {
		t.Fatal(err)
	}

	// The other kind of listener
	if err := s.reload(config(fmt.Sprintf("127.0.0.1:%d", port))); err != nil {
		t.Fatal(err)
	}
	if got := s.get(chrome, "/hello").body; got != "page /hello" {
		t.Errorf("PHP at a port answers %q", got)
	}
}

// newRedis starts a redis-server, and returns its port. It returns 0 if none is installed.
func newRedis(t *testing.T) (port int) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		return 0
	}
	port = freePort(t)
	cmd := child.Command("redis-server", "--port", fmt.Sprint(port), "--save", "", "--appendonly", "no")
	cmd.Dir = t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return port
}

func TestExampleFleet(t *testing.T) {
	t.Parallel()
	redis := newRedis(t)
	if redis == 0 {
		t.Log("redis-server is not installed: the example is only validated")
		return
	}
	b := newBackend(t, page("User-agent: *\nCrawl-delay: 600\n"))
	config := example(t, "fleet", "http://example.com {\n", "http://:$PORT {\n\tbind $HOST\n", "localhost:9000", strings.TrimPrefix(b.URL, "http://"),
		"10.0.0.5:6379", fmt.Sprintf("localhost:%d {\n\t\t\tdeadline 1s\n\t\t}", redis))
	port := freePort(t)
	for _, address := range []string{"127.0.0.2", "127.0.0.3"} {
		s := startAt(t, address, port, config)
		s.eventually("the server shares budgets", func() bool { s.get(chrome, "/"); return s.metric("caddy_robots_fleet_up") == 1 })
	}
	for i, want := range []int{200, 429} {
		url := fmt.Sprintf("http://127.0.0.%d:%d/", i+2, port)
		if resp, err := send(client, http.MethodGet, url, bingbot, "site.test", nil); err != nil || resp.status != want {
			t.Errorf("bingbot at server %d: status %d, %v; want %d", i, resp.status, err, want)
		}
	}
}
