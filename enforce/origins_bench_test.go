package enforce

import (
	"context"
	"fmt"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// BenchmarkOrigins measures a decision with many origins that each have a
// different file.
func BenchmarkOrigins(b *testing.B) {
	for _, n := range []int{1, 250} {
		b.Run(fmt.Sprintf("origins=%d", n), func(b *testing.B) {
			e, origins := heldOrigins(b, n)
			before := fake.Heap()
			requests := make([]judge.Request, n)
			for i, o := range origins {
				requests[i] = judge.Request{Target: "/articles/2026/some-article.html", UserAgents: []string{fake.Googlebot}, Origin: o, Time: fake.NewClock().Now()}
			}
			var d judge.Decision
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e.Decide(context.Background(), &requests[i%n], &d)
			}
			b.ReportMetric(float64(before)/float64(n), "heap-octets/origin")
		})
	}
}

func heldOrigins(b *testing.B, n int) (*Engine, []judge.Origin) {
	b.Helper()
	source := new(fake.Source)
	e, err := NewEngine(judge.Settings{}, source, throttle.NewMemory(1000), nil, origins.Config{Now: fake.NewClock().Now})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close(); e.origins.Settle() })
	var origins []judge.Origin
	for i := range n {
		source.Set(200, fmt.Sprintf("%sUser-agent: OwnBot%d\nDisallow: /%d/\n", fake.Site, i, i))
		o := judge.NewOrigin("https", fmt.Sprintf("site%d.test", i), 443)
		r := &judge.Request{Origin: o, Time: fake.NewClock().Now()}
		e.origins.Peek(r)
		e.origins.Wait(context.Background(), r)
		e.origins.Settle()
		origins = append(origins, o)
	}
	return e, origins
}
