package throttle

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A Clock follows the wall clock forward. It does not go back if the wall clock
// is set back by at most MaxLead. If it is set back by more, the Clock follows.
func TestClock(t *testing.T) {
	const s, m, h = time.Second, time.Minute, time.Hour
	type reading struct {
		elapsed time.Duration // monotonic, since the start
		wall    time.Duration // since noon
		want    time.Duration // since noon
	}
	tests := []struct {
		name     string
		readings []reading
	}{
		{"not changed", []reading{{0, 0, 0}, {s, s, s}, {h, h, h}}},
		{"set forward", []reading{{0, 0, 0}, {s, h, h}, {2 * s, h + s, h + s}}},
		{"set back by a second", []reading{{0, 0, 0}, {10 * s, 9 * s, 10 * s}, {10*s + 256*s/2, 9*s + 256*s/2, 9*s + 256*s/2 + s/2}, {10*s + 256*s, 9*s + 256*s, 9*s + 256*s}, {h, h - s, h - s}}},
		{"set back by MaxLead", []reading{{0, 0, 0}, {h, 50 * m, h}, {h + 256*s, 50*m + 256*s, h + 255*s}}},
		{"set back by more than MaxLead", []reading{{0, 0, 0}, {h, 50*m - s, 50*m - s}, {h + s, 50 * m, 50 * m}}},
		{"set back twice by less than MaxLead together", []reading{{0, 0, 0}, {m, 0, m}, {m, -m, m}}},
		{"set back twice by more than MaxLead together", []reading{{0, 0, 0}, {m, -5 * m, m}, {m, -11 * m, -11 * m}}},
		{"set back and corrected", []reading{{0, 0, 0}, {m, 0, m}, {m, m, m}, {2 * m, 2 * m, 2 * m}}},
		{"set back and set forward by less", []reading{{0, 0, 0}, {m, 0, m}, {m, 30 * s, m}, {m + 256*s, 30*s + 256*s, m + 255*s}}},
		{"clocks read at different instants", []reading{{0, 0, 0}, {s, s - 900*time.Microsecond, s}, {2 * s, 2*s + 900*time.Microsecond, 2 * s}}},
		{"machine in sleep mode, monotonic clock stopped", []reading{{0, 0, 0}, {s, 8 * h, 8 * h}, {2 * s, 8*h + s, 8*h + s}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var c Clock
			for i, r := range test.readings {
				got := time.Unix(0, c.at(noon.Add(r.wall).UnixNano(), int64(r.elapsed)))
				if want := noon.Add(r.want); !got.Equal(want) {
					t.Errorf("reading %d: %v, want %v", i, got.Sub(noon), r.want)
				}
			}
		})
	}
}

// For random changes of the wall clock, a Clock is never behind it, never more
// than MaxLead ahead, and does not go back by less than MaxLead.
func TestClockAfterRandomChanges(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(uint64(seed), 11))
		var c Clock
		wall, monotonic := noon.UnixNano(), int64(0)
		last := c.at(wall, monotonic)
		for range 200 {
			step := rnd.Int64N(int64(time.Minute))
			monotonic, wall = monotonic+step, wall+step
			if rnd.IntN(4) == 0 {
				wall += rnd.Int64N(int64(20*time.Minute)) - int64(12*time.Minute)
			}
			now := c.at(wall, monotonic)
			if now < last && last-now <= int64(MaxLead)-int64(time.Minute) {
				t.Fatalf("seed %d: went back by %v", seed, time.Duration(last-now))
			}
			if now < wall-2*clockNoise || now > wall+int64(MaxLead)+2*clockNoise {
				t.Fatalf("seed %d: %v ahead of the wall clock", seed, time.Duration(now-wall))
			}
			last = now
		}
	}
}

// If the clock is set back, a crawler that has used its budget is not refused
// longer, and gets no extra request.
func TestBudgetAfterClockSetBack(t *testing.T) {
	for _, back := range []time.Duration{time.Second, time.Minute, 9 * time.Minute, MaxLead, 11 * time.Minute, 3 * time.Hour} {
		m, key, terms := NewMemory(100), newKey("a"), Compile(Grant{Delay: delay(10 * time.Second)})
		var c Clock
		at := func(elapsed, wall time.Duration) time.Time {
			return time.Unix(0, c.at(noon.Add(wall).UnixNano(), int64(elapsed)))
		}
		if r := m.Take(t.Context(), at(0, 0), []Use{{key, terms}}); !r.OK {
			t.Fatal(r)
		}
		if r := m.Take(t.Context(), at(time.Second, time.Second-back), []Use{{key, terms}}); r.OK || r.RetryAfter > 10*time.Second {
			t.Errorf("a second after the last request, clock set back by %v: %+v", back, r)
		}
		for i := range time.Duration(20) {
			elapsed := (i + 1) * 10 * time.Second
			if r := m.Take(t.Context(), at(elapsed, elapsed-back), []Use{{key, terms}}); !r.OK {
				t.Errorf("request that keeps the delay, %v after the start, clock set back by %v: %+v", elapsed, back, r)
			}
		}
	}
}

// Now returns the wall clock, and is safe for concurrent use.
func TestClockNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for range 100 {
					if now := c.Now(); !now.Equal(time.Now()) {
						t.Errorf("%v, want %v", now, time.Now())
					}
					time.Sleep(time.Second)
				}
			})
		}
		group.Wait()
	})
	var c Clock
	c.Now()
	if n := testing.AllocsPerRun(1000, func() { c.Now() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
