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
