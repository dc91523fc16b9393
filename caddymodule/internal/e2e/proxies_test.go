package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/caddy-robots/caddy-robots/internal/test/child"
)

// visitorAddress is the address of the clients in the tests of proxies. That of the
// proxies is 127.0.0.1, which is trusted.
const visitorAddress = "127.0.0.7"

// proxy is a proxy that asks the handler about each request.
type proxy struct {
	name   string
	family string
	own    int // the port of the handler
	port   int // the port of the proxy
}

// proxiedSite is a site behind a proxy. neighbour.test has a robots.txt of its own.
func proxiedSite(t *testing.T) *backend {
	return newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "neighbour.test" {
			page(otherRobots)(w, r)
			return
		}
		page(proxiedRobots)(w, r)
	})
}

const otherRobots = "User-agent: *\nDisallow: /of-this-host/\n"

const proxiedRobots = `User-agent: *
Disallow: /private/
Disallow: /search?q=
Allow: /private/open

User-agent: GPTBot
Disallow: /

User-agent: bingbot
Crawl-delay: 600
`

// startProxies starts a Caddy with a handler for clients and one for each proxy, and the
// proxies. It returns the server, whose port is that of the handler for clients.
// more are lines for all handlers.
func startProxies(t *testing.T, site *backend, more string) (*server, []*proxy) {
	t.Helper()
	proxies := []*proxy{
		{name: "nginx", family: "x_original"},
		{name: "Caddy", family: "x_forwarded"},
	}
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Log("nginx is not installed: it is not tested")
		proxies = proxies[1:]
	}
	config := ""
	for _, p := range proxies {
		p.own, p.port = freePort(t), freePort(t)
		oldnew := []string{"http://:9000", fmt.Sprintf("http://:%d", p.own), "localhost:8080", site.address(), "source site\n", "source site\n" + more}
		var text string
		if p.family == "x_original" {
			text = example(t, "nginx", oldnew...)
		} else {
			text = example(t, "traefik", oldnew...)
		}
		if config != "" {
			_, text, _ = strings.Cut(text, "\n}\n") // the global options
		}
		config += text
	}
	s := start(t, config+fmt.Sprintf("http://:$PORT {\n\trobots {\n\t\tsource site\n%s\t}\n\treverse_proxy %s\n}\n", more, site.address()))
	for _, p := range proxies {
		switch p.name {
		case "nginx":
			startNginx(t, s, p, site)
		case "Caddy":
			fallback := freePort(t)
			text := example(t, "forward-auth", "example.com {", fmt.Sprintf("http://:%d {", p.port), "localhost:8080", site.address(),
				"127.0.0.1:9000 127.0.0.1:9001", fmt.Sprintf("127.0.0.1:%d 127.0.0.1:%d", p.own, fallback), "http://:9001", fmt.Sprintf("http://:%d", fallback))
			start(t, text)
		}
		s.eventually("the proxy is up", func() bool { return listens(p.port) })
	}
	return s, proxies
}

// listens reports whether a server listens at a port.
func listens(port int) bool {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// startNginx runs nginx with the example's server.
func startNginx(t *testing.T, s *server, p *proxy, site *backend, oldnew ...string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "nginx-") // which nginx's own user may read
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	text := readFile(t, filepath.Join(root(t), "testdata", "examples", "nginx.conf"))
	text = strings.NewReplacer(oldnew...).Replace(text)
	text = strings.NewReplacer("listen 80;", fmt.Sprintf("listen 127.0.0.1:%d;", p.port), "http://127.0.0.1:9000;", fmt.Sprintf("http://127.0.0.1:%d;", p.own), "localhost:8080", site.address(), "DIR", dir).Replace(text)
	writeFile(t, filepath.Join(dir, "www", "index.html"), "index")
	if err := os.Chmod(filepath.Join(dir, "www"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "www", "index.html"), 0o644); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "nginx.conf"), fmt.Sprintf(`daemon off;
pid %[1]s/pid;
error_log %[1]s/error.log;
worker_processes 1;
events { worker_connections 256; }
http {
	access_log off;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
%[2]s}
`, dir, text))
	cmd := child.SignalledCommand(syscall.SIGTERM, "nginx", "-c", filepath.Join(dir, "nginx.conf"))
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-exited
		if t.Failed() {
			t.Logf("nginx: %s%s", readFile(t, filepath.Join(dir, "out")), logFile(filepath.Join(dir, "error.log")).tail(2000))
		}
	})
	s.eventually("nginx is up", func() bool {
		select {
		case <-exited:
			t.Fatal("nginx ended")
		default:
		}
		return listens(p.port)
	})
}

// Traefik's example asks the handler about each request, believes no forwarded field of a client,
// and passes the crawler on. The fields that it sends are those of the Caddy that asks: see
// https://doc.traefik.io/traefik/reference/routing-configuration/http/middlewares/forwardauth/
func TestTraefikExample(t *testing.T) {
	var config struct {
		HTTP struct {
			Middlewares map[string]struct {
				ForwardAuth struct {
					Address             string
					TrustForwardHeader  *bool    `yaml:"trustForwardHeader"`
					AuthResponseHeaders []string `yaml:"authResponseHeaders"`
				} `yaml:"forwardAuth"`
			}
			Routers map[string]struct{ Middlewares []string }
		}
	}
	if err := yaml.Unmarshal([]byte(readFile(t, filepath.Join(root(t), "testdata", "examples", "traefik.yml"))), &config); err != nil {
		t.Fatal(err)
	}
	auth := config.HTTP.Middlewares["robots"].ForwardAuth
	if auth.Address != "http://127.0.0.1:9000/" || auth.TrustForwardHeader == nil || *auth.TrustForwardHeader || !slices.Contains(auth.AuthResponseHeaders, "X-Robots-Crawler") {
		t.Errorf("forwardAuth is %+v", auth)
	}
	if router := config.HTTP.Routers["example"]; !slices.Equal(router.Middlewares, []string{"robots"}) {
		t.Errorf("the router of the example is %+v", router)
	}
}

// sendFrom sends a request from an address, with exactly this request line and
// these fields, to a port.
func sendFrom(t *testing.T, port int, from, line string, fields ...string) response {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(conn, "%s HTTP/1.1\r\n%s\r\nConnection: close\r\n\r\n", line, strings.Join(fields, "\r\n"))
	method, _, _ := strings.Cut(line, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.80q: %v", line, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("%.80q: %v", line, err)
	}
	return response{resp.StatusCode, resp.Header, string(body)}
}
