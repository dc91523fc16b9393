package throttle

import (
	"net"
	"strings"
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

// ParseFleetURL returns an error with a known text, or addresses with host and
// port. The parts of the URL are not percent-encoded, as is the value of a
// placeholder.
func FuzzParseFleetURL(f *testing.F) {
	for _, password := range []string{"hunter2", "pa#ss", "p%zz", "pa/ss", "12/3", "12?addr=b", "pa@ss", "[::1]", "a&db=x", ""} {
		for _, rest := range []string{"h:1/2", "h", "?skip_verify=1&addr=[::1]", "/s?db=1", "h?master_set=m&sentinel_password="} {
			f.Add("redis://u:", password, rest)
			f.Add("rediss://", password, rest)
			f.Add("valkey+unix://:", password, rest)
		}
	}
	texts := fleetURLErrors()
	f.Fuzz(func(t *testing.T, start, password, rest string) {
		for _, s := range []string{start + password + "@" + rest, start + rest + password} {
			c, err := ParseFleetURL(s)
			if err != nil {
				if !texts[err.Error()] {
					t.Fatalf("%q: %v is not one of the known texts", s, err)
				}
				continue
			}
			if len(c.Addresses) == 0 || c.Database < 0 {
				t.Fatalf("%q: %+v", s, c)
			}
			for _, address := range c.Addresses {
				if host, port, err := net.SplitHostPort(address); !strings.HasPrefix(address, "/") && (err != nil || host == "" || port == "") {
					t.Fatalf("%q: address %q", s, address)
				}
			}
		}
	})
}
