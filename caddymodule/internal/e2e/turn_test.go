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

// A crawler that takes its answers slowly holds at most half of the turns while another
// comes.
func TestSlowReadersLeaveHalfOfTheTurns(t *testing.T) {
	t.Parallel()
	gate := newGate(t)
	b := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/archive/slow" {
			w.WriteHeader(200)
			_ = http.NewResponseController(w).Flush()
			gate.before(page(""))(w, r)
			return
		}
		page("")(w, r)
	})
	s := start(t, "http://localhost:$PORT {\n\trobots {\n\t\tlimit /archive/* {\n\t\t\tat_once 4\n\t\t}\n\t}\n\treverse_proxy "+b.address()+"\n}\n")
	s.wants(200, s.get(gptbot, "/robots.txt"), "robots.txt")
	s.wants(200, s.get(gptbot, "/archive/x"), "the other crawler")
	for i := range 8 { // invented names are one
		s.wants(200, s.get(gptbot, "/archive/x"), "the other crawler comes again")
		s.open("GET", "/archive/slow", crawlerNo(i), "\r\n")
	}
	s.eventually("the turns of strangers are taken", func() bool {
		s.get(gptbot, "/archive/x") // the other crawler came lately
		return len(b.requests("/archive/slow")) == 2 && s.get(crawlerNo(99), "/archive/x").status == 429
	})
	for i := range 20 {
		s.wants(200, s.get(gptbot, "/archive/x"), fmt.Sprintf("request %d beside slow readers", i))
	}
}
