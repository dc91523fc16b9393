package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// disallow returns a robots.txt that disallows a path to every crawler.
func disallow(path string) string { return "User-agent: *\nDisallow: " + path + "\n" }

// backend is an HTTP server that records its requests.
type backend struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request
}

// newBackend starts a back end.
func newBackend(t *testing.T, h http.HandlerFunc) *backend {
	t.Helper()
	b := new(backend)
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.seen = append(b.seen, r.Clone(context.Background()))
		b.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(b.CloseClientConnections)
	t.Cleanup(b.Close)
	return b
}

// requests returns the requests so far for a path, or all of them if the path is
// empty.
func (b *backend) requests(path string) (found []*http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.seen {
		if path == "" || r.URL.Path == path {
			found = append(found, r)
		}
	}
	return found
}

// gate makes requests wait until a test opens it.
type gate struct {
	asked  chan struct{} // closed when the first request has arrived
	opened chan struct{}
	first  sync.Once
	once   sync.Once
}

func newGate(t *testing.T) *gate {
	g := &gate{asked: make(chan struct{}), opened: make(chan struct{})}
	t.Cleanup(g.open)
	return g
}

func (g *gate) open() { g.once.Do(func() { close(g.opened) }) }

// before returns a handler that waits for the gate and then calls h.
func (g *gate) before(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.first.Do(func() { close(g.asked) })
		select {
		case <-g.opened:
		case <-r.Context().Done():
			return
		}
		h(w, r)
	}
}

// rawAt sends a GET with exactly this Host field and target.
func (s *server) rawAt(host, target string, agents ...string) response {
	s.t.Helper()
	return s.rawTo(s.port, host, target, agents...)
}

// rawTo is rawAt for another port of the server.
func (s *server) rawTo(port int, host, target string, agents ...string) response {
	s.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", target, host)
	for _, ua := range agents {
		fmt.Fprintf(&b, "User-Agent: %s\r\n", ua)
	}
	return (&server{t: s.t, host: s.host, port: port}).raw(b.String() + "\r\n")
}
