package e2e_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/test/child"
)

// checkedExamples are the names of the files that example has checked.
var checkedExamples sync.Map

// example returns a file of testdata/examples with parts of it replaced. The file
// must contain each part, be valid and be formatted.
func example(t *testing.T, name string, oldnew ...string) string {
	t.Helper()
	path := filepath.Join(root(t), "testdata", "examples", name+".Caddyfile")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, again := checkedExamples.LoadOrStore(name, true); !again {
		validate(t, "caddyfile", string(text))
		formatted, err := exec.Command(binary, "fmt", path).Output()
		if string(formatted) != string(text) {
			t.Errorf("%s is not formatted (%v)", path, err)
		}
	}
	for i := 0; i < len(oldnew); i += 2 {
		if !strings.Contains(string(text), oldnew[i]) {
			t.Fatalf("%s does not contain %q", path, oldnew[i])
		}
	}
	config := string(text)
	for strings.HasPrefix(config, "#") { // so that the global options are at the beginning, where start adds the test's
		_, config, _ = strings.Cut(config, "\n")
	}
	return strings.NewReplacer(oldnew...).Replace(config)
}

// Each example has a test.
func TestExamplesAreTested(t *testing.T) {
	t.Parallel()
	source := readFile(t, "examples_test.go") + readFile(t, "limit_doc_test.go") + readFile(t, "software_doc_test.go") + readFile(t, "forwarded_request_test.go") + readFile(t, "proxies_test.go")
	files, _ := filepath.Glob(filepath.Join(root(t), "testdata", "examples", "*.Caddyfile"))
	if len(files) < 10 {
		t.Errorf("%d examples", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".Caddyfile")
		if !strings.Contains(source, fmt.Sprintf("example(t, %q", name)) {
			t.Errorf("no test runs the example %s", name)
		}
	}
}

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
		example(t, "php")
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

func TestExampleReverseProxy(t *testing.T) {
	t.Parallel()
	main := newBackend(t, page("User-agent: *\nDisallow: /shop/cart\nDisallow: /api/private\n"))
	api := newBackend(t, page("User-agent: *\nDisallow: /\n"))
	shop, second := newBackend(t, page("")), newBackend(t, page(""))
	at := func(b *backend) string { return strings.TrimPrefix(b.URL, "http://") }
	s := start(t, example(t, "reverse-proxy", "example.com {", "http://localhost:$PORT {",
		"localhost:9000", at(main), "localhost:9001", at(api), "localhost:9002", at(shop), "localhost:9003", at(second)))
	s.wants(403, s.get(googlebot, "/shop/cart"), "a path of the second back end that the first disallows")
	s.wants(403, s.get(googlebot, "/api/private"), "a path of the API that the first disallows")
	tagged := s.get(googlebot, "/api/open")
	s.wants(200, tagged, "the API: its own robots.txt is not the site's")
	if got := tagged.header.Get("X-Robots-Tag"); got != "noindex" {
		t.Errorf("X-Robots-Tag of the API: %q", got)
	}
	s.wants(200, s.get(chrome, "/shop/cart"), "a person")
	s.wants(403, s.get("Mozilla/5.0 (compatible; GTmetrix/1.0)", "/shop/cart"), "the exempt tester's name from another address")
}

func TestExampleStatic(t *testing.T) {
	t.Parallel()
	s := start(t, example(t, "static", "example.com {", "http://localhost:$PORT {", "/var/www/html", filepath.Join(root(t), "testdata", "site")))
	for path, want := range map[string]string{"/files/report.pdf": "noindex", "/index.html": "", "/gone.html": "", "/gone.docx": "noindex, nofollow"} {
		if got := s.get(chrome, path).header.Get("X-Robots-Tag"); got != want {
			t.Errorf("%s: X-Robots-Tag %q, want %q", path, got, want)
		}
	}
	s.wants(403, s.get(gptbot, "/index.html"), "a crawler that may fetch nothing")
}

func TestExampleOnDemand(t *testing.T) {
	t.Parallel()
	b := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/may-have-a-certificate" {
			return
		}
		page(disallow("/of-"+strings.TrimSuffix(r.Host, ".test")))(w, r)
	})
	tlsPort := freePort(t)
	start(t, example(t, "on-demand", "https:// {", fmt.Sprintf("https://:%d {", tlsPort), "localhost:9000", strings.TrimPrefix(b.URL, "http://")))
	for _, host := range []string{"one", "two", "three"} {
		c := &http.Client{Timeout: patience, Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("localhost:%d", tlsPort))
			},
		}}
		for path, want := range map[string]int{"/of-one": 200, "/of-two": 200, "/of-three": 200, "/of-" + host: 403} {
			if resp, err := send(c, http.MethodGet, "https://"+host+".test"+path, googlebot, "", nil); err != nil || resp.status != want {
				t.Errorf("%s.test%s: status %d, %v; want %d", host, path, resp.status, err, want)
			}
		}
		c.CloseIdleConnections()
	}
}

func TestExampleManySites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var more strings.Builder
	for i := range 200 {
		writeFile(t, filepath.Join(dir, fmt.Sprint("site", i), "robots.txt"), disallow(fmt.Sprint("/of-", i)))
		writeFile(t, filepath.Join(dir, fmt.Sprint("site", i), fmt.Sprint("of-", i)), "page")
		fmt.Fprintf(&more, "http://site%d.test:$PORT {\n\timport tenant site%d\n}\n", i, i)
	}
	writeFile(t, filepath.Join(dir, "three", "robots.txt"), disallow("/private"))
	writeFile(t, filepath.Join(dir, "three", "private"), "page")
	s := start(t, example(t, "many-sites", "/srv/", dir+"/", "one.example.com {", more.String()+"http://one.test:$PORT {",
		"two.example.com {", "http://two.test:$PORT {", "three.example.com {", "http://three.test:$PORT {"))
	for i := range 200 {
		host, path := fmt.Sprintf("site%d.test", i), fmt.Sprint("/of-", i)
		s.wants(403, s.at(host, googlebot, path), host)
		s.wants(200, s.at(host, chrome, path), host+" for a person")
		s.wants(403, s.at(host, gptbot, "/"), host+" for a crawler that the shared policy denies")
	}
	s.wants(200, s.at("three.test", googlebot, "/private"), "a site in monitor mode")
}

func TestExampleBalancer(t *testing.T) {
	t.Parallel()
	b := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Forwarded-Proto") != "https" {
			http.Redirect(w, r, "https://"+r.Host+r.URL.Path, http.StatusMovedPermanently) // many applications force https in this way
			return
		}
		page("User-agent: *\nDisallow: /private\nCrawl-delay: 600\n")(w, r)
	})
	s := start(t, example(t, "balancer", "http://example.com {", "http://localhost:$PORT {", "localhost:9000", strings.TrimPrefix(b.URL, "http://")))
	from := func(addr, ua, path string) response {
		return s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, "",
			http.Header{"X-Forwarded-For": {addr}, "X-Forwarded-Proto": {"https"}})
	}
	s.wants(403, from("203.0.113.1", googlebot, "/private"), "a disallowed path behind the balancer")
	s.wants(200, from("203.0.113.1", "Wget/1.21.3", "/"), "wget from one address")
	s.wants(200, from("203.0.113.2", "Wget/1.21.3", "/"), "wget from another address")
	s.wants(429, from("203.0.113.1", "Wget/1.21.3", "/"), "wget from the first address again")
	s.wants(429, from("198.51.100.7, 203.0.113.1", "Wget/1.21.3", "/"), "wget with an invented address before its own")
}

func TestExampleCDN(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page(disallow("/private")))
	s := start(t, example(t, "cdn", "2001:db8::/32", "2001:db8::/32 127.0.0.0/8 ::1/128", "example.com {", "http://localhost:$PORT {", "localhost:9000", strings.TrimPrefix(b.URL, "http://"), "\t\tverify\n", "\t\tverify {\n\t\t\tlists off\n\t\t\tdns off\n\t\t\tsignatures off\n\t\t}\n"))
	denied := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/private", s.port), googlebot, "", http.Header{"X-Forwarded-For": {"203.0.113.9"}})
	s.wants(403, denied, "a disallowed path behind the CDN")
	if got := denied.header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control of a denial: %q", got)
	}
	s.wants(200, s.get(chrome, "/private"), "a person")
}

func TestExampleFleet(t *testing.T) {
	t.Parallel()
	r := newRedis(t)
	if r == nil {
		t.Log("redis-server is not installed: the example is only validated")
		example(t, "fleet")
		return
	}
	b := newBackend(t, page("User-agent: *\nCrawl-delay: 600\n"))
	config := example(t, "fleet", "http://example.com {\n", "http://:$PORT {\n\tbind $HOST\n", "localhost:9000", strings.TrimPrefix(b.URL, "http://"),
		"10.0.0.5:6379", fmt.Sprintf("localhost:%d", r.port))
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

func TestExampleMonitor(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page(disallow("/private")))
	s := start(t, example(t, "monitor", "example.com {", "http://localhost:$PORT {", "localhost:9000", strings.TrimPrefix(b.URL, "http://")))
	s.wants(200, s.get(googlebot, "/private"), "a disallowed path in monitor mode")
	s.eventually("the would-be denial is counted", func() bool {
		return s.metric(`caddy_robots_decisions_total{action="would_deny",crawler="Googlebot",reason="disallowed"}`) == 1
	})
}

func TestExampleStaging(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page("")) // the robots.txt of the application allows everything
	s := start(t, example(t, "staging", "staging.example.com {", "http://localhost:$PORT {", "localhost:9000", strings.TrimPrefix(b.URL, "http://")))
	s.wants(403, s.get(googlebot, "/"), "a search engine")
	s.wants(403, s.get("curl/8.9.1", "/"), "a script")
	if got := s.get(chrome, "/"); got.status != 200 || got.header.Get("X-Robots-Tag") != "noindex" {
		t.Errorf("a person gets status %d with X-Robots-Tag %q", got.status, got.header.Get("X-Robots-Tag"))
	}
	if text := s.get(chrome, "/robots.txt").body; !strings.Contains(text, "Disallow: /") {
		t.Errorf("the published robots.txt:\n%s", text)
	}
}

func TestExampleAI(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page(disallow("/private")))
	s := start(t, example(t, "ai", "example.com {", "http://localhost:$PORT {", "localhost:9000", strings.TrimPrefix(b.URL, "http://")))
	s.wants(403, s.get(gptbot, "/"), "a crawler of purpose ai-training")
	s.wants(200, s.get(googlebot, "/"), "a search engine")
	s.wants(403, s.get(googlebot, "/private"), "a rule of the site's own")
	if text := s.get(chrome, "/robots.txt").body; !strings.Contains(text, "User-agent: GPTBot") || !strings.Contains(text, "Disallow: /private\n") {
		t.Errorf("the published robots.txt:\n%s", text)
	}
}
