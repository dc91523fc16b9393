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

// crowd is a back end whose answers to /slow wait for the test, and the requests
// that a test has sent there.
type crowd struct {
	*backend
	gate *gate
	sent sync.WaitGroup
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{gate: newGate(t)}
	slow := c.gate.before(page(""))
	c.backend = newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/slow") {
			slow(w, r)
			return
		}
		page(disallow("/private"))(w, r)
	})
	return c
}

// wait sends n requests of browsers, and waits until they wait for their answers.
func (c *crowd) wait(s *server, n int) {
	s.t.Helper()
	before := len(c.requests("/slow"))
	for range n {
		c.sent.Go(func() {
			if resp, err := send(client, http.MethodGet, fmt.Sprintf("http://localhost:%d/slow", s.port), chrome, "", nil); err != nil || resp.status != 200 {
				s.t.Errorf("a person gets %d, %v", resp.status, err)
			}
		})
	}
	s.eventually("the requests wait", func() bool { return len(c.requests("/slow")) == before+n })
}

// shedding is the state of shed at the only site, as reports have it.
type shedding struct {
	since, refused string
	inFlight       int
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
	return shedding{row[1], row[3], inFlight}
}

// idle waits until no request is in flight.
func (s *server) idle(what string) {
	s.t.Helper()
	s.eventually(what+": no request is in flight", func() bool { return s.shedding().inFlight == 0 })
}

const slackPreview = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"

// Above in_flight, robots get 503 with Retry-After, and all others are served.
func TestShedInFlight(t *testing.T) {
	t.Parallel()
	b := newCrowd(t)
	site := `
http://localhost:$PORT {
	log
	robots {
		exempt PetalBot
		shed {
			in_flight 4
		}
	}
	reverse_proxy ` + b.address() + `
}
`
	s := start(t, site)
	for _, ua := range []string{gptbot, chrome, googlebot} {
		s.wants(200, s.get(ua, "/"), ua)
	}
	b.wait(s, 4)
	line := s.lineOf("shed {")
	for range 20 {
		resp := s.get(gptbot, "/page")
		after, _ := strconv.Atoi(resp.header.Get("Retry-After"))
		if resp.status != 503 || after < 15 || after > 45 || resp.header.Get("Cache-Control") != "no-store" || !strings.Contains(resp.body, "busy") {
			t.Fatalf("GPTBot: %d, Retry-After %d, %q", resp.status, after, resp.body)
		}
	}
	s.wants(503, s.get(slackPreview, "/page"), "a link preview")
	for _, ua := range []string{chrome, "curl/8.5.0", "", "SiteSweeper/2.0", "kube-probe/1.31", "GitHub-Hookshot/044aadd", "PetalBot"} {
		s.wants(200, s.get(ua, "/page"), ua)
	}
	s.wants(200, s.get(gptbot, "/robots.txt"), "/robots.txt")
	s.wants(200, s.get(gptbot, "/.well-known/x"), "an exempt path")
	s.wants(200, s.get(googlebot, "/page"), "Googlebot, below twice in_flight")
	s.wants(403, s.get(gptbot, "/private"), "a disallowed path")
	post := s.do(http.MethodPost, fmt.Sprintf("http://localhost:%d/page", s.port), "NewThingBot/1.0 (+https://x.example/)", "", nil)
	s.wants(200, post, "a POST of a self-declared robot")
	if n := s.metric(`caddy_robots_decisions_total{action="throttle",crawler="GPTBot",reason="shed"}`); n != 20 {
		t.Errorf("%v decisions with reason shed", n)
	}
	logged := false
	for _, l := range s.lines("handled request") {
		robots, _ := l["robots"].(map[string]any)
		if l["status"] == 503.0 {
			logged = robots["reason"] == "shed" && robots["layer"] == "shed" && robots["line"] == float64(line) && robots["action"] == "throttle"
		}
	}
	if !logged {
		t.Error("the access log does not have the reason")
	}
	if refused := s.lines("crawler refused by robots.txt"); len(refused) == 0 || refused[0]["file"] != "Caddyfile" || refused[0]["line"] != float64(line) {
		t.Errorf("log: %v", refused)
	}
	var check statusapi.Check
	s.adminRequest(http.MethodGet, fmt.Sprintf("check?ua=GPTBot&url=http://localhost:%d/", s.port), 200, &check)
	if check.Shed != "step 2 of 7: ai-*" || !strings.Contains(check.Message, "refused while the server is busy, step 2 of 7: ai-*") {
		t.Errorf("check: %+v", check)
	}

	// In monitor mode, nothing is refused.
	s.adminRequest(http.MethodPost, "mode?mode=monitor", 200, nil)
	s.wants(200, s.get(gptbot, "/page"), "GPTBot in monitor mode")
	if n := s.metric(`caddy_robots_decisions_total{action="would_throttle",crawler="GPTBot",reason="shed"}`); n != 1 {
		t.Errorf("%v decisions in monitor mode", n)
	}
	s.eventually("status says that robots would be refused", func() bool {
		s.get(gptbot, "/page")
		out, _ := s.status()
		return strings.Contains(out, "these robots would be refused: ") && strings.Contains(out, "would be refused: self-declared")
	})
	s.adminRequest(http.MethodPost, "mode?mode=configured", 200, nil)
	b.gate.open()
	b.sent.Wait()
	s.idle("after all")
	s.eventually("GPTBot is served again", func() bool { return s.get(gptbot, "/page").status == 200 })
}

// While the load stays, the server is busy: status, log, metric, event and the
// matcher say so, also after a reload. When it has ended, they say that too.
func TestShedBusy(t *testing.T) {
	t.Parallel()
	b := newCrowd(t)
	site := "{\n\t" + recorded + `}
http://localhost:$PORT {
	@browsers {
		robots busy
		not robots
		not path /slow /expression
	}
	@expression ` + "`robots('busy') && {http.request.uri.path} == '/expression'`" + `
	robots {
		shed {
			in_flight 2
		}
	}
	respond @expression "busy" 418
	respond @browsers "challenge" 401
	reverse_proxy ` + b.address() + `
}
`
	s := startRecorded(t, site)
	s.wants(200, s.get(chrome, "/"), "a browser")
	b.wait(s, 3)
	s.eventually("the server is busy", func() bool { s.get(gptbot, "/"); return s.shedding().since != "" })
	s.wants(401, s.get(chrome, "/"), "a browser, while the server is busy")
	s.wants(418, s.get(chrome, "/expression"), "an expression")
	s.wantEvents(nil, "started", "robots_shedding begin localhost")
	before := s.shedding()
	if err := s.reload(site); err != nil {
		t.Fatal(err)
	}
	after := s.shedding()
	if after.since == "" || after.since != before.since || after.inFlight < 3 || !strings.Contains(after.refused, "ai-*") {
		t.Errorf("after a reload: %+v, before it %+v", after, before)
	}
	s.wants(503, s.get(gptbot, "/"), "GPTBot after a reload")
	if n := s.metric("caddy_robots_shedding"); n != 1 {
		t.Errorf("metric: %v", n)
	}
	if out, _ := s.status(); !strings.Contains(out, "localhost is busy, with ") || !strings.Contains(out, "Robots that are refused while the server is busy") {
		t.Errorf("status:\n%s", out)
	}
	s.reasonsAddUp("shed")
	if s.exitStatus() != 2 {
		t.Error("status does not exit as after a finding")
	}
	b.gate.open()
	b.sent.Wait()
	s.pass(time.Minute)
	s.eventually("the server is not busy", func() bool { return s.shedding().since == "" })
	s.wants(200, s.get(chrome, "/"), "a browser, after the load")
	s.wants(200, s.get(gptbot, "/"), "GPTBot, after the load")
	s.pass(5 * time.Minute)
	s.wantEvents(nil, "started", "robots_shedding begin localhost", "started", "robots_shedding end localhost")
	for _, message := range []string{"an accident began", "an accident ended"} {
		if lines := s.lines(message); len(lines) != 1 || lines[0]["kind"] != "shedding" {
			t.Errorf("%s: %v", message, lines)
		}
	}
	if n := s.metric("caddy_robots_shedding"); n != 0 {
		t.Errorf("metric: %v", n)
	}
}

// The documented challenge comes only while the server is busy, and only to browsers.
func TestDocumentedChallengeUnderLoad(t *testing.T) {
	t.Parallel()
	b := newCrowd(t)
	anubis := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/.within.website/x/cmd/anubis/api/check" && r.Header.Get("Cookie") == "":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path != "/.within.website/x/cmd/anubis/api/check":
			fmt.Fprint(w, "challenge")
		}
	})
	s := start(t, documented(t, "overload.md", "caddyfile", "robots busy", "example.com {", "http://localhost:$PORT {", "localhost:8080", b.address(), "localhost:8923", anubis.address(),
		"in_flight 64", "in_flight 2"))
	s.wants(200, s.get(chrome, "/page"), "a browser")
	b.wait(s, 3)
	s.eventually("the server is busy", func() bool { s.get(gptbot, "/"); return s.shedding().since != "" })
	resp := s.get(chrome, "/page?x")
	if to := fmt.Sprintf("/.within.website/?redir=http://localhost:%d/page?x", s.port); resp.status != 307 || resp.header.Get("Location") != to {
		t.Errorf("a browser: %d, Location %s", resp.status, resp.header.Get("Location"))
	}
	if resp := s.get(chrome, "/.within.website/"); resp.body != "challenge" {
		t.Errorf("the challenge: %d %q", resp.status, resp.body)
	}
	passed := s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d/page", s.port), chrome, "", http.Header{"Cookie": {"solved=1"}})
	s.wants(200, passed, "a browser with the cookie")
	s.wants(200, s.get("curl/8.5.0", "/page"), "curl")
	s.wants(503, s.get(gptbot, "/page"), "GPTBot")
	b.gate.open()
	b.sent.Wait()
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
