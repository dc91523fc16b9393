package throttle

import (
	"testing"
	"time"
)

// Peek returns what Take would return, and changes nothing. Forget resets the
// budget.
func TestPeekAndForget(t *testing.T) {
	m := NewMemory(1000)
	now, k := time.Now(), newKey("peek", t.Name(), time.Now().String())
	for range 3 {
		if r := m.Peek(now, Use{k, hourly}); !r.OK {
			t.Fatalf("Peek before the first request: %+v", r)
		}
	}
	if r := m.Take(t.Context(), now, []Use{{k, hourly}}); !r.OK {
		t.Fatalf("the first request: %+v", r)
	}
	peeked := m.Peek(now, Use{k, hourly})
	taken := m.Take(t.Context(), now, []Use{{k, hourly}})
	if peeked.OK || taken.OK || peeked.Reason != taken.Reason {
		t.Errorf("Peek after the first request: %+v; Take: %+v", peeked, taken)
	}
	if err := m.Forget(t.Context(), now, k); err != nil {
		t.Fatal(err)
	}
	if r := m.Take(t.Context(), now, []Use{{k, hourly}}); !r.OK {
		t.Errorf("after Forget: %+v", r)
	}
	if r := m.Peek(now, Use{Key: k}); !r.OK {
		t.Errorf("without limits: %+v", r)
	}
	if err := m.Forget(t.Context(), noon, newKey("never seen")); err != nil {
		t.Error(err)
	}
	if s := stats(m); s.Entries != 1 {
		t.Errorf("%d entries, want 1", s.Entries)
	}
}
