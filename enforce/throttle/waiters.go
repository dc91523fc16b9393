package throttle

import (
	"context"
	"sync/atomic"
	"time"
)

// Waiters holds requests until the budgets are free for them. It limits how many
// requests are held at a time. It starts no goroutine: each request waits in
// the goroutine that calls Take. Its methods are safe for concurrent use.
//
// Close it when its configuration is replaced. Held requests then still wait for
// their Delay, which is at most MaxWait, and further requests are not held. When
// the whole server shuts down, the contexts of the requests must end the wait.
// Caddy cancels them at the end of its grace period; without a grace period, it
// waits for the requests.
type Waiters struct {
	max    int64
	held   atomic.Int64
	closed atomic.Bool
	queue  queue
}

// NewWaiters returns a Waiters that holds at most max requests at a time. If max
// is 0 or less, it holds none.
func NewWaiters(max int) *Waiters {
	return &Waiters{max: int64(max), queue: queue{max: max, lines: make(map[Key]*line)}}
}

// Take calls l.Take with maxWait, and holds an accepted request for its Delay.
// If too many requests are held already, or after Close, it calls l.Take with a
// maxWait of zero, so that the request is accepted at once or refused.
//
// If ctx ends while the request is held, Take refuses the request, with its Delay
// as RetryAfter. The request gives its turn back, in all budgets, if none of them
// accepted a later request; otherwise a further request of the same budgets gets
// the turn. A Fleet
// waits for the server then, at most FleetConfig.Deadline for each turn.
func (w *Waiters) Take(ctx context.Context, l Limiter, now time.Time, uses []Use, maxWait time.Duration) Result {
	if maxWait <= 0 || w.closed.Load() {
		return l.Take(ctx, now, uses, 0)
	}
	if w.held.Add(1) > w.max {
		w.held.Add(-1)
		return l.Take(ctx, now, uses, 0)
	}
	defer w.held.Add(-1)
	r := w.reuse(now, uses, maxWait)
	if !r.OK {
		r = l.Take(ctx, now, uses, maxWait)
		if !r.OK || r.Delay <= 0 {
			return r
		}
		if r.turn != nil {
			w.queue.add(r.turn)
		}
	}
	start, timer := time.Now(), time.NewTimer(r.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		if r.turn != nil {
			w.queue.remove(r.turn)
		}
		return r
	case <-ctx.Done():
		if r.turn != nil {
			w.queue.abandon(r.turn, now.Add(time.Since(start)).UnixMicro())
		}
		r.OK, r.RetryAfter = false, r.Delay
		return r
	}
}

// reuse returns the result for a request that gets an abandoned turn; the zero
// Result if there is none.
func (w *Waiters) reuse(now time.Time, uses []Use, maxWait time.Duration) Result {
	at := now.UnixMicro()
	free := w.queue.reuse(uses, at, at+min(maxWait, MaxWait).Microseconds())
	if free == nil {
		return Result{}
	}
	r := free.result
	r.Delay, r.turn = time.Duration(free.at-at)*time.Microsecond, free
	return r
}

// Close makes w hold no further requests. Requests that are already held go on
// waiting. Close always returns nil.
func (w *Waiters) Close() error {
	w.closed.Store(true)
	return nil
}
