package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/valkey-io/valkey-go"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// skewedNode is a server with a wrong clock.
type skewedNode struct {
	server
	mini *miniredis.Miniredis
	skew time.Duration
}

// nodes are the servers of a cluster. Each key is on one of them.
type nodes []skewedNode

func (n nodes) call(ctx context.Context, q scriptCall) (bool, error) {
	i := 0
	for _, c := range q.keys[0] {
		i += int(c)
	}
	return n[i%len(n)].call(ctx, q)
}

// set sets the true time.
func (n nodes) set(now time.Time) {
	for _, node := range n {
		node.mini.SetTime(now.Add(node.skew))
	}
}

// newNodes starts a miniredis for each skew.
func newNodes(t *testing.T, skews ...time.Duration) nodes {
	t.Helper()
	var all nodes
	for _, skew := range skews {
		mini := miniredis.RunT(t)
		client, err := valkey.NewClient(valkey.ClientOption{InitAddress: []string{mini.Addr()}, DisableCache: true, ForceSingleClient: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		all = append(all, skewedNode{&connection{client: client}, mini, skew})
	}
	return all
}

// newSkewedFleet returns a limiter that uses servers.
func newSkewedFleet(servers nodes) (*limiter, *recorder) {
	f, r := newLedgerFleet(nil, 1000)
	f.config.injected = false
	f.config.Deadline = time.Minute
	f.server = func() server { return servers }
	return f, r
}

// The clocks of processes and servers may differ by any time: all processes
// together enforce each delay, and never refuse a crawler that keeps its delay.
func TestFleetClocksDiffer(t *testing.T) {
	servers := newNodes(t, 0, 3*time.Hour, -72*time.Hour, 45*time.Second)
	skews := []time.Duration{0, -26 * time.Hour, 90 * time.Second}
	var fleets []*limiter
	var seen []*recorder
	for range skews {
		f, r := newSkewedFleet(servers)
		f.config.Deadline = 0
		f.server = func() server { return noDeadline{servers} }
		fleets, seen = append(fleets, f), append(seen, r)
	}
	terms := throttle.Compile(throttle.Grant{Delay: delay(10 * time.Second)})
	rnd := rand.New(rand.NewPCG(1, 7))
	for crawler := range 12 {
		key, memory := newKey(t.Name(), fmt.Sprint(crawler)), throttle.NewMemory(100)
		polite := crawler%2 == 0
		now := noon
		for i := range 100 {
			step := 10 * time.Second
			if !polite {
				step = time.Duration(rnd.Int64N(int64(6 * time.Second)))
			}
			now = now.Add(step)
			servers.set(now)
			who := rnd.IntN(len(fleets))
			want := memory.Take(t.Context(), now, []throttle.Use{{Key: key, Limits: terms}})
			got := fleets[who].Take(t.Context(), now.Add(skews[who]), []throttle.Use{{Key: key, Limits: terms}})
			if got != want || polite && !got.OK {
				t.Fatalf("crawler %d, request %d by process %d: %+v, want %+v", crawler, i, who, got, want)
			}
		}
	}
	for i, r := range seen {
		if n := r.fallbacks.Load(); n > 0 {
			t.Errorf("process %d decided %d requests without the servers", i, n)
		}
	}
}

// noDeadline is a server that is called without a deadline.
type noDeadline struct{ server }

func (u noDeadline) call(ctx context.Context, q scriptCall) (bool, error) {
	return u.server.call(context.WithoutCancel(ctx), q)
}

// A process reports the state of a budget to a server that has lost it, and
// that has another clock now, with times of that server's clock.
func TestFleetReportsToAServerWithAnotherClock(t *testing.T) {
	servers := newNodes(t, 5*time.Hour)
	a, _ := newSkewedFleet(servers)
	b, _ := newSkewedFleet(servers)
	terms := throttle.Compile(throttle.Grant{Rates: []robots.RequestRate{rate(3, time.Hour, allDayFrom, allDayTo)}})
	key := newKey(t.Name())
	servers.set(noon)
	for range 2 {
		if r := a.Take(t.Context(), noon, []throttle.Use{{Key: key, Limits: terms}}); !r.OK {
			t.Fatal(r)
		}
	}
	servers[0].mini.FlushAll()
	servers[0].skew = -8 * time.Hour
	servers.set(noon)
	if r := a.Take(t.Context(), noon, []throttle.Use{{Key: key, Limits: terms}}); !r.OK {
		t.Errorf("third request of three: %+v", r)
	}
	if r := b.Take(t.Context(), noon, []throttle.Use{{Key: key, Limits: terms}}); r.OK {
		t.Errorf("fourth request of three, by another process: %+v", r)
	}
}

// The errors of converted times do not add up: a crawler with the highest
// accepted rate is not refused, even if the time of a round trip varies.
func TestErrorsOfConvertedTimesDoNotAddUp(t *testing.T) {
	servers := newNodes(t, time.Hour)
	f, _ := newSkewedFleet(servers)
	f.config.Deadline = 25 * time.Millisecond
	f.server = func() server { return noDeadline{servers} }
	terms := throttle.Compile(throttle.Grant{Delay: delay(2 * time.Second)})
	key, rnd := newKey(t.Name()), rand.New(rand.NewPCG(1, 8))
	for i := range 500 {
		now := noon.Add(time.Duration(i) * 1800 * time.Millisecond)
		servers.set(now.Add(time.Duration(rnd.Int64N(int64(25 * time.Millisecond)))))
		if r := f.Take(t.Context(), now, []throttle.Use{{Key: key, Limits: terms}}); !r.OK {
			t.Fatalf("request %d: %+v", i, r)
		}
	}
}

// Windows use the clock of the process.
func TestFleetWindowsUseTheClockOfTheProcess(t *testing.T) {
	servers := newNodes(t, 6*time.Hour)
	f, _ := newSkewedFleet(servers)
	terms := throttle.Compile(throttle.Grant{Rates: []robots.RequestRate{rate(1, time.Hour, 1200, 1259)}})
	key := newKey(t.Name())
	for _, step := range []struct {
		after time.Duration
		ok    bool
	}{{0, true}, {time.Minute, false}, {time.Hour, true}, {time.Hour + time.Second, true}} {
		now := noon.Add(step.after)
		servers.set(now)
		if r := f.Take(t.Context(), now, []throttle.Use{{Key: key, Limits: terms}}); r.OK != step.ok {
			t.Errorf("after %v: %+v", step.after, r)
		}
	}
}
