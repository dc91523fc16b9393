package throttle

import (
	"testing"
	"time"
)

// Peek returns what Take would return, and changes nothing. Forget resets the
// budget.
func TestPeekAndForget(t *testing.T) {
	m := NewMemory(1000)
	fleet, _ := newFleet(t, FleetConfig{Addresses: []string{testServer(t, false).address}, Deadline: time.Minute})
	for name, limiter := range map[string]Limiter{"memory": m, "fleet": fleet} {
		t.Run(name, func(t *testing.T) {
			now, k := time.Now(), newKey("peek", t.Name(), time.Now().String())
			for range 3 {
				if r, used := limiter.Peek(now, k, hourly); !r.OK || used {
					t.Fatalf("Peek before the first request: %+v, %t", r, used)
				}
			}
			if r := limiter.Take(t.Context(), now, []Use{{k, hourly}}); !r.OK {
				t.Fatalf("the first request: %+v", r)
			}
			peeked, used := limiter.Peek(now, k, hourly)
			taken := limiter.Take(t.Context(), now, []Use{{k, hourly}})
			if peeked.OK || !used || taken.OK || peeked.Reason != taken.Reason {
				t.Errorf("Peek after the first request: %+v, %t; Take: %+v", peeked, used, taken)
			}
			if err := limiter.Forget(t.Context(), now, k); err != nil {
				t.Fatal(err)
			}
			if r := limiter.Take(t.Context(), now, []Use{{k, hourly}}); !r.OK {
				t.Errorf("after Forget: %+v", r)
			}
			if r, used := limiter.Peek(now, k, nil); !r.OK || used {
				t.Errorf("without limits: %+v, %t", r, used)
			}
		})
	}
	if err := m.Forget(t.Context(), noon, newKey("never seen")); err != nil {
		t.Error(err)
	}
	if s := stats(m); s.Entries != 1 {
		t.Errorf("%d entries, want 1", s.Entries)
	}
}
