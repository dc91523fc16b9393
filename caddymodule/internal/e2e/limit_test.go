package e2e_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

// crawlerNo returns the User-Agent of one of many crawlers.
func crawlerNo(n int) string {
	return fmt.Sprintf("Mozilla/5.0 (compatible; Gather%dbot/1.0; +https://gather%d.example/bot)", n, n)
}

// Requests in flight are counted until they end, whatever ends them: the answer, a
// client that hangs up, a broken back end, or the end of a WebSocket. A reload keeps
// the count.
func TestRequestsAtOnce(t *testing.T) {
	t.Parallel()
	const config = `http://:$PORT {
	robots {
		limit /slow/* {
			at_once 4
		}
	}
	reverse_proxy $BACKEND
}
`
	g := newGate(t)
	b := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.URL.Path == "/slow/panic":
			panic(http.ErrAbortHandler)
		case r.Header.Get("Upgrade") != "":
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
			_ = rw.Flush()
			_, _ = io.Copy(io.Discard, rw)
		case r.URL.Path == "/slow/gate":
			g.before(page(""))(w, r)
		default:
			w.WriteHeader(200)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	})
	text := strings.Replace(config, "$BACKEND", b.address(), 1)
	s := start(t, text)
	s.wants(404, s.get(gptbot, "/robots.txt"), "robots.txt")
	ask := func(ctx context.Context, path string, upgrade bool) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User-Agent", gptbot)
		if upgrade {
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "websocket")
		}
		return client.Do(r)
	}
	var open []io.Closer
	ctx, hangUp := context.WithCancel(context.Background())
	defer hangUp()
	for i := range 4 {
		resp, err := ask(ctx, "/slow/stream", i == 0)
		if err != nil || resp.StatusCode != 200 && resp.StatusCode != 101 {
			t.Fatalf("request %d: %v, %v", i, resp, err)
		}
		open = append(open, resp.Body)
	}
	refused := s.get(gptbot, "/slow/x")
	if refused.status != 429 || refused.header.Get("Retry-After") != "5" {
		t.Errorf("status %d, Retry-After %q", refused.status, refused.header.Get("Retry-After"))
	}
	s.wants(404, s.get(chrome, "/robots.txt"), "a person")
	if err := s.reload(strings.Replace(text, "at_once 4", "at_once 5", 1)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.eventually("a fifth request is let through", func() bool { return s.get(gptbot, "/slow/panic").status == 502 })
	}
	hangUp()
	for _, body := range open {
		body.Close()
	}
	// passed returns how many of six requests at once are let through.
	passed := func() (n int) {
		ctx, hangUp := context.WithCancel(t.Context())
		defer hangUp()
		for range 6 {
			resp, err := ask(ctx, "/slow/stream", false)
			if err != nil {
				continue
			}
			defer resp.Body.Close()
			if resp.StatusCode == 200 {
				n++
			}
		}
		return n
	}
	s.eventually("no request is in flight", func() bool { return passed() == 5 })
	for i := range 300 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(3000))*time.Microsecond)
		if resp, err := ask(ctx, []string{"/slow/x", "/slow/panic", "/slow/gate"}[i%3], i%7 == 0); err == nil {
			resp.Body.Close()
		}
		cancel()
	}
	s.eventually("no request is in flight after many that were killed", func() bool { return passed() == 5 })
}
