package throttle

import (
	"context"
	"sync/atomic"
	"time"
)

// Waiters holds requests until their place in the budget comes. It bounds how
// many are held at a time. It starts no goroutine: each request waits in its
// own. Its methods are safe for concurrent use.
//
// Close it when its configuration is replaced. Requests that are held keep the
// place that they took from the budget and go on when their time has come,
// after MaxWait at the latest; others are no longer held. When the whole server
// shuts down, the contexts of the requests end the wait: Caddy cancels them at
// the end of its grace period, and without one it waits for the requests.
type Waiters struct {
	max    int64
	held   atomic.Int64
	closed atomic.Bool
}

// NewWaiters returns one that holds at most max requests at a time.
func NewWaiters(max int) *Waiters {
	return &Waiters{max: int64(max)}
}

// Take asks l for a place within maxWait and holds the request until then. A
// request for which w has no room is only accepted if it need not be held, so
// that it takes no place that it cannot keep; so is each request after Close.
//
// The error is that of ctx if ctx ends while the request is held. The request
// must then not go on, although its place stays taken.
func (w *Waiters) Take(ctx context.Context, l Limiter, now time.Time, k Key, t *Terms, maxWait time.Duration) (Result, error) {
	if maxWait <= 0 || t == nil || w.closed.Load() {
		return l.Take(ctx, now, k, t, 0), nil
	}
	if w.held.Add(1) > w.max {
		w.held.Add(-1)
		return l.Take(ctx, now, k, t, 0), nil
	}
	defer w.held.Add(-1)
	r := l.Take(ctx, now, k, t, maxWait)
	if !r.OK || r.Delay <= 0 {
		return r, nil
	}
	timer := time.NewTimer(r.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return r, nil
	case <-ctx.Done():
		return r, ctx.Err()
	}
}

// Close makes w hold no more requests. Those that are held go on waiting for
// their time. The error is always nil.
func (w *Waiters) Close() error {
	w.closed.Store(true)
	return nil
}
