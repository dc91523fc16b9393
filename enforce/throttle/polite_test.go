package throttle

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// A crawler that keeps the limits of the file is never refused.
func TestCrawlerThatKeepsTheLimitsIsNeverRefused(t *testing.T) {
	perHour := func(rnd *rand.Rand, n int, per time.Duration, count int) (at []time.Duration) {
		// No more than n in any per: each request is at least per after the
		// one n before it.
		for i := range count {
			var next time.Duration
			if i > 0 {
				next = at[i-1]
				if rnd.IntN(3) == 0 {
					next += time.Duration(rnd.Int64N(int64(per)))
				}
			}
			if i >= n {
				next = max(next, at[i-n]+per)
			}
			at = append(at, next)
		}
		return at
	}
	tests := []struct {
		name     string
		schedule func(rnd *rand.Rand, interval time.Duration) (Grant, []time.Duration)
	}{
		{"at least the delay between requests", func(rnd *rand.Rand, d time.Duration) (Grant, []time.Duration) {
			at := []time.Duration{0}
			for i := range 100 {
				at = append(at, at[i]+d+time.Duration(rnd.ExpFloat64()*float64(d)*float64(rnd.IntN(2))))
			}
			return Grant{Delay: delay(d)}, at
		}},
		{"a tenth faster than the delay", func(rnd *rand.Rand, d time.Duration) (Grant, []time.Duration) {
			var at []time.Duration
			for i := range 100 {
				at = append(at, time.Duration(i)*d*9/10)
			}
			return Grant{Delay: delay(d)}, at
		}},
		{"on time, but delivered up to a quarter of the delay too early or too late", func(rnd *rand.Rand, d time.Duration) (Grant, []time.Duration) {
			var at []time.Duration
			for i := range 100 {
				at = append(at, time.Duration(i)*d+time.Duration((rnd.Float64()-0.5)*0.45*float64(d)))
			}
			return Grant{Delay: delay(d)}, at
		}},
		{"burst of 3, half the delay too early or too late", func(rnd *rand.Rand, d time.Duration) (Grant, []time.Duration) {
			at := []time.Duration{0}
			for i := range 100 {
				at = append(at, at[i]+d/2+time.Duration(i%2)*d)
			}
			return Grant{Delay: delay(d), Burst: 3}, at
		}},
		{"at most n requests in any time of a rate", func(rnd *rand.Rand, d time.Duration) (Grant, []time.Duration) {
			n := 1 + rnd.IntN(30)
			per := d * time.Duration(n)
			return Grant{Rates: []robots.RequestRate{rate(n, per, allDayFrom, allDayTo)}}, perHour(rnd, n, per, 200)
		}},
		{"two rates", func(rnd *rand.Rand, d time.Duration) (Grant, []time.Duration) {
			g := Grant{Rates: []robots.RequestRate{rate(3, 3*d, allDayFrom, allDayTo), rate(20, 40*d, allDayFrom, allDayTo)}}
			a, b := perHour(rnd, 3, 3*d, 100), []time.Duration(nil)
			for i, at := range a { // 20 in any 40 d as well
				if i > 0 {
					at = max(at, b[i-1]+at-a[i-1])
				}
				if i >= 3 {
					at = max(at, b[i-3]+3*d)
				}
				if i >= 20 {
					at = max(at, b[i-20]+40*d)
				}
				b = append(b, at)
			}
			return g, b
		}},
	}
	l := NewMemory(1000)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(20) {
				rnd := rand.New(rand.NewPCG(uint64(seed), 3))
				d := time.Duration(1+rnd.Int64N(int64(time.Minute))) + time.Millisecond
				g, schedule := test.schedule(rnd, d)
				terms, key := Compile(g), newKey(t.Name(), fmt.Sprint(seed))
				for i, at := range schedule {
					if r := l.Take(t.Context(), noon.Add(at), []Use{{key, terms}}); !r.OK {
						t.Fatalf("seed %d: request %d at %v of %+v: %+v", seed, i, at, g, r)
					}
				}
			}
		})
	}
}
