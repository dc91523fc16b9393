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
		if r, used := m.Peek(now, Use{k, hourly}); !r.OK || used {
			t.Fatalf("Peek before the first request: %+v, %t", r, used)
		}
	}
	if r := m.Take(t.Context(), now, []Use{{k, hourly}}); !r.OK {
		t.Fatalf("the first request: %+v", r)
	}
	peeked, used := m.Peek(now, Use{k, hourly})
	taken := m.Take(t.Context(), now, []Use{{k, hourly}})
	if peeked.OK || !used || taken.OK || peeked.Reason != taken.Reason {
		t.Errorf("Peek after the first request: %+v, %t; Take: %+v", peeked, used, taken)
	}
	if err := m.Forget(t.Context(), now, k); err != nil {
		t.Fatal(err)
	}
	if r := m.Take(t.Context(), now, []Use{{k, hourly}}); !r.OK {
		t.Errorf("after Forget: %+v", r)
	}
	if r, used := m.Peek(now, Use{Key: k}); !r.OK || used {
		t.Errorf("without limits: %+v, %t", r, used)
	}
	if err := m.Forget(t.Context(), noon, newKey("never seen")); err != nil {
		t.Error(err)
	}
	if s := stats(m); s.Entries != 1 {
		t.Errorf("%d entries, want 1", s.Entries)
	}
}
