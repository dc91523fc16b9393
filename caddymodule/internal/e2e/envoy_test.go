package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// envoy is what Envoy's filter ext_authz does over HTTP, by its documentation and its
// source (source/extensions/filters/common/ext_authz/ext_authz_http_impl.cc,
// source/common/http/async_client_impl.cc), in front of the site.
type envoy struct {
	allowed   func(name string) bool // fields of the client that are sent; names are in lower case
	onSuccess []string               // fields of the answer that clients get with the page
	own       int                    // the port of the handler
	robots    bool                   // /robots.txt is routed to the handler, without the filter

	mu     sync.Mutex
	conn   net.Conn
	reader *bufio.Reader
}

// check returns the request that asks about one of a client.
func (e *envoy) check(r *http.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nhost: %s\r\ncontent-length: 0\r\n", r.Method, r.RequestURI, r.Host)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		lower := strings.ToLower(name)
		if e.allowed(lower) && lower != "content-length" {
			for _, value := range r.Header[name] {
				fmt.Fprintf(&b, "%s: %s\r\n", lower, value)
			}
		}
	}
	return b.String() + "x-envoy-internal: true\r\nx-envoy-expected-rq-timeout-ms: 6000\r\n\r\n"
}

// ask sends exactly these octets, and reads the answer.
func (e *envoy) ask(octets, method string) (*http.Response, []byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.conn == nil {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", e.own))
		if err != nil {
			return nil, nil, err
		}
		e.conn, e.reader = conn, bufio.NewReader(conn)
	}
	_ = e.conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(e.conn, octets); err != nil {
		return nil, nil, err
	}
	resp, err := http.ReadResponse(e.reader, &http.Request{Method: method})
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if resp.Close {
		_ = e.conn.Close()
		e.conn = nil
	}
	return resp, body, err
}

// front serves the clients of Envoy, with use_remote_address.
func (e *envoy) front(t *testing.T, site string) int {
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if strings.HasPrefix(name, "X-Envoy-") {
				r.Header.Del(name) // of a client outside
			}
		}
		client, _, _ := net.SplitHostPort(r.RemoteAddr)
		r.Header.Set("X-Forwarded-For", strings.TrimPrefix(r.Header.Get("X-Forwarded-For")+","+client, ","))
		r.Header.Set("X-Forwarded-Proto", "http")
		upstream, added := site, http.Header{}
		if e.robots && r.URL.Path == "/robots.txt" {
			upstream = fmt.Sprintf("127.0.0.1:%d", e.own)
			r.Header.Set("X-Request-Id", "5f66d5bd")
			r.Header.Set("X-Envoy-Expected-Rq-Timeout-Ms", "15000")
		} else {
			answer, body, err := e.ask(e.check(r), r.Method)
			if err != nil || answer.StatusCode >= 500 {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			if answer.StatusCode != http.StatusOK {
				maps.Copy(w.Header(), answer.Header)
				w.WriteHeader(answer.StatusCode)
				_, _ = w.Write(body)
				return
			}
			for _, name := range e.onSuccess {
				added[http.CanonicalHeaderKey(name)] = answer.Header.Values(name)
			}
		}
		r.URL.Scheme, r.URL.Host, r.RequestURI = "http", upstream, ""
		page, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer page.Body.Close()
		maps.Copy(w.Header(), page.Header)
		maps.Copy(w.Header(), added)
		w.WriteHeader(page.StatusCode)
		_, _ = io.Copy(w, page.Body)
	}))
	t.Cleanup(front.Close)
	t.Cleanup(func() {
		if e.conn != nil {
			_ = e.conn.Close()
		}
	})
	return front.Listener.Addr().(*net.TCPAddr).Port
}

// find returns the first value of a key in a decoded document.
func find(node any, key string) any {
	switch node := node.(type) {
	case map[string]any:
		if value, ok := node[key]; ok {
			return value
		}
		for _, value := range node {
			if found := find(value, key); found != nil {
				return found
			}
		}
	case []any:
		for _, value := range node {
			if found := find(value, key); found != nil {
				return found
			}
		}
	}
	return nil
}

// manifests returns the documents of an example in YAML.
func manifests(t *testing.T, name string) (documents []any) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(readFile(t, filepath.Join(root(t), "testdata", "examples", name+".yaml"))))
	for {
		var document any
		if err := decoder.Decode(&document); err == io.EOF {
			return documents
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		documents = append(documents, document)
	}
}

// envoyOf returns what the configuration of an example does.
func envoyOf(t *testing.T, name string) *envoy {
	t.Helper()
	documents := manifests(t, name)
	exact, prefixes := []string{"host", "authorization"}, []string{}
	e := &envoy{robots: true}
	e.allowed = func(name string) bool {
		return slices.Contains(exact, name) || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	patterns := func(key string) (list []map[string]any) {
		found, _ := find(documents, key).(map[string]any)
		all, _ := found["patterns"].([]any)
		for _, p := range all {
			list = append(list, p.(map[string]any))
		}
		return list
	}
	for _, p := range patterns("allowed_headers") {
		if text, ok := p["exact"].(string); ok {
			exact = append(exact, text)
		} else {
			prefixes = append(prefixes, p["prefix"].(string))
		}
	}
	for _, p := range patterns("allowed_client_headers_on_success") {
		e.onSuccess = append(e.onSuccess, p["exact"].(string))
	}
	for _, key := range []string{"headersToExtAuth", "allowedHeaders"} {
		list, _ := find(documents, key).([]any)
		for _, header := range list {
			exact = append(exact, header.(string))
		}
	}
	return e
}

// envoyCaddyfile returns that of the page, at a port, in front of a site.
func envoyCaddyfile(t *testing.T, site *backend, lines string) string {
	return documented(t, "docs/envoy.md", "caddyfile", "http://:9000", "http://:9000", "http://:$PORT", "site:8080", site.address(), "private_ranges", "127.0.0.1", "\t\tmode monitor\n", lines)
}

// Through Envoy, a client gets the verdict that it gets from the handler, with each
// configuration of the documentation.
func TestEnvoy(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"envoy", "envoy-gateway", "gateway-api"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := proxiedSite(t, nil)
			s := start(t, envoyCaddyfile(t, site, "\t\tpolicy no-training\n\t\tx_robots_tag *.pdf noindex\n"))
			e := envoyOf(t, name)
			e.own = s.port
			port := e.front(t, site.address())
			for _, tt := range []struct {
				name, line, ua string
				want           int
				more           []string
			}{
				{"a browser", "GET /private/x", chrome, 200, nil},
				{"a form", "POST /private/x", chrome, 200, []string{"Content-Length: 0"}},
				{"allowed", "GET /", googlebot, 200, nil},
				{"disallowed", "GET /private/x", googlebot, 403, nil},
				{"HEAD", "HEAD /private/x", googlebot, 403, nil},
				{"a query", "GET /search?q=x", googlebot, 403, nil},
				{"an encoded path", "GET /%70rivate/x", googlebot, 403, nil},
				{"encoded dots", "GET /a/%2e%2e/private/x", googlebot, 403, nil},
				{"the policy", "GET /", "CCBot/2.0 (https://commoncrawl.org/faq/)", 403, nil},
				{"forged fields", "GET /private/x", googlebot, 403, []string{"X-Forwarded-Uri: /\r\nX-Original-URL: http://example.com/\r\nX-Envoy-Internal: true"}},
				{"the first request with a Crawl-delay", "GET /", bingbot, 200, nil},
				{"the second request with a Crawl-delay", "GET /", bingbot, 429, []string{"X-Forwarded-For: 198.51.100.7"}},
			} {
				got := sendFrom(t, port, visitorAddress, tt.line, append([]string{"Host: example.com", "User-Agent: " + tt.ua}, tt.more...)...)
				s.wants(tt.want, got, tt.name)
				if (got.header.Get("Retry-After") != "") != (tt.want == 429) || tt.want >= 400 && got.header.Get("Cache-Control") != "no-store" {
					t.Errorf("%s: %v", tt.name, got.header)
				}
			}
			file := sendFrom(t, port, visitorAddress, "GET /robots.txt", "Host: example.com", "User-Agent: "+gptbot)
			if file.status != 200 || !strings.Contains(file.body, "User-agent: CCBot") || !strings.Contains(file.body, "Disallow: /search?q=") {
				t.Errorf("robots.txt: %d %s", file.status, file.body)
			}
			pdf := sendFrom(t, port, visitorAddress, "GET /x.pdf", "Host: example.com", "User-Agent: "+googlebot)
			if tag := pdf.header.Get("X-Robots-Tag"); pdf.body != "page /x.pdf" || (tag == "noindex") != (name == "envoy") {
				t.Errorf("X-Robots-Tag %q of %s", tag, pdf.body)
			}
		})
	}
}

// The Caddyfile in the manifests is that of the page.
func TestKubernetesManifest(t *testing.T) {
	t.Parallel()
	documents := manifests(t, "kubernetes")
	text, _ := find(documents, "Caddyfile").(string)
	if page := documented(t, "docs/envoy.md", "caddyfile", "http://:9000"); text != page {
		t.Errorf("the manifest has\n%s\nthe page\n%s", text, page)
	}
	if len(documents) != 3 {
		t.Errorf("%d manifests", len(documents))
	}
}
