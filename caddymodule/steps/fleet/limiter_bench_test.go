package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// BenchmarkFleet measures one process of a fleet: requests that it refuses by
// the known state, and requests with a round trip to a server on the same
// machine.
func BenchmarkFleet(b *testing.B) {
	s, err := sharedServer()
	if err != nil {
		b.Fatal(err)
	}
	open := func(b *testing.B) (*limiter, *recorder) {
		r := newRecorder()
		f := newLimiter(config{ClientOption: at(s.address), Deadline: time.Minute, Prefix: fmt.Sprintf("bench:%x:", rand.Uint64())}, throttle.NewMemory(1_000_000), r)
		f.connect()
		b.Cleanup(func() { f.close() })
		for <-r.states != stateUp {
		}
		return f, r
	}
	b.Run("refused by the known state", func(b *testing.B) {
		f, _ := open(b)
		key := newKey("a")
		f.Take(context.Background(), time.Now(), []throttle.Use{{Key: key, Limits: hourly}})
		b.ReportAllocs()
		for b.Loop() {
			f.Take(context.Background(), time.Now(), []throttle.Use{{Key: key, Limits: hourly}})
		}
	})
	for _, goroutines := range []int{1, 64} {
		b.Run(fmt.Sprintf("calls the server/goroutines=%d", goroutines), func(b *testing.B) {
			f, _ := open(b)
			base := newKey("a")
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for g := range goroutines {
				wg.Go(func() {
					for i := range b.N / goroutines {
						f.Take(context.Background(), time.Now(), []throttle.Use{{Key: base.Client(address(g<<24 + i)), Limits: hourly}})
					}
				})
			}
			wg.Wait()
		})
	}
}
