package e2e_test

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// Through each proxy, a client gets the verdict that it gets from the handler.
func TestForwardedRequest(t *testing.T) {
	t.Parallel()
	site := proxiedSite(t)
	s, proxies := startProxies(t, site, "\t\texempt GTmetrix from "+visitorAddress+"\n\t\tx_robots_tag *.pdf noindex\n\t\tx_robots_tag *.pdf bingbot: noarchive\n\t\tpolicy {\n\t\t\thidden /backup/*\n\t\t}\n")
	const (
		host      = "Host: example.com"
		probe     = "kube-probe/1.30"
		unknown   = "Mozilla/5.0 (compatible; SomeNewBot/1.0; +https://example.org/bot)"
		forgedOne = "X-Forwarded-Uri: /\r\nX-Forwarded-Method: POST\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: other.test"
		forgedTwo = "X-Original-URL: https://other.test/\r\nX-Original-Method: POST"
		repeated  = "X-Forwarded-Uri: /\r\nX-Forwarded-Uri: /\r\nX-Original-URL: http://a.test/\r\nX-Original-URL: http://b.test/\r\nX-Original-Method: GET\r\nX-Original-Method: GET"
	)
	for _, tt := range []struct {
		name, line, ua string
		want           int
		more           []string
	}{
		{"a browser at a disallowed path", "GET /private/x", chrome, 200, nil},
		{"a browser with a long URL", "GET /private/?" + strings.Repeat("x", 7000), chrome, 200, nil},
		{"a browser that sends the fields", "GET /private/x", chrome, 200, []string{repeated}},
		{"a browser that opens a WebSocket", "GET /private/ws", chrome, 200, []string{"Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}},
		{"a form", "POST /private/x", chrome, 200, []string{"Content-Length: 0"}},
		{"allowed", "GET /", googlebot, 200, nil},
		{"disallowed", "GET /private/x", googlebot, 403, nil},
		{"HEAD", "HEAD /private/x", googlebot, 403, nil},
		{"POST of a crawler in the registry", "POST /", gptbot, 403, []string{"Content-Length: 0"}},
		{"POST of a self-declared robot", "POST /private/x", unknown, 200, []string{"Content-Length: 0"}},
		{"credentials of a self-declared robot", "GET /private/x", unknown, 200, []string{"Authorization: Bearer x"}},
		{"a query", "GET /search?q=x", googlebot, 403, nil},
		{"an encoded slash", "GET /private%2fx", googlebot, 403, nil},
		{"encoded dots and slash", "GET /a/..%2fprivate/x", googlebot, 403, nil},
		{"double slashes", "GET //private//x", googlebot, 403, nil},
		{"an absolute target", "GET http://other.test/private/x", googlebot, 403, nil},
		{"forged fields", "GET /private/x", googlebot, 403, []string{forgedOne}},
		{"other forged fields", "GET /private/x", googlebot, 403, []string{forgedTwo}},
		{"repeated forged fields", "GET /private/x", googlebot, 403, []string{repeated}},
		{"forged fields of a crawler that may", "GET /", googlebot, 200, []string{repeated}},
		{"hidden", "GET /backup/x", googlebot, 404, nil},
		{"robots.txt", "GET /robots.txt", gptbot, 200, nil},
		{"an exempt path", "GET /.well-known/x", gptbot, 200, nil},
		{"a probe", "GET /private/x", probe, 200, nil},
		{"a crawler that is exempt from its address", "GET /private/x", "Mozilla/5.0 (compatible; GTmetrix/1.0)", 200, nil},
		{"the first request with a Crawl-delay", "GET /", bingbot, 200, nil},
		{"the second request with a Crawl-delay", "GET /", bingbot, 429, nil},
	} {
		fields := append([]string{host, "User-Agent: " + tt.ua}, tt.more...)
		direct := sendFrom(t, s.port, visitorAddress, tt.line, fields...)
		if direct.status != tt.want {
			t.Errorf("%s: the handler answers %d, want %d", tt.name, direct.status, tt.want)
		}
		for _, p := range proxies {
			got := sendFrom(t, p.port, visitorAddress, tt.line, fields...)
			if got.status != tt.want {
				t.Errorf("%s through %s: status %d, want %d", tt.name, p.name, got.status, tt.want)
			}
			retry, wanted := got.header.Get("Retry-After"), direct.header.Get("Retry-After")
			if (retry == "") != (wanted == "") || len(retry) != len(wanted) { // 600 or 599
				t.Errorf("%s through %s: Retry-After %q, want %q", tt.name, p.name, retry, wanted)
			}
			if tt.want >= 400 && got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s through %s: Cache-Control %q", tt.name, p.name, got.header.Get("Cache-Control"))
			}
			if tt.name == "robots.txt" && got.body != proxiedRobots {
				t.Errorf("robots.txt through %s: %q", p.name, got.body)
			}
		}
	}
	for _, p := range proxies { // crawlers read the file that is enforced: that of their host
		if got := sendFrom(t, p.port, visitorAddress, "GET /robots.txt", "Host: neighbour.test", "User-Agent: "+gptbot); got.body != otherRobots {
			t.Errorf("robots.txt of another host through %s: %q", p.name, got.body)
		}
	}
	for _, p := range proxies {
		got := sendFrom(t, p.port, visitorAddress, "GET /x.pdf", host, "User-Agent: "+googlebot, "X-Robots-Tag: forged", "X-Robots-Crawler: forged")
		if tags := got.header.Get("X-Robots-Tag"); tags != "noindex, bingbot: noarchive" {
			t.Errorf("through %s: X-Robots-Tag %q", p.name, tags)
		}
		if asked := site.requests("/x.pdf"); p.family == "x_forwarded" && asked[len(asked)-1].Header.Get("X-Robots-Crawler") != "Googlebot" {
			t.Errorf("through %s, the site gets %v", p.name, asked[len(asked)-1].Header)
		}
		answer := sendFrom(t, p.own, "127.0.0.1", "GET /asked", append([]string{host, "User-Agent: " + googlebot}, describing(p.family, "GET", "/x.pdf")...)...)
		if answer.status != 200 || answer.header.Get("X-Robots-Crawler") != "Googlebot" || answer.header.Get("X-Robots-Tag") == "" || answer.body != "" {
			t.Errorf("%s gets %d %v", p.name, answer.status, answer.header)
		}
	}
}

// describing returns the fields of a family for a client's request to example.com.
func describing(family, method, uri string) []string {
	if family == "x_original" {
		return []string{"X-Forwarded-For: 127.0.0.9", "X-Original-Method: " + method, "X-Original-URL: http://example.com" + uri}
	}
	return []string{"X-Forwarded-For: 127.0.0.9", "X-Forwarded-Method: " + method, "X-Forwarded-Proto: http", "X-Forwarded-Host: example.com", "X-Forwarded-Uri: " + uri}
}

// An internal redirect of nginx, such as to index.html, does not count a request
// twice, nor lose the X-Robots-Tag.
func TestNginxAsksOnce(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Log("nginx is not installed: it is not tested")
		return
	}
	site := proxiedSite(t)
	p := &proxy{own: freePort(t), port: freePort(t)}
	s := start(t, example(t, "nginx", "http://:9000", fmt.Sprintf("http://:%d", p.own), "localhost:8080", site.address(), "source site\n", "source site\n\t\tx_robots_tag * noarchive\n"))
	startNginx(t, s, p, site, "proxy_pass http://localhost:8080; # the site", "root DIR/www;\n\t\tindex index.html;")
	for _, want := range []int{200, 429} {
		got := sendFrom(t, p.port, visitorAddress, "GET /", "Host: example.com", "User-Agent: "+bingbot)
		s.wants(want, got, "bingbot at a folder")
		if got.status == 200 && (got.body != "index" || got.header.Get("X-Robots-Tag") != "noarchive") {
			t.Errorf("%q, X-Robots-Tag %q", got.body, got.header.Get("X-Robots-Tag"))
		}
	}
}

// The bodies of forms reach the site, and the scheme that people use reaches the
// handler's own fetch of robots.txt.
func TestProxiesPassBodiesAndSchemes(t *testing.T) {
	t.Parallel()
	site := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		page(disallow(fmt.Sprint("/", len(body))))(w, r)
		fmt.Fprint(w, len(body))
	})
	s, proxies := startProxies(t, site, "")
	for _, p := range proxies {
		for name, body := range map[string]io.Reader{"with its length": strings.NewReader(strings.Repeat("x", 300_000)), "chunked": io.LimitReader(rand.Reader, 300_000)} {
			r, err := http.NewRequest(http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/form", p.port), body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("User-Agent", chrome)
			resp, err := client.Do(r)
			if err != nil {
				t.Fatalf("%s: a body %s: %v", p.name, name, err)
			}
			got, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != 200 || string(got) != "page /form300000" {
				t.Errorf("%s: a body %s: %d %s", p.name, name, resp.StatusCode, got)
			}
		}
		fields := describing(p.family, "GET", "/0")
		for i := range fields {
			fields[i] = strings.NewReplacer("Proto: http", "Proto: https", "http://", "https://", "example.com", p.name+".test").Replace(fields[i])
		}
		s.wants(403, sendFrom(t, p.own, "127.0.0.1", "GET /asked", append([]string{"Host: caddy.test", "User-Agent: " + googlebot}, fields...)...), p.name)
		asked := site.requests("/robots.txt")
		if last := asked[len(asked)-1]; last.Host != strings.ToLower(p.name)+".test" || last.Header.Get("X-Forwarded-Proto") != "https" {
			t.Errorf("%s: robots.txt was fetched from %s with %v", p.name, last.Host, last.Header)
		}
	}
}

// While the handler does not answer, nginx and Caddy let everybody in, as the
// examples say.
func TestProxiesWithoutHandler(t *testing.T) {
	t.Parallel()
	s, proxies := startProxies(t, proxiedSite(t), "")
	for _, p := range proxies {
		s.wants(403, sendFrom(t, p.port, visitorAddress, "GET /private/x", "Host: example.com", "User-Agent: "+gptbot), p.name)
	}
	_ = s.cmd.Process.Kill()
	s.eventually("the handler is gone", func() bool { return !listens(s.port) })
	for _, p := range proxies {
		for range 3 {
			s.wants(200, sendFrom(t, p.port, visitorAddress, "GET /private/x", "Host: example.com", "User-Agent: "+chrome), p.name+" alone")
		}
	}
}

// With the location of the documentation, nginx serves the robots.txt that a policy
// makes. Its own read by the handler is not affected.
func TestDocumentedNginxLocation(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("nginx"); err != nil {
		t.Log("nginx is not installed: it is not tested")
		return
	}
	site := proxiedSite(t)
	p := &proxy{own: freePort(t), port: freePort(t)}
	location := documented(t, "caddymodule/steps/forwarded/README.md", "nginx", "location = /robots.txt", "http://127.0.0.1:9000;", fmt.Sprintf("http://127.0.0.1:%d;", p.own))
	s := start(t, example(t, "nginx", "http://:9000", fmt.Sprintf("http://:%d", p.own), "localhost:8080", site.address(), "source site\n", "source site\n\t\tpolicy no-ai\n"))
	startNginx(t, s, p, site, "location = /_robots {", location+"location = /_robots {")
	const ccbot = "CCBot/2.0 (https://commoncrawl.org/faq/)"
	for _, tt := range []struct {
		ua, path string
		want     int
	}{{ccbot, "/", 403}, {ccbot, "/robots.txt", 200}, {googlebot, "/", 200}, {googlebot, "/private/x", 403}, {chrome, "/private/x", 200}} {
		got := sendFrom(t, p.port, visitorAddress, "GET "+tt.path, "Host: example.com", "User-Agent: "+tt.ua)
		s.wants(tt.want, got, tt.ua+" "+tt.path)
		if tt.path == "/robots.txt" && (!strings.Contains(got.body, "User-agent: CCBot") || !strings.Contains(got.body, "Disallow: /private/")) {
			t.Errorf("robots.txt:\n%s", got.body)
		}
	}
}
