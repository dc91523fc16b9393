package throttle

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// noon is the start of most tests.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func clock(hhmmss string) time.Time {
	at, err := time.Parse("15:04:05", hhmmss)
	if err != nil {
		panic(err)
	}
	return time.Date(2026, 3, 14, at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
}

func delay(d time.Duration) robots.CrawlDelay { return robots.CrawlDelay{Delay: d, Line: 2} }

func rate(n int, per time.Duration, from, to int) robots.RequestRate {
	return robots.RequestRate{Requests: n, Per: per, Window: window(from, to), Line: 3}
}

func visit(from, to int) robots.VisitTime {
	return robots.VisitTime{Window: window(from, to), Line: 4}
}

// window returns a window from times in the notation of robots.txt, hhmm.
func window(from, to int) robots.Window {
	return robots.Window{From: from/100*60 + from%100, To: to/100*60 + to%100}
}

const allDayFrom, allDayTo = 0, 2359

// step is one request and its result.
type step struct {
	after time.Duration // since the start
	ok    bool
	retry time.Duration
	why   Reason
}

func TestTake(t *testing.T) {
	const s, m, h = time.Second, time.Minute, time.Hour
	tests := []struct {
		name  string
		start time.Time
		grant Grant
		steps []step
	}{
		{"second request without delay", noon, Grant{Delay: delay(10 * s)}, []step{
			{0, true, 0, None}, {0, false, 4500 * time.Millisecond, CrawlDelay},
		}},
		{"half an interval early, tolerated once", noon, Grant{Delay: delay(10 * s)}, []step{
			{0, true, 0, None}, {5 * s, true, 0, None}, {10 * s, false, 3500 * time.Millisecond, CrawlDelay},
			{13500 * time.Millisecond, true, 0, None},
		}},
		{"a tenth early, always tolerated", noon, Grant{Delay: delay(10 * s)}, []step{
			{0, true, 0, None}, {9 * s, true, 0, None}, {18 * s, true, 0, None}, {27 * s, true, 0, None}, {36 * s, true, 0, None},
		}},
		{"delay of a fraction of a second", noon, Grant{Delay: delay(250 * time.Millisecond)}, []step{
			{0, true, 0, None}, {100 * time.Millisecond, false, 12500 * time.Microsecond, CrawlDelay}, {250 * time.Millisecond, true, 0, None},
		}},
		{"delay longer than MaxDelay", noon, Grant{Delay: delay(100 * 365 * 24 * h), MaxDelay: h}, []step{
			{0, true, 0, None}, {m, false, 26 * m, CrawlDelay}, {h, true, 0, None},
		}},
		{"delay longer than the default of MaxDelay", noon, Grant{Delay: delay(365 * 24 * h)}, []step{
			{0, true, 0, None}, {h, false, 9*h + 48*m, CrawlDelay}, {24 * h, true, 0, None},
		}},
		{"burst of 3", noon, Grant{Delay: delay(10 * s), Burst: 3}, []step{
			{0, true, 0, None}, {0, true, 0, None}, {0, true, 0, None}, {0, false, 4500 * time.Millisecond, CrawlDelay},
		}},
		{"rate of 3 requests", noon, Grant{Rates: []robots.RequestRate{rate(3, 30*s, allDayFrom, allDayTo)}}, []step{
			{0, true, 0, None}, {0, true, 0, None}, {0, true, 0, None}, {0, false, 4500 * time.Millisecond, RequestRate},
			{30 * s, true, 0, None}, {30 * s, true, 0, None}, {30 * s, true, 0, None},
		}},
		// The two examples in docs/rules.md.
		{"delay of 4 seconds", noon, Grant{Delay: delay(4 * s)}, []step{
			{0, true, 0, None}, {0, false, 1800 * time.Millisecond, CrawlDelay}, {1800 * time.Millisecond, true, 0, None},
			{1800 * time.Millisecond, false, 3600 * time.Millisecond, CrawlDelay}, {5400 * time.Millisecond, true, 0, None},
		}},
		{"rate of 2 requests a minute", noon, Grant{Rates: []robots.RequestRate{rate(2, m, allDayFrom, allDayTo)}}, []step{
			{0, true, 0, None}, {0, true, 0, None}, {0, false, 13500 * time.Millisecond, RequestRate}, {13500 * time.Millisecond, true, 0, None},
			{14 * s, false, 26500 * time.Millisecond, RequestRate}, {40500 * time.Millisecond, true, 0, None}, {67500 * time.Millisecond, true, 0, None},
		}},
		{"refused requests use no budget", noon, Grant{Delay: delay(10 * s)}, []step{
			{0, true, 0, None}, {1 * s, false, 3500 * time.Millisecond, CrawlDelay}, {2 * s, false, 2500 * time.Millisecond, CrawlDelay},
			{4 * s, false, 500 * time.Millisecond, CrawlDelay}, {4500 * time.Millisecond, true, 0, None},
		}},
		{"rate with a window", clock("09:59:00"), Grant{Rates: []robots.RequestRate{rate(1, h, 1000, 1159)}}, []step{
			{0, true, 0, None}, {1 * s, true, 0, None}, {60 * s, true, 0, None}, {61 * s, false, 27*m - 1*s, RequestRate},
			{2*h + 1*m, true, 0, None}, {2*h + 1*m, true, 0, None},
		}},
		{"window of a rate ends before its interval", clock("11:58:00"), Grant{Rates: []robots.RequestRate{rate(1, h, 1000, 1159)}}, []step{
			{0, true, 0, None}, {1 * s, false, 119 * s, RequestRate}, {120 * s, true, 0, None},
		}},
		{"window of a rate ends before a delay does", clock("11:59:30"), Grant{Delay: delay(10 * m), Rates: []robots.RequestRate{rate(1, h, 1000, 1159)}}, []step{
			{0, true, 0, None}, {s, false, 269 * s, CrawlDelay}, {270 * s, true, 0, None},
		}},
		{"two rates with windows", clock("04:59:30"), Grant{Rates: []robots.RequestRate{rate(1, m, 1700, 459), rate(1, 10*s, 500, 1659)}}, []step{
			{0, true, 0, None}, {10 * s, false, 17 * s, RequestRate}, {30 * s, true, 0, None}, {31 * s, false, 3500 * time.Millisecond, RequestRate},
			{40 * s, true, 0, None},
		}},
		{"outside Visit-time", clock("03:00:00"), Grant{Visits: []robots.VisitTime{visit(600, 845)}}, []step{
			{0, false, 3 * h, VisitTime}, {3 * h, true, 0, None}, {3 * h, true, 0, None}, {5*h + 45*m + 59*s, true, 0, None},
			{5*h + 46*m, false, 21*h + 14*m, VisitTime},
		}},
		{"Visit-time over midnight", clock("22:59:59"), Grant{Visits: []robots.VisitTime{visit(2300, 100)}}, []step{
			{0, false, s, VisitTime}, {s, true, 0, None}, {2 * h, true, 0, None}, {2*h + 1*m, true, 0, None}, {2*h + 1*m + s, false, 22*h - m, VisitTime},
		}},
		{"several Visit-times", clock("12:00:00"), Grant{Visits: []robots.VisitTime{visit(100, 159), visit(1300, 1359)}}, []step{
			{0, false, h, VisitTime}, {h, true, 0, None}, {2 * h, false, 11 * h, VisitTime}, {13 * h, true, 0, None},
		}},
		{"delay that ends after Visit-time", clock("08:45:30"), Grant{Delay: delay(2 * m), Visits: []robots.VisitTime{visit(600, 845)}}, []step{
			{0, true, 0, None}, {s, false, 21*h + 14*m + 29*s, CrawlDelay}, {30 * s, false, 21*h + 14*m, VisitTime}, {21*h + 14*m + 30*s, true, 0, None},
		}},
		{"malformed lines", noon, Grant{Delay: delay(-s), Rates: []robots.RequestRate{rate(0, s, 0, 0), rate(1, 0, 0, 0), {Requests: 1, Per: h, Window: robots.Window{From: -1, To: 5000}}}}, []step{
			{0, true, 0, None}, {0, true, 0, None},
		}},
	}
	l := NewMemory(1000)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			terms := Compile(test.grant)
			key := newKey(t.Name())
			for _, step := range test.steps {
				r := l.Take(t.Context(), test.start.Add(step.after), []Use{{key, terms}})
				if r.OK != step.ok || r.RetryAfter != step.retry || r.Reason != step.why {
					t.Fatalf("after %v: %+v, want ok %t, retry after %v, reason %q", step.after, r, step.ok, step.retry, step.why)
				}
			}
		})
	}
}

// randomGrant returns lines with intervals of whole microseconds, so that
// limiters and model can agree exactly.
func randomGrant(rnd *rand.Rand) Grant {
	var g Grant
	minuteOf := func() int {
		if rnd.IntN(3) == 0 {
			return []int{0, 1439, 719, 720}[rnd.IntN(4)]
		}
		return rnd.IntN(minutesPerDay)
	}
	windowOf := func() robots.Window {
		if rnd.IntN(3) == 0 {
			return robots.WholeDay
		}
		return robots.Window{From: minuteOf(), To: minuteOf()}
	}
	delays := []time.Duration{20 * time.Millisecond, time.Second, 2500 * time.Millisecond, time.Minute, time.Hour, 20 * time.Hour, 100 * time.Hour}
	if rnd.IntN(3) > 0 {
		g.Delay = delay(delays[rnd.IntN(len(delays))])
	}
	for range rnd.IntN(5) {
		per := []time.Duration{time.Second, 10 * time.Second, time.Minute, time.Hour, 12 * time.Hour}[rnd.IntN(5)]
		n := []int{1, 2, 3, 4, 5, 6, 10, 12, 20, 30, 60}[rnd.IntN(11)]
		g.Rates = append(g.Rates, robots.RequestRate{Requests: n, Per: per, Window: windowOf(), Line: 10})
	}
	for range max(0, rnd.IntN(5)-1) {
		g.Visits = append(g.Visits, robots.VisitTime{Window: windowOf(), Line: 20})
	}
	g.Burst = 1 + rnd.IntN(3)
	if rnd.IntN(4) == 0 {
		g.MaxDelay = 10 * time.Hour
	}
	return g
}

// randomStep returns a time to the next request: none, less than RetryAfter,
// RetryAfter, or more.
func randomStep(rnd *rand.Rand, last Result) time.Duration {
	switch rnd.IntN(6) {
	case 0:
		return 0
	case 1:
		return last.RetryAfter
	case 2:
		return max(0, last.RetryAfter-time.Microsecond)
	case 3:
		return time.Duration(rnd.Int64N(int64(2*last.RetryAfter+time.Second))) / time.Microsecond * time.Microsecond
	case 4:
		return time.Duration(rnd.Int64N(int64(time.Minute))) / time.Microsecond * time.Microsecond
	}
	return time.Duration(rnd.Int64N(1<<rnd.IntN(40)+1)) * time.Microsecond % (30 * time.Hour)
}

// A Limiter decides like the model: all lines that apply must accept a request,
// and a refused request uses no budget. A request is accepted after RetryAfter,
// and not before.
func TestTakeAgreesWithModel(t *testing.T) {
	l := NewMemory(1000)
	for seed := range 400 {
		rnd := rand.New(rand.NewPCG(uint64(seed), 1))
		g := randomGrant(rnd)
		terms, m, key := Compile(g), newModel(g), newKey(t.Name(), fmt.Sprint(seed))
		now := noon.Add(time.Duration(rnd.Int64N(int64(24*time.Hour))) / 1000 * 1000)
		var r Result
		for i := range 60 {
			now = now.Add(randomStep(rnd, r))
			r = l.Take(t.Context(), now, []Use{{key, terms}})
			if want := m.take(now); r.OK != want {
				t.Fatalf("seed %d, request %d at %v: %+v, the model returns %t\n%+v", seed, i, now, r, want, g)
			}
			if r.OK {
				if r != (Result{OK: true}) {
					t.Fatalf("seed %d: accepted with %+v", seed, r)
				}
				continue
			}
			if r.RetryAfter <= 0 || !m.accepts(now.Add(r.RetryAfter)) {
				t.Fatalf("seed %d: refused after the RetryAfter of %+v at %v\n%+v", seed, r, now, g)
			}
			for range 20 {
				early := now.Add(time.Duration(rnd.Int64N(int64(r.RetryAfter))) / 1000 * 1000)
				if m.accepts(early) {
					t.Fatalf("seed %d: %+v at %v, but the model accepts a request at %v\n%+v", seed, r, now, early, g)
				}
			}
		}
	}
}

// In any time W, at most 1 + (W + tolerance) / interval requests are accepted
// under a Crawl-delay, and N - 1 more under a Request-rate.
func TestAcceptedRequestsNeverExceedGrant(t *testing.T) {
	l := NewMemory(1000)
	for seed := range 60 {
		rnd := rand.New(rand.NewPCG(uint64(seed), 2))
		n := 1 + rnd.IntN(20)
		per := time.Duration(1+rnd.IntN(600)) * time.Second
		g := Grant{Rates: []robots.RequestRate{rate(n, per, allDayFrom, allDayTo)}}
		if n == 1 {
			g = Grant{Delay: delay(per)}
		}
		terms, key := Compile(g), newKey(t.Name(), fmt.Sprint(seed))
		interval := per * 9 / 10 / time.Duration(n)
		var accepted []time.Time
		for now := noon; len(accepted) < 100; now = now.Add(time.Duration(rnd.Int64N(int64(interval)))) {
			if l.Take(t.Context(), now, []Use{{key, terms}}).OK {
				accepted = append(accepted, now)
			}
		}
		for i := range accepted {
			for j := i; j < len(accepted); j++ {
				w := accepted[j].Sub(accepted[i]) + 2*time.Microsecond*time.Duration(len(accepted))
				if most := 1 + int((w+interval/2)/interval) + n - 1; j-i+1 > most {
					t.Fatalf("seed %d: %d requests in %v of %d/%v, want at most %d", seed, j-i+1, w, n, per, most)
				}
			}
		}
	}
}
