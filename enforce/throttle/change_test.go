package throttle

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// A robots.txt that changes under load neither forgets what a crawler has
// used nor shuts it out for longer than the new file says.
func TestTermsChange(t *testing.T) {
	const s = time.Second
	delayOf := func(d time.Duration) *Terms { return Compile(Grant{Delay: delay(d)}, Options{}) }
	rateOf := func(n int, per time.Duration) *Terms {
		return Compile(Grant{Rates: []robots.RequestRate{rate(n, per, allDayFrom, allDayTo)}}, Options{})
	}
	type take struct {
		after time.Duration
		terms *Terms
		ok    bool
		retry time.Duration
	}
	tests := []struct {
		name  string
		takes []take
	}{
		{"a shorter delay counts from the last request", []take{
			{0, delayOf(time.Hour), true, 0}, {s, delayOf(10 * s), false, 3500 * time.Millisecond}, {4500 * time.Millisecond, delayOf(10 * s), true, 0},
		}},
		{"a longer delay counts from the last request", []take{
			{0, delayOf(10 * s), true, 0}, {20 * s, delayOf(100 * s), false, 25 * s}, {45 * s, delayOf(100 * s), true, 0},
		}},
		{"the same delay from another file changes nothing", []take{
			{0, delayOf(10 * s), true, 0}, {5 * s, delayOf(10 * s), true, 0}, {10 * s, delayOf(10 * s), false, 3500 * time.Millisecond},
		}},
		{"a delay instead of a rate", []take{
			{0, rateOf(3, 30*s), true, 0}, {0, rateOf(3, 30*s), true, 0}, {0, delayOf(10 * s), false, 9 * s}, {9 * s, delayOf(10 * s), true, 0},
		}},
		{"a rate instead of a delay", []take{
			{0, delayOf(time.Hour), true, 0}, {0, rateOf(3, 30*s), true, 0}, {0, rateOf(3, 30*s), true, 0}, {0, rateOf(3, 30*s), false, 4500 * time.Millisecond},
		}},
		{"a higher rate counts what was used of the lower", []take{
			{0, rateOf(2, 60*s), true, 0}, {0, rateOf(2, 60*s), true, 0}, {0, rateOf(3, 60*s), true, 0}, {0, rateOf(3, 60*s), false, 9 * s},
		}},
		{"no delay and then the old one again", []take{
			{0, delayOf(100 * s), true, 0}, {s, nil, true, 0}, {2 * s, delayOf(100 * s), false, 43 * s},
		}},
		{"back and forth while old and new are both in use", []take{
			{0, delayOf(10 * s), true, 0}, {s, delayOf(100 * s), false, 44 * s}, {2 * s, delayOf(10 * s), false, 2500 * time.Millisecond},
			{3 * s, delayOf(100 * s), false, 42 * s}, {4500 * time.Millisecond, delayOf(10 * s), true, 0}, {5 * s, delayOf(100 * s), false, 89500 * time.Millisecond},
		}},
	}
	forEachEngine(t, func(t *testing.T, l Limiter) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				key := NewKey(t.Name())
				for i, take := range test.takes {
					r := l.Take(t.Context(), noon.Add(take.after), key, take.terms, 0)
					late := r.RetryAfter != take.retry
					if _, ok := l.(*turns); ok {
						// One process of a fleet refuses by what it knows, which
						// may be less than the others have used since.
						late = r.RetryAfter > take.retry
					}
					if r.OK != take.ok || late {
						t.Fatalf("request %d: %+v, want ok %t, retry after %v", i, r, take.ok, take.retry)
					}
				}
			})
		}
	})
}

// After any change, a crawler that stays away for one interval of the new
// terms gets through.
func TestTermsChangeLocksNobodyOut(t *testing.T) {
	forEachEngine(t, func(t *testing.T, l Limiter) {
		for seed := range rounds(l, 100) {
			rnd := rand.New(rand.NewPCG(seed, 4))
			key, now := NewKey(t.Name(), fmt.Sprint(seed)), noon
			for range 20 {
				g, o := randomGrant(rnd)
				g.Visits = nil
				terms := Compile(g, o)
				var longest time.Duration
				if terms != nil {
					for _, limit := range terms.limits[:terms.n] {
						longest = max(longest, time.Duration(limit.interval)*time.Microsecond)
					}
				}
				r := l.Take(t.Context(), now, key, terms, 0)
				for range rnd.IntN(10) {
					r = l.Take(t.Context(), now, key, terms, 0)
				}
				if r.RetryAfter > longest {
					t.Fatalf("seed %d: %+v under %+v, whose longest interval is %v", seed, r, g, longest)
				}
				now = now.Add(time.Duration(rnd.Int64N(int64(time.Hour))))
			}
		}
	})
}

// The clock of a machine can be set back. That costs a crawler MaxWait at
// most, and gives it nothing.
func TestClockSetBack(t *testing.T) {
	m := NewMemory(100)
	terms, key := Compile(Grant{Delay: delay(10 * time.Second)}, Options{}), NewKey("a")
	take := func(at time.Time) Result { return m.Take(t.Context(), at, key, terms, 0) }
	if r := take(noon); !r.OK {
		t.Fatal(r)
	}
	back := noon.Add(-3 * time.Hour)
	if r := take(back); r.OK || r.RetryAfter != 4500*time.Millisecond {
		t.Fatalf("after the clock went back: %+v", r)
	}
	if r := take(back.Add(time.Second)); r.OK || r.RetryAfter != 3500*time.Millisecond {
		t.Fatalf("a refusal extends the refusal: %+v", r)
	}
	if r := take(back.Add(4500 * time.Millisecond)); !r.OK {
		t.Fatalf("shut out: %+v", r)
	}
}

// With a willingness to wait, requests get places one interval apart.
func TestWaitForPlace(t *testing.T) {
	const s = time.Second
	terms := Compile(Grant{Delay: delay(10 * s)}, Options{})
	forEachEngine(t, func(t *testing.T, l Limiter) {
		key := NewKey(t.Name())
		for i, want := range []Result{
			{OK: true},
			{OK: true, Delay: 4500 * time.Millisecond, Reason: CrawlDelay, Line: 2},
			{OK: true, Delay: 13500 * time.Millisecond, Reason: CrawlDelay, Line: 2},
			{OK: true, Delay: 22500 * time.Millisecond, Reason: CrawlDelay, Line: 2},
			{RetryAfter: 31500 * time.Millisecond, Reason: CrawlDelay, Line: 2},
		} {
			if r := l.Take(t.Context(), noon, key, terms, 30*s); r != want {
				t.Errorf("request %d: %+v, want %+v", i, r, want)
			}
		}
		if r := l.Take(t.Context(), noon.Add(s), key, terms, 0); r.OK || r.RetryAfter != 30500*time.Millisecond {
			t.Errorf("without waiting: %+v", r)
		}
	})
}

// Places taken by waiting never come closer than the model lets requests
// through.
func TestWaitAgreesWithModel(t *testing.T) {
	forEachEngine(t, func(t *testing.T, l Limiter) {
		for seed := range rounds(l, 100) {
			rnd := rand.New(rand.NewPCG(seed, 5))
			g, o := randomGrant(rnd)
			terms, m, key := Compile(g, o), newModel(g, o), NewKey(t.Name(), fmt.Sprint(seed))
			now := noon
			var r Result
			for range 40 {
				r = l.Take(t.Context(), now, key, terms, time.Minute)
				if r.Delay > time.Minute || r.OK != m.take(now.Add(r.Delay)) {
					t.Fatalf("seed %d: %+v at %v\n%+v", seed, r, now, g)
				}
				now = now.Add(randomStep(rnd, r) % time.Hour)
				if r.OK {
					now = now.Add(r.Delay) // the model can't go back
				}
			}
		}
	})
}

// However many ask at once, a limit is a limit.
func TestConcurrentRequests(t *testing.T) {
	forEachEngine(t, func(t *testing.T, l Limiter) {
		terms := Compile(Grant{Rates: []robots.RequestRate{rate(25, time.Hour, allDayFrom, allDayTo)}}, Options{})
		key := NewKey(t.Name())
		var accepted atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 50 {
					if l.Take(t.Context(), noon, key, terms, 0).OK {
						accepted.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if n := accepted.Load(); n != 25 {
			t.Errorf("%d requests accepted at once, want 25", n)
		}
	})
}

func TestKeysAreApart(t *testing.T) {
	forEachEngine(t, func(t *testing.T, l Limiter) {
		terms := Compile(Grant{Delay: delay(time.Hour)}, Options{})
		for i := range 100 {
			if r := l.Take(t.Context(), noon, NewKey(t.Name(), fmt.Sprint(i)), terms, 0); !r.OK {
				t.Fatalf("key %d: %+v", i, r)
			}
		}
	})
}

// What limits nothing is not kept, and what is kept is bounded.
func TestCompile(t *testing.T) {
	many := Grant{}
	for i := range 20_000 {
		w := robots.Window{From: i % 1440, To: (i*7 + 11) % 1440}
		many.Rates = append(many.Rates, robots.RequestRate{Requests: 1 + i%5, Per: time.Duration(1+i) * time.Second, Window: w})
		many.Visits = append(many.Visits, robots.VisitTime{Window: w})
	}
	hour := robots.RequestRate{Requests: 1, Per: time.Hour, Window: robots.WholeDay}
	tests := []struct {
		name   string
		grant  Grant
		isNil  bool
		limits int
	}{
		{"nothing", Grant{}, true, 0},
		{"only what is malformed", Grant{Delay: delay(-1), Rates: []robots.RequestRate{{Per: time.Second}}}, true, 0},
		{"more than one request in a microsecond", Grant{Rates: []robots.RequestRate{{Requests: 1 << 40, Per: time.Second}}}, true, 0},
		{"more requests than fit any number", Grant{Rates: []robots.RequestRate{{Requests: 1<<63 - 1, Per: 1<<63 - 1}}}, true, 0},
		{"Visit-times that make up the whole day", Grant{Visits: []robots.VisitTime{visit(0, 1159), visit(1200, 2359)}}, true, 0},
		{"a rate that the delay implies", Grant{Delay: delay(time.Minute), Rates: []robots.RequestRate{rate(10, time.Minute, 100, 200)}}, false, 1},
		{"the same rate twice", Grant{Rates: []robots.RequestRate{hour, hour}}, false, 1},
		{"a rate within the window of a stricter one", Grant{Rates: []robots.RequestRate{rate(2, time.Hour, 100, 200), hour}}, false, 1},
		{"two rates, neither of which implies the other", Grant{Rates: []robots.RequestRate{rate(1, time.Second, 0, 0), rate(100, time.Hour, 0, 0)}}, false, 2},
		{"as many lines as a file can hold", many, false, MaxLimits},
		{"the longest delay there is", Grant{Delay: delay(1<<63 - 1)}, false, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			terms := Compile(test.grant, Options{})
			limits := 0
			if terms != nil {
				limits = terms.n
			}
			if (terms == nil) != test.isNil || limits != test.limits {
				t.Errorf("%+v: %d limits, want %d", terms, limits, test.limits)
			}
		})
	}
}

// Options out of all proportion neither overflow nor block for ever.
func TestHugeOptions(t *testing.T) {
	forEachEngine(t, func(t *testing.T, l Limiter) {
		for i, o := range []Options{{Burst: 1<<63 - 1}, {MaxDelay: 1<<63 - 1}, {MaxDelay: -1, Burst: -1}, {MaxDelay: 1<<63 - 1, Burst: 1<<63 - 1}, {MaxDelay: 1}} {
			terms := Compile(Grant{Delay: delay(1<<63 - 1), Rates: []robots.RequestRate{rate(1<<30, 1<<62, 0, 0)}, Visits: []robots.VisitTime{visit(0, 0)}}, o)
			key, now := NewKey(t.Name(), fmt.Sprint(i)), noon
			for range 100 {
				r := l.Take(t.Context(), now, key, terms, 0)
				if r.RetryAfter < 0 || r.RetryAfter > maxMaxDelay || r.OK == (r.RetryAfter > 0) {
					t.Fatalf("options %+v: %+v", o, r)
				}
				now = now.Add(r.RetryAfter)
			}
		}
	})
}
