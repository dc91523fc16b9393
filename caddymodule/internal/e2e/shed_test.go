package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// shedding is the state of shed at the only site, as reports have it.
type shedding struct {
	since    string
	inFlight int
}

func (s *server) shedding() shedding {
	s.t.Helper()
	var health statusapi.Health
	s.adminRequest(http.MethodGet, "health", 200, &health)
	if len(health.Sections) != 1 || len(health.Sections[0].Rows) != 1 {
		s.t.Fatalf("%+v", health.Sections)
	}
	row := health.Sections[0].Rows[0]
	inFlight, err := strconv.Atoi(row[2])
	if err != nil {
		s.t.Fatal(row)
	}
	return shedding{row[1], inFlight}
}

// idle waits until no request is in flight.
func (s *server) idle(what string) {
	s.t.Helper()
	s.eventually(what+": no request is in flight", func() bool { return s.shedding().inFlight == 0 })
}

// However a request ends, it is in flight no longer: when the connection becomes a
// websocket, with the header of a stream of events, and when a client hangs up.
func TestShedCountsRequestsUntilTheirAnswer(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	var waiting sync.WaitGroup
	b := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/socket":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello\n")
			<-stop
		case "/events":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: hello\n\n")
			_ = http.NewResponseController(w).Flush()
			<-stop
		case "/hints":
			w.Header().Set("Link", "</x.css>; rel=preload")
			w.WriteHeader(http.StatusEarlyHints)
			waiting.Done()
			<-r.Context().Done()
		case "/upload":
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%d octets", len(body))
		case "/broken":
			panic(http.ErrAbortHandler)
		case "/cut":
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "short")
		default:
			page("")(w, r)
		}
	})
	t.Cleanup(func() { close(stop) })
	s := start(t, `
http://localhost:$PORT {
	robots {
		meta_robots
		x_robots_tag * noindex
		shed {
			in_flight 64
		}
	}
	reverse_proxy `+b.address()+`
}
`)
	s.wants(200, s.get(chrome, "/"), "a page")
	open := func(request, first string) net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", s.port))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		fmt.Fprintf(conn, request, s.port, chrome)
		for r := bufio.NewReader(conn); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(line, first) {
				return conn
			}
		}
	}
	const head = " HTTP/1.1\r\nHost: localhost:%d\r\nUser-Agent: %s\r\n"
	for range 3 {
		socket := open("GET /socket"+head+"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "hello")
		t.Cleanup(func() { socket.Close() })
		s.idle("a websocket")
		stream := open("GET /events"+head+"\r\n", "hello")
		t.Cleanup(func() { stream.Close() })
		s.idle("a stream of events")
	}
	conn := open("POST /upload"+head+"Connection: close\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n", "100 Continue")
	fmt.Fprint(conn, "hello")
	if answer, err := io.ReadAll(conn); err != nil || !strings.Contains(string(answer), "5 octets") {
		t.Errorf("after 100 Continue: %q, %v", answer, err)
	}
	s.idle("100 Continue")
	waiting.Add(1)
	conn = open("GET /hints"+head+"\r\n", "103 Early Hints")
	waiting.Wait()
	if n := s.shedding().inFlight; n != 1 {
		t.Errorf("after an informational status, %d requests are in flight", n)
	}
	conn.Close()
	s.idle("a client that hangs up")
	_, _ = send(client, http.MethodGet, fmt.Sprintf("http://localhost:%d/broken", s.port), chrome, "", nil)
	_, _ = send(client, http.MethodGet, fmt.Sprintf("http://localhost:%d/cut", s.port), chrome, "", nil)
	for range 50 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		r, _ := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://localhost:%d/", s.port), nil)
		r.Header.Set("User-Agent", gptbot)
		if resp, err := http.DefaultTransport.RoundTrip(r); err == nil {
			resp.Body.Close()
		}
		cancel()
	}
	s.idle("broken answers")
}
