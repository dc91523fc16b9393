package enforce

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots"
)

// fakeSource is a Source with an answer that tests set. It counts the reads of
// each origin. Its answers are whole unless partly is set.
type fakeSource struct {
	mu     sync.Mutex
	shared bool // one file for all origins
	partly bool
	resp   Response
	err    error
	block  chan struct{} // Fetch waits until it is closed; nil if Fetch must not wait
	begun  chan struct{} // Fetch closes it when it has its answer; may be nil
	reads  map[Origin]int
	panics bool
}

func (s *fakeSource) set(status int, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resp, s.err = Response{Status: status, Body: []byte(body), Whole: !s.partly}, nil
}

func (s *fakeSource) Fetch(ctx context.Context, o Origin) (Response, error) {
	s.mu.Lock()
	if s.reads == nil {
		s.reads = make(map[Origin]int)
	}
	s.reads[o]++
	resp, err, block, panics := s.resp, s.err, s.block, s.panics
	if s.begun != nil {
		close(s.begun)
	}
	s.mu.Unlock()
	if panics {
		panic(http.ErrAbortHandler)
	}
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return Response{}, ctx.Err()
		}
	}
	return resp, err
}

func (s *fakeSource) PerOrigin() bool { return !s.shared }

func (s *fakeSource) count(o Origin) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads[o]
}

// hide returns a value for Settings.Managed with one hidden path.
func hide(path string) func(*crawler.Registry) (*Additions, error) {
	return func(*crawler.Registry) (*Additions, error) {
		return &Additions{Hidden: []robots.Rule{{Pattern: path, Line: 1}}}, nil
	}
}

// recorder keeps the results of fetches.
type recorder[E any] struct{ reads chan E }

func newRecorder[E any]() recorder[E] { return recorder[E]{make(chan E, 10_000)} }

func (r recorder[E]) record(e E) { r.reads <- e }

// next waits for the next read to end.
func (r recorder[E]) next(t *testing.T) E {
	t.Helper()
	select {
	case e := <-r.reads:
		return e
	case <-time.After(10 * time.Second):
		t.Fatal("no read has ended")
		panic("unreachable")
	}
}
