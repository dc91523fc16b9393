package throttle

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// For all lines and times, a Result is consistent: an accepted request has no
// RetryAfter, a refused one has a RetryAfter and a line, and is accepted after
// RetryAfter.
func FuzzTake(f *testing.F) {
	f.Add(int64(time.Second), 1, int64(time.Minute), 60, 120, 3, 100, 200, int64(0), int64(1))
	f.Add(int64(-1), 0, int64(0), 1439, 0, 1<<62, 0, 0, int64(1<<62), int64(-1<<62))
	f.Fuzz(func(t *testing.T, delay int64, n int, per int64, from, to, burst, visitFrom, visitTo int, longest, at int64) {
		terms := Compile(Grant{
			Delay:  robots.CrawlDelay{Delay: time.Duration(delay), Line: 1},
			Rates:  []robots.RequestRate{{Requests: n, Per: time.Duration(per), Window: robots.Window{From: from, To: to}, Line: 2}},
			Visits: []robots.VisitTime{{Window: robots.Window{From: visitFrom, To: visitTo}, Line: 3}},

			MaxDelay: time.Duration(longest) % (48 * time.Hour), Burst: burst,
		})
		m, key, now := NewMemory(100), newKey("a"), time.UnixMicro(at%(1<<52))
		for range 5 {
			r := m.Take(t.Context(), now, []Use{{key, terms}})
			if r.OK != (r.RetryAfter == 0) || r.OK != (r.Reason == None) || r.OK != (r.Line == 0) || r.RetryAfter < 0 {
				t.Fatalf("%+v", r)
			}
			if back := m.Take(t.Context(), now.Add(r.RetryAfter), []Use{{key, terms}}); !r.OK && !back.OK {
				t.Fatalf("%+v, and then %+v", r, back)
			}
			now = now.Add(r.RetryAfter)
		}
	})
}
