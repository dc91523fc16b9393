package throttle

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// If a robots.txt changes, the used budget stays used, and a crawler does not
// wait longer than the new file says.
func TestTermsChange(t *testing.T) {
	const s = time.Second
	delayOf := func(d time.Duration) *Limits { return Compile(Grant{Delay: delay(d)}) }
	rateOf := func(n int, per time.Duration) *Limits {
		return Compile(Grant{Rates: []robots.RequestRate{rate(n, per, allDayFrom, allDayTo)}})
	}
	type take struct {
		after time.Duration
		terms *Limits
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
		{"a delay in place of a rate", []take{
			{0, rateOf(3, 30*s), true, 0}, {0, rateOf(3, 30*s), true, 0}, {0, delayOf(10 * s), false, 9 * s}, {9 * s, delayOf(10 * s), true, 0},
		}},
		{"a rate in place of a delay", []take{
			{0, delayOf(time.Hour), true, 0}, {0, rateOf(3, 30*s), true, 0}, {0, rateOf(3, 30*s), true, 0}, {0, rateOf(3, 30*s), false, 4500 * time.Millisecond},
		}},
		{"requests under a lower rate count under a higher one", []take{
			{0, rateOf(2, 60*s), true, 0}, {0, rateOf(2, 60*s), true, 0}, {0, rateOf(3, 60*s), true, 0}, {0, rateOf(3, 60*s), false, 9 * s},
		}},
		{"no delay, and then the old delay again", []take{
			{0, delayOf(100 * s), true, 0}, {s, nil, true, 0}, {2 * s, delayOf(100 * s), false, 43 * s},
		}},
		{"old and new file in turn", []take{
			{0, delayOf(10 * s), true, 0}, {s, delayOf(100 * s), false, 44 * s}, {2 * s, delayOf(10 * s), false, 2500 * time.Millisecond},
			{3 * s, delayOf(100 * s), false, 42 * s}, {4500 * time.Millisecond, delayOf(10 * s), true, 0}, {5 * s, delayOf(100 * s), false, 89500 * time.Millisecond},
		}},
	}
	l := NewMemory(1000)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			key := newKey(t.Name())
			for i, take := range test.takes {
				r := l.Take(t.Context(), noon.Add(take.after), []Use{{key, take.terms}})
				if r.OK != take.ok || r.RetryAfter != take.retry {
					t.Fatalf("request %d: %+v, want ok %t, retry after %v", i, r, take.ok, take.retry)
				}
			}
		})
	}
}
