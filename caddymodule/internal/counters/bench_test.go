package counters

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// BenchmarkCount measures the cost of counting for a request of a crawler and of a
// person, and the cost of Fold.
func BenchmarkCount(b *testing.B) {
	clock := newTestClock()
	site := New(clock.now).Site("example.com")
	for _, bb := range []struct {
		name string
		d    *judge.Decision
	}{
		{"crawler_passed", decision(gptbot, judge.Unbound)},
		{"crawler_by_rule", decision(gptbot, judge.Disallowed)},
		{"unknown_crawler", decision(goodbot, judge.Unbound)},
		{"throttled", decision(gptbot, judge.CrawlDelay)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			r := clock.request()
			b.ReportAllocs()
			for b.Loop() {
				site.Count(bb.d, r)
			}
		})
	}
	b.Run("person", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			site.CountPerson(1)
		}
	})
	b.Run("person_parallel", func(b *testing.B) {
		var callers atomic.Uint32
		b.RunParallel(func(pb *testing.PB) {
			caller := callers.Add(1)
			for pb.Next() {
				site.CountPerson(caller)
			}
		})
	})
	b.Run("fold_full", func(b *testing.B) {
		c := filled(clock)
		b.ReportAllocs()
		for b.Loop() {
			clock.add(time.Minute)
			c.Fold()
		}
	})
}

// filled returns Counters that have three quarters of the maximum number of rows at sites of the
// configuration.
func filled(clock *testClock) *Counters {
	c := New(clock.now)
	for i := 0; c.named.n.Load()+c.invented.n.Load() < maxNamed*3/4; i++ {
		site := c.Site(fmt.Sprintf("s%d.example", i))
		for row := range crawler.Builtin().All() {
			site.Count(decision(crawler.Agent{Class: row.Class, Crawler: row, Token: row.Name}, judge.Allowed), clock.request())
		}
	}
	return c
}
