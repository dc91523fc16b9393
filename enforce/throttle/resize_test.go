package throttle

import (
	"fmt"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// A change of the size neither loses nor doubles a budget, for larger and
// smaller sizes and any number of shards.
func TestResizeKeepsBudgets(t *testing.T) {
	terms := Compile(Grant{Rates: []robots.RequestRate{rate(3, time.Hour, allDayFrom, allDayTo)}})
	for _, sizes := range [][]int{{1000, 100_000}, {100_000, 1000}, {1000, 1001}, {1, 1_000_000, 2000, 50_000, 1000}} {
		t.Run(fmt.Sprint(sizes), func(t *testing.T) {
			m, keys := NewMemory(max(sizes[0], 1000)), 500
			for i := range keys {
				for range 1 + i%3 {
					m.Take(t.Context(), noon, []Use{{newKey(fmt.Sprint(i)), terms}})
				}
			}
			for _, size := range sizes {
				m.Resize(noon, max(size, 1000))
			}
			for i := range keys {
				left := 0
				for m.Take(t.Context(), noon, []Use{{newKey(fmt.Sprint(i)), terms}}).OK {
					left++
				}
				if want := 3 - (1 + i%3); left != want {
					t.Fatalf("key %d has %d requests left, want %d", i, left, want)
				}
			}
			if s := stats(m); s.Entries != keys {
				t.Errorf("%d keys, want %d", s.Entries, keys)
			}
		})
	}
}

// A Memory that was made smaller is not larger than a new one of the same size.
// It forgets Disposable keys first, and then the keys that would be unused
// soonest.
func TestResizeToSmallerSize(t *testing.T) {
	const size = 2000
	m, clients := NewMemory(100_000), newKey("libraries")
	long := Compile(Grant{Delay: delay(24 * time.Hour)})
	for i := range 20_000 {
		m.Take(t.Context(), noon, []Use{{clients.Client(address(i)), long}})
	}
	for i := range 10_000 {
		m.Take(t.Context(), noon, []Use{{newKey("soon", fmt.Sprint(i)), hourly}})
	}
	for i := range size / 4 {
		m.Take(t.Context(), noon, []Use{{newKey("late", fmt.Sprint(i)), long}})
	}
	m.Resize(noon, size)
	s, fresh := stats(m), NewMemory(size)
	if bound := fresh.shards.Load().limit() * bucketSize; s.Entries > bound || s.Bytes > bound*61 || s.Entries < size*9/10 {
		t.Errorf("%+v, want %d entries at most", s, bound)
	}
	gone := 0
	for i := range size / 4 {
		if m.Take(t.Context(), noon, []Use{{newKey("late", fmt.Sprint(i)), long}}).OK {
			gone++
		}
	}
	if gone > size/400 {
		t.Errorf("%d of %d of the latest keys were forgotten", gone, size/4)
	}
}

// Unused keys are not copied.
func TestResizeDropsUnusedKeys(t *testing.T) {
	m := NewMemory(10_000)
	for i := range 5000 {
		m.Take(t.Context(), noon, []Use{{newKey(fmt.Sprint(i)), hourly}})
	}
	m.Resize(noon.Add(2*time.Hour), 20_000)
	if s := stats(m); s.Entries != 0 {
		t.Errorf("%+v", s)
	}
}
