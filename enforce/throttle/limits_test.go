package throttle

import (
	"fmt"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// While the server is unavailable, all processes together accept as many
// requests as the file allows, and each of them so many at once.
func TestSlowerTerms(t *testing.T) {
	const instances = 5
	for _, g := range []Grant{
		{Delay: delay(10 * time.Second)},
		{Rates: []robots.RequestRate{rate(20, time.Minute, allDayFrom, allDayTo)}},
	} {
		whole := Compile(g)
		part := whole.Slower(instances)
		if part != whole.Slower(instances) || whole.Slower(1) != whole {
			t.Error("the terms were compiled again")
		}
		accepted := 0
		for i := range instances {
			m, key := NewMemory(100), newKey(fmt.Sprint(i))
			for now := noon; now.Before(noon.Add(time.Hour)); now = now.Add(100 * time.Millisecond) {
				if m.Take(t.Context(), now, []Use{{key, part}}).OK {
					accepted++
				}
			}
		}
		l := whole.limits[0]
		hour := time.Hour.Microseconds()
		if granted := int(hour/l.Interval) + instances*int((l.Tolerance+l.Interval)/l.Interval) + 2*instances; accepted > granted || accepted < int(hour/l.Interval) {
			t.Errorf("%+v: %d processes accepted %d in an hour, want %d at most", g, instances, accepted, granted)
		}
	}
}

// Lines without effect are dropped, and the number of limits is bounded.
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
		{"only malformed lines", Grant{Delay: delay(-1), Rates: []robots.RequestRate{{Per: time.Second}}}, true, 0},
		{"more than one request per microsecond", Grant{Rates: []robots.RequestRate{{Requests: 1 << 40, Per: time.Second}}}, true, 0},
		{"largest numbers", Grant{Rates: []robots.RequestRate{{Requests: 1<<63 - 1, Per: 1<<63 - 1}}}, true, 0},
		{"Visit-times that cover the whole day", Grant{Visits: []robots.VisitTime{visit(0, 1159), visit(1200, 2359)}}, true, 0},
		{"a rate that the delay implies", Grant{Delay: delay(time.Minute), Rates: []robots.RequestRate{rate(10, time.Minute, 100, 200)}}, false, 1},
		{"the same rate twice", Grant{Rates: []robots.RequestRate{hour, hour}}, false, 1},
		{"a rate within the window of a stricter one", Grant{Rates: []robots.RequestRate{rate(2, time.Hour, 100, 200), hour}}, false, 1},
		{"two rates, neither of which implies the other", Grant{Rates: []robots.RequestRate{rate(1, time.Second, 0, 0), rate(100, time.Hour, 0, 0)}}, false, 2},
		{"20,000 lines", many, false, MaxLimits},
		{"largest delay", Grant{Delay: delay(1<<63 - 1)}, false, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			terms := Compile(test.grant)
			limits := 0
			if terms != nil {
				limits = len(terms.limits)
			}
			if (terms == nil) != test.isNil || limits != test.limits {
				t.Errorf("%+v: %d limits, want %d", terms, limits, test.limits)
			}
		})
	}
}

// Extreme options neither overflow nor refuse a crawler forever.
func TestExtremeOptions(t *testing.T) {
	l := NewMemory(1000)
	for i, o := range []Grant{{Burst: 1<<63 - 1}, {MaxDelay: 1<<63 - 1}, {MaxDelay: -1, Burst: -1}, {MaxDelay: 1<<63 - 1, Burst: 1<<63 - 1}, {MaxDelay: 1}} {
		o.Delay, o.Rates, o.Visits = delay(1<<63-1), []robots.RequestRate{rate(1<<30, 1<<62, 0, 0)}, []robots.VisitTime{visit(0, 0)}
		terms := Compile(o)
		key, now := newKey(t.Name(), fmt.Sprint(i)), noon
		for range 100 {
			r := l.Take(t.Context(), now, []Use{{key, terms}})
			if r.RetryAfter < 0 || r.RetryAfter > maxMaxDelay || r.OK == (r.RetryAfter > 0) {
				t.Fatalf("options %+v: %+v", o, r)
			}
			now = now.Add(r.RetryAfter)
		}
	}
}
