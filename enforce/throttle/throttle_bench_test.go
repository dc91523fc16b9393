package throttle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
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
