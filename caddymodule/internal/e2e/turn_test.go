package e2e_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// open sends the beginning of a request with a User-Agent over a new connection. rest is
// what follows these fields.
func (s *server) open(method, path, ua, rest string) net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", s.port))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost:%d\r\nUser-Agent: %s\r\n%s", method, path, s.port, ua, rest)
	return conn
}

// crawlerNo returns the User-Agent of one of many crawlers.
func crawlerNo(n int) string {
	return fmt.Sprintf("Mozilla/5.0 (compatible; Gather%dbot/1.0; +https://gather%d.example/bot)", n, n)
}

// idleBody is the end of the head of a request, and an octet of its body.
const idleBody = "Content-Length: 10\r\n\r\nx"

// A stranger that does not send its bodies holds no turn of at_once: it gets 408, and the
// connection ends. People's idle bodies get no answer from the handler.
func TestIdleBodiesHoldNoTurns(t *testing.T) {
	t.Parallel()
	b := newBackend(t, page(""))
	site := `http://localhost:$PORT {
	robots {
		limit /archive/* {
			at_once 3
		}
	}
	reverse_proxy ` + b.address() + "\n}\n"
	s := start(t, site)
	s.wants(200, s.get(gptbot, "/robots.txt"), "robots.txt")
	const warning = "at_once: a client that reads its answer slowly"
	warned := func() bool { return strings.Contains(string(s.log.bytes()), warning) }
	if !warned() {
		t.Error("nothing warns of slow readers")
	}
	person := s.open("POST", "/archive/h", chrome, idleBody)
	var idle []net.Conn
	for i := range 12 {
		idle = append(idle, s.open([]string{"GET", "POST", "PROPFIND"}[i%3], "/archive/h", crawlerNo(i), idleBody))
	}
	for i := range 20 {
		s.wants(200, s.get(gptbot, "/archive/x"), fmt.Sprintf("request %d beside idle bodies", i))
	}
	for _, conn := range idle {
		r := bufio.NewReader(conn)
		resp, err := http.ReadResponse(r, nil)
		if err != nil || resp.StatusCode != http.StatusRequestTimeout || !resp.Close {
			t.Fatalf("%+v, %v", resp, err)
		}
	}
	long := s.open("POST", "/archive/h", gptbot, "Content-Length: 70000\r\n\r\n")
	if resp, err := http.ReadResponse(bufio.NewReader(long), nil); err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%+v, %v", resp, err)
	}
	form := s.open("POST", "/archive/form", gptbot, "Content-Length: 10\r\n\r\n0123456789")
	if resp, err := http.ReadResponse(bufio.NewReader(form), nil); err != nil || resp.StatusCode != 200 || resp.Close {
		t.Errorf("%+v, %v", resp, err)
	} else if seen := b.requests("/archive/form"); len(seen) != 1 || seen[0].ContentLength != 10 {
		t.Errorf("the back end got %d requests", len(seen))
	}
	fmt.Fprint(person, "123456789")
	if resp, err := http.ReadResponse(bufio.NewReader(person), nil); err != nil || resp.StatusCode != 200 {
		t.Errorf("a person's slow body: %+v, %v", resp, err)
	}
	// A stop for those that read slowly ends the warning.
	before := strings.Count(string(s.log.bytes()), warning)
	if err := s.reload("{\n\tservers {\n\t\ttimeouts {\n\t\t\twrite_idle 20s\n\t\t}\n\t}\n}\n" + site); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(s.log.bytes()), warning); n != before {
		t.Error("it warns although slow readers are stopped")
	}
}
