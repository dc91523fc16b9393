package throttle

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Why a request is not held, or not any longer. A request that was held and
// whose client went away gets its context's error.
var (
	ErrTooManyWaiters = errors.New("throttle: as many requests are held as may be")
	ErrWaitersClosed  = errors.New("throttle: no requests are held any longer")
)

// Waiters holds requests until their place in the budget comes. It bounds how
// many are held at a time, and lets them all go when it is closed. Its methods
// are safe for concurrent use.
type Waiters struct {
	max   int64
	held  atomic.Int64
	close sync.Once
	gone  chan struct{}
}

// NewWaiters returns one that holds at most max requests at a time.
func NewWaiters(max int) *Waiters {
	return &Waiters{max: int64(max), gone: make(chan struct{})}
}

// Hold returns nil after d. It returns ErrTooManyWaiters at once if there is
// no room, the context's error as soon as ctx is done, and ErrWaitersClosed as
// soon as w is closed.
func (w *Waiters) Hold(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	if !w.enter() {
		return ErrTooManyWaiters
	}
	defer w.held.Add(-1)
	return w.sleep(ctx, d)
}

// Take asks l for a place within maxWait and holds the request until then. A
// request for which w has no room is only accepted if it need not be held, so
// that it takes no place that it cannot keep. The error is that of Hold: the
// request is then not to go on, although its place stays taken.
func (w *Waiters) Take(ctx context.Context, l Limiter, now time.Time, k Key, t *Terms, maxWait time.Duration) (Result, error) {
	if maxWait <= 0 || t == nil {
		return l.Take(ctx, now, k, t, 0), nil
	}
	if !w.enter() {
		return l.Take(ctx, now, k, t, 0), nil
	}
	defer w.held.Add(-1)
	select {
	case <-w.gone:
		return l.Take(ctx, now, k, t, 0), nil
	default:
	}
	r := l.Take(ctx, now, k, t, maxWait)
	if !r.OK || r.Delay <= 0 {
		return r, nil
	}
	return r, w.sleep(ctx, r.Delay)
}

// Held returns how many requests are held.
func (w *Waiters) Held() int { return int(w.held.Load()) }

// Close lets all held requests go, with ErrWaitersClosed. None is held
// afterwards.
func (w *Waiters) Close() error {
	w.close.Do(func() { close(w.gone) })
	return nil
}

func (w *Waiters) enter() bool {
	if w.held.Add(1) > w.max {
		w.held.Add(-1)
		return false
	}
	return true
}

func (w *Waiters) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-w.gone:
		return ErrWaitersClosed
	}
}
