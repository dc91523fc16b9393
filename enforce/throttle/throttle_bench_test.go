package throttle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// BenchmarkMemory measures requests with random keys in a full Memory, and
// reports the octets that the tables take per key.
func BenchmarkMemory(b *testing.B) {
	terms := Compile(Grant{Delay: delay(time.Second)})
	for _, keys := range []int{1_000, 100_000, 1_000_000} {
		for _, goroutines := range []int{1, 8} {
			b.Run(fmt.Sprintf("keys=%d/goroutines=%d", keys, goroutines), func(b *testing.B) {
				m, base := NewMemory(keys), newKey("a")
				for i := range keys {
					m.Take(context.Background(), noon, []Use{{base.Client(address(i)), terms}})
				}
				b.ReportAllocs()
				b.ResetTimer()
				var wg sync.WaitGroup
				for g := range goroutines {
					wg.Go(func() {
						rnd := rand.New(rand.NewPCG(uint64(g), 1))
						now := noon
						for range b.N / goroutines {
							now = now.Add(time.Microsecond)
							m.Take(context.Background(), now, []Use{{base.Client(address(rnd.IntN(keys))), terms}})
						}
					})
				}
				wg.Wait()
				b.StopTimer()
				s := stats(m)
				b.ReportMetric(float64(s.Bytes)/float64(s.Entries), "bytes/key")
				runtime.KeepAlive(m)
			})
		}
	}
}

// BenchmarkMemoryOneKey measures requests of one crawler at one site.
func BenchmarkMemoryOneKey(b *testing.B) {
	visits := []robots.VisitTime{visit(600, 1845)}
	rates := []robots.RequestRate{rate(30, time.Minute, 500, 1659), rate(60, time.Minute, 1700, 459), rate(1000, time.Hour, allDayFrom, allDayTo)}
	for _, bench := range []struct {
		name  string
		grant Grant
		step  time.Duration
	}{
		{"refused by its delay", Grant{Delay: delay(time.Hour)}, 0},
		{"accepted", Grant{Delay: delay(time.Second)}, time.Second},
		{"refused by delay and rates", Grant{Delay: delay(time.Hour), Rates: rates, Visits: visits}, 0},
		{"accepted by delay, rates and Visit-time", Grant{Delay: delay(time.Millisecond), Rates: rates[:2], Visits: visits[:1]}, 2 * time.Second},
		{"refused by Visit-time", Grant{Visits: []robots.VisitTime{visit(1500, 1600)}}, 0},
	} {
		b.Run(bench.name, func(b *testing.B) {
			m, key, now := NewMemory(1000), newKey("a"), noon
			terms := Compile(bench.grant)
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(bench.step)
				m.Take(context.Background(), now, []Use{{key, terms}})
			}
		})
	}
}

// BenchmarkMemoryUses measures requests that use several budgets.
func BenchmarkMemoryUses(b *testing.B) {
	for _, n := range []int{2, 4, 8} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m, now, terms := NewMemory(1000), noon, Compile(Grant{Delay: delay(time.Second)})
			var uses []Use
			for i := range n {
				uses = append(uses, Use{newKey(fmt.Sprint(i)), terms})
			}
			b.ReportAllocs()
			for b.Loop() {
				now = now.Add(time.Second)
				m.Take(context.Background(), now, uses)
			}
		})
	}
}
