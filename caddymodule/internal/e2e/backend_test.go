package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
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

// flaky is a back end. A test sets its answer to requests for /robots.txt; other
// paths always have a page.
type flaky struct {
	*backend
	answer atomic.Pointer[http.HandlerFunc]
}

func newFlaky(t *testing.T) *flaky {
	t.Helper()
	f := new(flaky)
	f.answerWith(rules("/private/"))
	f.backend = newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			(*f.answer.Load())(w, r)
			return
		}
		fmt.Fprint(w, "page")
	})
	return f
}

func (f *flaky) answerWith(h http.HandlerFunc) { f.answer.Store(&h) }

func text(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func rules(path string) http.HandlerFunc { return text(200, disallow(path)) }
