package throttle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// Requests are held one interval apart. If too many are held, further ones are
// refused and use no budget.
func TestWaitersTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := NewWaiters(2), NewMemory(100)
		terms, key := Compile(Grant{Delay: delay(10 * time.Second)}), newKey("a")
		start := time.Now()
		var ends []time.Duration
		refused := 0
		done := make(chan Result)
		for range 5 {
			go func() {
				done <- w.Take(t.Context(), m, time.Now(), []Use{{key, terms}}, time.Minute)
			}()
			synctest.Wait()
		}
		for range 5 {
			if r := <-done; r.OK {
				ends = append(ends, time.Since(start))
			} else {
				refused++
			}
		}
		want := []time.Duration{0, 4500 * time.Millisecond, 13500 * time.Millisecond}
		if len(ends) != 3 || ends[0] != want[0] || ends[1] != want[1] || ends[2] != want[2] || refused != 2 {
			t.Errorf("went on after %v, %d refused; want %v", ends, refused, want)
		}
		if r := m.Take(t.Context(), time.Now(), []Use{{key, terms}}, 0); r.RetryAfter != 9*time.Second {
			t.Errorf("the next request: %+v", r)
		}
	})
}

// A wait ends when the time of the request comes or its context ends, but not
// by Close.
func TestEndOfWait(t *testing.T) {
	held := Result{OK: true, Reason: CrawlDelay, Line: 2, Delay: 45 * time.Second}
	ended := Result{Reason: CrawlDelay, Line: 2, RetryAfter: 45 * time.Second, Delay: 45 * time.Second}
	tests := []struct {
		name string
		do   func(w *Waiters, cancel context.CancelFunc)
		want Result
		took time.Duration
	}{
		{"its time has come", func(*Waiters, context.CancelFunc) {}, held, 45 * time.Second},
		{"the context ends", func(_ *Waiters, cancel context.CancelFunc) { cancel() }, ended, time.Second},
		{"the configuration is replaced", func(w *Waiters, _ context.CancelFunc) { w.Close(); w.Close() }, held, 45 * time.Second},
		{"the server shuts down", func(w *Waiters, cancel context.CancelFunc) { w.Close(); cancel() }, ended, time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, m := NewWaiters(1), NewMemory(100)
				terms, key := Compile(Grant{Delay: delay(100 * time.Second)}), newKey("a")
				m.Take(t.Context(), time.Now(), []Use{{key, terms}}, 0)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(time.Second, func() { test.do(w, cancel) })
				start := time.Now()
				r := w.Take(ctx, m, start, []Use{{key, terms}}, time.Minute)
				r.turn = nil
				if took := time.Since(start); r != test.want || took != test.took {
					t.Errorf("Take = %+v after %v, want %+v after %v", r, took, test.want, test.took)
				}
				if held := w.held.Load(); held != 0 {
					t.Errorf("%d still held", held)
				}
			})
		})
	}
}

// A reload replaces the Waiters and keeps the Memory. Held requests keep their
// time, the old Waiters hold no further requests, and the new Waiters hold
// requests for later times.
func TestWaitersAcrossReload(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	synctest.Test(t, func(t *testing.T) {
		before, after, m := NewWaiters(10), NewWaiters(10), NewMemory(100)
		terms, key := Compile(Grant{Delay: delay(10 * time.Second)}), newKey("a")
		start := time.Now()
		done := make(chan time.Duration, 10)
		take := func(w *Waiters) {
			go func() {
				if r := w.Take(t.Context(), m, time.Now(), []Use{{key, terms}}, time.Minute); !r.OK {
					t.Errorf("%+v", r)
				}
				done <- time.Since(start)
			}()
			synctest.Wait()
		}
		take(before)
		take(before)
		before.Close()
		if r := before.Take(t.Context(), m, time.Now(), []Use{{key, terms}}, time.Minute); r.OK || r.RetryAfter != 13500*time.Millisecond {
			t.Errorf("by closed Waiters: %+v", r)
		}
		take(after)
		for _, want := range []time.Duration{0, 4500 * time.Millisecond, 13500 * time.Millisecond} {
			if got := <-done; got != want {
				t.Errorf("went on after %v, want %v", got, want)
			}
		}
	})
}
