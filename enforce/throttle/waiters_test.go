package throttle

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestHold(t *testing.T) {
	tests := []struct {
		name string
		max  int
		d    time.Duration
		do   func(w *Waiters, cancel context.CancelFunc)
		want error
		took time.Duration
	}{
		{"for the time asked", 1, time.Minute, nil, nil, time.Minute},
		{"not at all", 0, 0, nil, nil, 0},
		{"no room", 0, time.Minute, nil, ErrTooManyWaiters, 0},
		{"the client goes away", 1, time.Minute, func(_ *Waiters, cancel context.CancelFunc) { cancel() }, context.Canceled, time.Second},
		{"the configuration changes", 1, time.Minute, func(w *Waiters, _ context.CancelFunc) { w.Close(); w.Close() }, ErrWaitersClosed, time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := NewWaiters(test.max)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.do != nil {
					time.AfterFunc(time.Second, func() { test.do(w, cancel) })
				}
				start := time.Now()
				err := w.Hold(ctx, test.d)
				if took := time.Since(start); !errors.Is(err, test.want) || took != test.took {
					t.Errorf("Hold = %v after %v, want %v after %v", err, took, test.want, test.took)
				}
				if w.Held() != 0 {
					t.Errorf("%d still held", w.Held())
				}
			})
		})
	}
}

// Requests queue up one interval apart, no more of them than may be held, and
// one for which there is no room takes no place.
func TestWaitersTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := NewWaiters(2), NewMemory(100)
		terms, key := Compile(Grant{Delay: delay(10 * time.Second)}, Options{}), NewKey("a")
		start := time.Now()
		var ends []time.Duration
		refused := 0
		done := make(chan Result)
		for range 5 {
			go func() {
				r, err := w.Take(t.Context(), m, time.Now(), key, terms, time.Minute)
				if err != nil {
					t.Error(err)
				}
				done <- r
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
		if r := m.Take(t.Context(), time.Now(), key, terms, 0); r.RetryAfter != 9*time.Second {
			t.Errorf("the next place: %+v", r)
		}
	})
}

// Closed waiters hold nobody.
func TestWaitersTakeAfterClose(t *testing.T) {
	w, m := NewWaiters(2), NewMemory(100)
	w.Close()
	terms, key := Compile(Grant{Delay: delay(10 * time.Second)}, Options{}), NewKey("a")
	for i, ok := range []bool{true, false} {
		if r, err := w.Take(t.Context(), m, noon, key, terms, time.Minute); r.OK != ok || r.Delay != 0 || err != nil {
			t.Errorf("request %d: %+v, %v", i, r, err)
		}
	}
}
