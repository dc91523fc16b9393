package e2e_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// upstream returns a back end with its own robots.txt.
func upstream(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "# of %s\nUser-agent: *\nDisallow: /app/private/\nDisallow: /private/\n\nUser-agent: bingbot\nCrawl-delay: 100\n", r.Host)
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "first\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/upgrade", func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprint(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		_ = rw.Flush()
		line, _ := rw.ReadString('\n')
		fmt.Fprint(rw, line)
		_ = rw.Flush()
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "page at ", r.URL.Path, strings.Repeat(" and more", 1000))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestWithOtherHandlers(t *testing.T) {
	t.Parallel()
	up := upstream(t).URL
	for _, tt := range []struct {
		name, site              string
		allowed, denied, person string // paths
	}{
		{"file_server", "root testdata/site\n\trobots\n\tfile_server", "/articles/one.html", "/private/plan.html", "/private/plan.html"},
		{"reverse_proxy", "robots\n\treverse_proxy " + up, "/x", "/private/x", "/private/x"},
		{"robots outside handle_path", "robots\n\thandle_path /app/* {\n\t\treverse_proxy " + up + "\n\t}\n\thandle {\n\t\treverse_proxy " + up + "\n\t}", "/app/x", "/app/private/x", "/app/private/x"},
		{"robots inside handle_path", "handle_path /app/* {\n\t\trobots\n\t\treverse_proxy " + up + "\n\t}\n\thandle {\n\t\treverse_proxy " + up + "\n\t}", "/app/x", "/app/private/x", "/app/private/x"},
		{"robots inside handle", "handle /app/* {\n\t\trobots\n\t\treverse_proxy " + up + "\n\t}\n\thandle {\n\t\treverse_proxy " + up + "\n\t}", "/private/x", "/app/private/x", "/app/private/x"},
		{"a matcher", "robots /app/*\n\treverse_proxy " + up, "/private/x", "/app/private/x", "/private/x"},
		{"encode", "encode\n\trobots {\n\t\tx_robots_tag /x noindex\n\t}\n\treverse_proxy " + up, "/x", "/private/x", "/private/x"},
		{"rewrite", "rewrite /private/x /elsewhere\n\trobots\n\treverse_proxy " + up, "/x", "/private/x", "/private/x"},
		{"redir", "redir /old /new\n\trobots\n\treverse_proxy " + up, "/x", "/private/x", "/private/x"},
		{"route", "route {\n\t\trobots\n\t\treverse_proxy " + up + "\n\t}", "/x", "/private/x", "/private/x"},
		{"respond", "respond /robots.txt \"User-agent: *\nDisallow: /private/\n\"\n\trobots\n\trespond \"hello\"", "/x", "/private/x", "/private/x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "http://:$PORT {\n\t"+tt.site+"\n}\n")
			s.wants(200, s.get(googlebot, tt.allowed), "an allowed path")
			s.wants(403, s.get(googlebot, tt.denied), "a disallowed path")
			s.wants(200, s.get(chrome, tt.person), "a person on a disallowed path")
			s.wants(200, s.get(googlebot, "/robots.txt"), "robots.txt")
		})
	}
}

func TestDenialsKeepTheSitesHeaders(t *testing.T) {
	t.Parallel()
	s := start(t, "http://:$PORT {\n\theader X-Site yes\n\trobots {\n\t\tsource inline \"User-agent: *\nDisallow: /\"\n\t}\n\trespond hello\n}\n")
	if got := s.get(gptbot, "/"); got.status != 403 || got.header.Get("X-Site") != "yes" {
		t.Errorf("status %d, X-Site %q", got.status, got.header.Get("X-Site"))
	}
}

func TestErrorRoutesAnswerDenials(t *testing.T) {
	t.Parallel()
	s := start(t, `http://:$PORT {
	robots {
		source inline "User-agent: *
Disallow: /private/

User-agent: bingbot
Crawl-delay: 100"
	}
	respond "hello"
	handle_errors {
		respond "{err.status_code} {http.robots.crawler} {http.robots.class} {http.robots.purpose} {http.robots.group} {http.robots.action} {http.robots.reason} {http.robots.line} {http.robots.rule}"
	}
}`)
	if got := s.get(gptbot, "/private/x"); got.status != 403 || got.body != fmt.Sprintf("403 GPTBot crawler ai-training * deny disallowed %d Disallow: /private/", s.lineOf("Disallow: /private/")) {
		t.Errorf("status %d, %q", got.status, got.body)
	}
	s.get(bingbot, "/")
	got := s.get(bingbot, "/")
	if got.status != 429 || got.body != fmt.Sprintf("429 bingbot crawler search bingbot throttle crawl_delay %d Crawl-delay: 100", s.lineOf("Crawl-delay")) || got.header.Get("Retry-After") == "" {
		t.Errorf("status %d, %q, %v", got.status, got.body, got.header)
	}
}

func TestStreamsAndUpgradesPass(t *testing.T) {
	t.Parallel()
	s := start(t, "http://:$PORT {\n\trobots {\n\t\tx_robots_tag * noindex\n\t}\n\treverse_proxy "+upstream(t).URL+"\n}\n")
	s.get(chrome, "/")

	resp, err := http.Get(fmt.Sprintf("http://localhost:%d/stream", s.port))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	if err != nil || line != "first\n" || resp.Header.Get("X-Robots-Tag") != "noindex" {
		t.Errorf("a stream: %q, %v, X-Robots-Tag %q", line, err, resp.Header.Get("X-Robots-Tag"))
	}

	conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", s.port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(conn, "GET /upgrade HTTP/1.1\r\nHost: localhost\r\nUser-Agent: %s\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello\n", chrome)
	r := bufio.NewReader(conn)
	upgrade, err := http.ReadResponse(r, nil)
	if err != nil || upgrade.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("an upgrade: %v, %v", upgrade, err)
	}
	if echo, err := r.ReadString('\n'); echo != "hello\n" {
		t.Errorf("through the upgraded connection: %q, %v", echo, err)
	}
}

func TestEachOriginHasItsOwnRules(t *testing.T) {
	t.Parallel()
	up := upstream(t).URL
	s := start(t, `
http://one.test:$PORT {
	respond /robots.txt "User-agent: *
Disallow: /one/"
	robots
	respond "one"
}
http://two.test:$PORT {
	respond /robots.txt "User-agent: *
Disallow: /two/"
	robots
	respond "two"
}
http://:$PORT {
	robots {
		max_origins 10
	}
	reverse_proxy `+up+`
}`)
	host := func(name string) string { return fmt.Sprintf("%s:%d", name, s.port) }
	for _, tt := range []struct {
		host, path string
		want       int
	}{
		{"one.test", "/one/x", 403}, {"one.test", "/two/x", 200},
		{"two.test", "/one/x", 200}, {"two.test", "/two/x", 403},
		{"TWO.test", "/two/x", 403}, {"any.test", "/private/x", 403}, {"any.test", "/one/x", 200},
	} {
		s.wants(tt.want, s.at(host(tt.host), googlebot, tt.path), tt.host+tt.path)
	}
	s.wants(200, s.at(host("any.test"), bingbot, "/x"), "bingbot's first request on a host")
	s.wants(429, s.at(host("any.test"), bingbot, "/x"), "the second")
	s.wants(200, s.at(host("other.test"), bingbot, "/x"), "the first one on another host that no site names")
	s.wants(429, s.at(host("other.test"), bingbot, "/x"), "the second one there")
	for i := range 300 {
		s.at(fmt.Sprintf("invented-%d.test", i), googlebot, "/x")
	}
	if n := s.metric(`caddy_robots_origins{source="site",state="loaded"}`); n > 12 || n < 3 {
		t.Errorf("%v policies in memory, want at most 12: 10 and those of two sites", n)
	}
	s.wants(429, s.at(host("any.test"), bingbot, "/x"), "after a flood of host names")
	if n := len(s.lines("robots.txt loaded")); n > 100 {
		t.Errorf("%d log lines about invented host names", n)
	}
}
