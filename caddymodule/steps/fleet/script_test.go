package fleet

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// On a cluster, budgets with one home are used together, and shared. If their homes
// differ, the process decides alone.
func testUsesOnACluster(t *testing.T, nodes []*testbed) {
	pool := throttle.Compile(throttle.Grant{Rates: []robots.RequestRate{rate(2, time.Hour, allDayFrom, allDayTo)}})
	for _, prefix := range []string{"uses:", "{uses}:"} {
		c := config{ClientOption: at(nodes[0].address), Deadline: time.Minute, Prefix: prefix}
		a, _ := newFleet(t, c)
		b, r := newFleet(t, c)
		for i := range 30 {
			home := newKey(fmt.Sprint(i))
			take := func(f *limiter, k throttle.Key) bool {
				return f.Take(t.Context(), time.Now(), []throttle.Use{{Key: k, Limits: hourly}, {Key: home, Limits: pool}}).OK
			}
			one, two := newKey("1", fmt.Sprint(i)).In(home), newKey("2", fmt.Sprint(i)).In(home)
			for j, step := range []struct {
				f  *limiter
				k  throttle.Key
				ok bool
			}{{a, one, true}, {b, one, false}, {b, two, true}, {a, newKey("3", fmt.Sprint(i)).In(home), false}, {b, newKey("3", fmt.Sprint(i)).In(home), false}} {
				if got := take(step.f, step.k); got != step.ok {
					t.Fatalf("prefix %s, home %d, request %d: %t", prefix, i, j, got)
				}
			}
			if err := a.Forget(t.Context(), time.Now(), home); err != nil {
				t.Fatal(err)
			}
		}
		if n := r.fallbacks.Load(); n != 0 {
			t.Errorf("%d decided without the servers", n)
		}
		if r := b.Take(t.Context(), time.Now(), []throttle.Use{{Key: newKey("x"), Limits: hourly}, {Key: newKey("y"), Limits: hourly}}); !r.OK {
			t.Errorf("different homes: %+v", r)
		}
		if n := r.fallbacks.Load(); n != 1 || stateOf(b) != stateUp {
			t.Errorf("%d decided without the servers, %v", n, stateOf(b))
		}
	}
}

// Whatever the server replies, the states are those of the limits, and no time is
// so far ahead that a search for a free instant takes long.
func FuzzReply(f *testing.F) {
	f.Add(int64(1), noon.UnixMicro(), 1.0, noon.UnixMicro(), noon.UnixMicro(), 2.5, noon.UnixMicro(), 8)
	f.Add(int64(0), int64(-1<<63), 1e300, int64(1<<63-1), int64(0), math.NaN(), int64(1<<62), 8)
	two := throttle.Compile(throttle.Grant{Delay: delay(time.Minute), Rates: []robots.RequestRate{rate(5, time.Hour, 100, 200)}})
	f.Fuzz(func(t *testing.T, ok, last int64, used float64, tat, more int64, second float64, far int64, size int) {
		reply := []float64{
			float64(ok), float64(last), used, float64(tat), float64(more), float64(tat), second, float64(far),
		}[:min(max(0, size%9), 8)]
		q := scriptCall{now: noon.UnixMicro(), budgets: []budget{{Use: throttle.Use{Limits: two}}, {Use: throttle.Use{Limits: hourly}}}}
		accepted, err := q.parseReply(reply)
		if err != nil {
			if accepted || !errors.Is(err, errReply) {
				t.Fatalf("%t, %v", accepted, err)
			}
			return
		}
		if len(reply) != 8 || accepted != (ok == 1) {
			t.Fatalf("%d values, %t", len(reply), accepted)
		}
		m := throttle.NewMemory(16)
		for i := range q.budgets {
			b := &q.budgets[i]
			b.Key = newKey(fmt.Sprint(i))
			m.Update(noon, b.Use, b.State, false)
			if r := m.Peek(noon, b.Use); r.RetryAfter < 0 {
				t.Fatalf("%+v", r)
			}
		}
	})
}
