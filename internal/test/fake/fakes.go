package fake

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Source is a Source with an answer that tests set. It counts the reads of
// each origin. Its answers are whole unless partly is set.
type Source struct {
	Mu     sync.Mutex
	Shared bool // one file for all origins
	Partly bool
	Resp   judge.Response
	Err    error
	Block  chan struct{} // Fetch waits until it is closed; nil if Fetch must not wait
	Begun  chan struct{} // Fetch closes it when it has its answer; may be nil
	Reads  map[judge.Origin]int
	Panics bool
}

func (s *Source) Set(status int, body string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Resp, s.Err = judge.Response{Status: status, Body: []byte(body), Whole: !s.Partly}, nil
}

func (s *Source) Fetch(ctx context.Context, o judge.Origin) (judge.Response, error) {
	s.Mu.Lock()
	if s.Reads == nil {
		s.Reads = make(map[judge.Origin]int)
	}
	s.Reads[o]++
	resp, err, block, panics := s.Resp, s.Err, s.Block, s.Panics
	if s.Begun != nil {
		close(s.Begun)
	}
	s.Mu.Unlock()
	if panics {
		panic(http.ErrAbortHandler)
	}
	if block != nil {
		select {
		case <-block:
		case <-ctx.Done():
			return judge.Response{}, ctx.Err()
		}
	}
	return resp, err
}

func (s *Source) PerOrigin() bool { return !s.Shared }

func (s *Source) Count(o judge.Origin) int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Reads[o]
}

// Hide returns a value for Settings.Edit with one hidden path.
func Hide(path string) func(*crawler.Registry) (*judge.Additions, error) {
	return func(*crawler.Registry) (*judge.Additions, error) {
		return &judge.Additions{
			Hidden: []robots.Rule{{Pattern: path, Line: 1}}, HiddenReason: managed.HiddenReason, HiddenLayer: managed.HiddenLayer,
		}, nil
	}
}

// Recorder keeps the results of fetches.
type Recorder[E any] struct{ reads chan E }

func NewRecorder[E any]() Recorder[E] { return Recorder[E]{make(chan E, 10_000)} }

func (r Recorder[E]) Record(e E) { r.reads <- e }

// Next waits for the next read to end.
func (r Recorder[E]) Next(t *testing.T) E {
	t.Helper()
	select {
	case e := <-r.reads:
		return e
	case <-time.After(10 * time.Second):
		t.Fatal("no read has ended")
		panic("unreachable")
	}
}
