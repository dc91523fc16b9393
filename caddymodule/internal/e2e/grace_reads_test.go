package e2e_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Only a client that got the whole file has read it, and only for its own address
// if nothing verifies it.
func TestReadsThatEndAGracePeriod(t *testing.T) {
	t.Parallel()
	const crawler, other = "203.0.113.7", "203.0.113.8"
	a := startChangingSiteBehindProxy(t)
	page := func(address string, want int, when string) {
		t.Helper()
		a.wants(want, a.from(address, "GET", googlebot, "/b.html"), when)
	}
	page(crawler, 200, "before the change")
	page(other, 200, "before the change")
	a.answerWith(strings.Replace(openFile, "/private/", "/b", 1))
	a.eventually("the new robots.txt is in force", func() bool {
		a.from("192.0.2.1", "GET", chrome, "/robots.txt")
		return a.from("192.0.2.1", "GET", newcomer, "/b.html").status == 403
	})

	page(crawler, 200, "before it read the file")
	a.wants(200, a.from(crawler, "HEAD", googlebot, "/robots.txt"), "HEAD")
	page(crawler, 200, "after HEAD")
	a.wants(206, a.from(crawler, "GET", googlebot, "/robots.txt", "Range", "bytes=0-9"), "a range")
	page(crawler, 200, "after a range")
	a.abort(crawler, googlebot)
	page(crawler, 200, "after an answer that it did not wait for")
	a.wants(200, a.from(other, "GET", googlebot, "/robots.txt"), "another address reads the file")
	page(other, 403, "the address that read the file")
	page(crawler, 200, "the address that did not")
	a.wants(200, a.from(crawler, "GET", googlebot, "/robots.txt"), "it reads the file")
	page(crawler, 403, "after it read the file")

	// A crawler that another back end still gives the earlier file has read that one.
	a.wants(200, a.from(crawler, "GET", googlebot, "/robots.txt", "X-Earlier", "yes"), "it reads the earlier file")
	page(crawler, 200, "after it read the earlier file")
	a.wants(200, a.from(crawler, "GET", googlebot, "/robots.txt"), "it reads the file")
	page(crawler, 403, "after it read the file again")

	// The version that it read last applies, however often the file changes.
	first, second := openFile, strings.Replace(openFile, "/private/", "/b", 1)
	inForce := func(file string, status int) {
		a.answerWith(file)
		a.eventually("the robots.txt is in force", func() bool {
			a.from("192.0.2.1", "GET", chrome, "/robots.txt")
			return a.from("192.0.2.1", "GET", newcomer, "/b.html").status == status
		})
	}
	inForce(first, 200)
	a.wants(200, a.from(crawler, "GET", googlebot, "/robots.txt"), "it reads the first version")
	for i := range 3 {
		inForce(second, 403)
		page(crawler, 200, fmt.Sprint("change ", i))
		inForce(first, 200)
	}
}

// startChangingSiteBehindProxy is startChangingSite with clients' addresses from
// X-Forwarded-For, and a back end that answers ranges.
func startChangingSiteBehindProxy(t *testing.T) *changingSite {
	t.Helper()
	a := &changingSite{}
	a.answerWith(openFile)
	a.backend = newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt" && r.Header.Get("X-Slow") != "":
			_, _ = io.WriteString(w, *a.file.Load())
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		case r.URL.Path == "/robots.txt" && r.Header.Get("X-Earlier") != "":
			_, _ = io.WriteString(w, openFile)
			return
		case r.URL.Path == "/robots.txt":
			http.ServeContent(w, r, "robots.txt", time.Time{}, strings.NewReader(*a.file.Load()))
			return
		}
		fmt.Fprint(w, "page")
	})
	a.server = start(t, "{\n\t"+trustedProxies+"\n}\nhttp://:$PORT {\n\trobots {\n\t\trefresh 1h\n\t}\n\treverse_proxy "+a.Listener.Addr().String()+"\n}\n")
	a.eventually("the first robots.txt is in force", func() bool {
		return a.from("192.0.2.1", "GET", newcomer, "/private/x").status == 403
	})
	return a
}

// abort requests /robots.txt, and closes the connection before the whole answer
// has arrived.
func (s *server) abort(address, ua string) {
	s.t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", s.port))
	if err != nil {
		s.t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /robots.txt HTTP/1.1\r\nHost: localhost\r\nUser-Agent: %s\r\nX-Forwarded-For: %s\r\nX-Slow: yes\r\n\r\n", ua, address)
	one := make([]byte, 1)
	if _, err := conn.Read(one); err != nil {
		s.t.Fatal(err)
	}
	conn.Close()
}
