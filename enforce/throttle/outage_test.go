package throttle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// deadServer is a server whose calls all fail.
type deadServer struct{}

func (deadServer) call(context.Context, scriptCall) (scriptReply, error) {
	return scriptReply{}, context.DeadlineExceeded
}

// While the server fails in any way, and after it, all processes together accept
// at most 1.5 times what the file allows in any ten seconds, and at least half
// of it.
func TestFleetKeepsTheBudgetThroughOutages(t *testing.T) {
	const crawlers, every, step = 40, time.Second, 50 * time.Millisecond
	terms := Compile(Grant{Delay: delay(every)})
	for _, instances := range []int{2, 8, 16} {
		t.Run(fmt.Sprint(instances), func(t *testing.T) {
			ledger := newLedger()
			rnd := rand.New(rand.NewPCG(1, uint64(instances)))
			fleets, servers := make([]*Fleet, instances), make([]server, instances)
			for i := range fleets {
				f, _ := newLedgerFleet(nil, 10*crawlers)
				f.config.Instances = instances
				f.server = func(string) server { return servers[i] }
				fleets[i] = f
			}
			var accepted []time.Duration
			now := time.Duration(0)
			run := func(d time.Duration) {
				for end := now + d; now < end; now += step {
					for k := range crawlers {
						f := fleets[rnd.IntN(instances)]
						if f.Take(t.Context(), noon.Add(now), newKey(fmt.Sprint(k)), terms, 0).OK {
							accepted = append(accepted, now)
						}
					}
				}
			}
			// set makes the processes notice, one after the other within a
			// second, that the server is away, fails, or answers.
			set := func(s server) {
				for _, i := range rnd.Perm(instances) {
					if servers[i] = s; s == nil {
						fleets[i].link.since.Store(noon.Add(now).UnixMicro())
					}
					run(max(step, time.Second/time.Duration(instances)))
				}
			}
			phases := []struct {
				name string
				do   func()
				long time.Duration
			}{
				{"shared", func() { set(ledger) }, 20 * time.Second},
				{"away", func() { set(nil) }, 30 * time.Second},
				{"back without data", func() { clear(ledger.accounts); set(ledger) }, 20 * time.Second},
				{"data lost", func() { clear(ledger.accounts) }, 20 * time.Second},
				{"misses deadlines", func() { set(deadServer{}) }, 5 * time.Second},
				{"away again", func() { set(nil) }, 30 * time.Second},
				{"comes and goes", func() {
					for range 10 {
						set(ledger)
						set(nil)
					}
				}, 0},
				{"back", func() { set(ledger) }, 20 * time.Second},
			}
			for i, phase := range phases {
				from := now
				phase.do()
				run(phase.long)
				for ; from+10*time.Second <= now; from += step {
					first, _ := slices.BinarySearch(accepted, from)
					last, _ := slices.BinarySearch(accepted, from+10*time.Second)
					if n := last - first; n > 15*crawlers || n < 5*crawlers && i > 0 {
						t.Fatalf("%s: %d requests of %d crawlers accepted in the ten seconds from %v", phase.name, n, crawlers, from)
					}
				}
			}
		})
	}
}

// Alone, a process accepts the first request of a crawler after a random part of
// its interval, and then one per interval. After another outage it does so
// again, also if the crawler sent no request in the meantime.
func TestFirstRequestWhileTheServerIsAway(t *testing.T) {
	const interval = 36 * time.Second // 0.9 of the delay, for four processes
	f, _ := newLedgerFleet(nil, 100)
	f.config.Instances = 4
	f.server = func(string) server { return nil }
	terms, now := Compile(Grant{Delay: delay(10 * time.Second)}), noon
	waits := make(map[time.Duration]bool)
	for range 5 {
		f.link.since.Store(now.UnixMicro())
		for i := range 20 {
			key, at := newKey(fmt.Sprint(i)), now
			r := f.Take(t.Context(), at, key, terms, 0)
			if r.OK || r.RetryAfter > interval {
				t.Fatalf("first request: %+v", r)
			}
			waits[r.RetryAfter] = true
			for range 3 {
				at = at.Add(r.RetryAfter)
				if r = f.Take(t.Context(), at.Add(-time.Microsecond), key, terms, 0); r.OK {
					t.Fatal("accepted before Retry-After")
				}
				if r = f.Take(t.Context(), at, key, terms, 0); !r.OK {
					t.Fatalf("after Retry-After: %+v", r)
				}
				if r = f.Take(t.Context(), at, key, terms, 0); r.OK || r.RetryAfter != interval {
					t.Fatalf("next request: %+v, want retry after %v", r, interval)
				}
			}
		}
		now = now.Add(time.Hour)
	}
	if len(waits) < 90 {
		t.Errorf("%d different times for 100 first requests", len(waits))
	}
}

// What was used of a budget before the server went away is known when it is back,
// if no request was accepted in the meantime. If this process accepted one, the
// others may have done so too.
func TestBudgetAfterAnOutage(t *testing.T) {
	terms, key := Compile(Grant{Delay: delay(10 * time.Second), Burst: 4}), newKey("a")
	m := NewMemory(100)
	for range 3 {
		m.Take(t.Context(), noon, key, terms, 0)
	}
	before, _ := m.lookUp(noon.UnixMicro(), key, terms)
	if r := m.takeAlone(noon, key, terms, 4, 0, 0); r.OK {
		t.Fatal(r)
	}
	after, _ := m.lookUp(noon.UnixMicro(), key, terms)
	if d := after.tat[0] - before.tat[0]; d < -10 || d > 10 {
		t.Errorf("theoretical arrival time changes by %d µs", d)
	}
	at := noon.Add(time.Hour)
	r := m.takeAlone(at, key, terms, 4, at.UnixMicro(), time.Minute)
	if !r.OK {
		t.Fatal(r)
	}
	at = at.Add(r.Delay)
	if after, _ = m.lookUp(at.UnixMicro(), key, terms); after.tat[0]-at.UnixMicro() < 4*9*time.Second.Microseconds() {
		t.Errorf("only %d µs used by all processes", after.tat[0]-at.UnixMicro())
	}
}

// A reply that is too late for requests does not close the circuit.
func TestFleetSlowServer(t *testing.T) {
	r := &textRecorder{down: make(chan struct{})}
	f, err := NewFleet(FleetConfig{Addresses: []string{testServer(t, false).address}, Deadline: 1}, NewMemory(100), r)
	if err != nil {
		t.Fatal(err)
	}
	<-r.down
	f.Close()
	if text := r.texts[len(r.texts)-1]; !strings.HasPrefix(text, errDeadline.Error()) {
		t.Error(text)
	}
}

// If one node of a cluster fails, the budgets on the other nodes are still
// shared, whether the node is killed or hangs.
func TestFleetClusterNodeFails(t *testing.T) {
	nodes := newCluster(t)
	if nodes == nil {
		return
	}
	c := FleetConfig{Addresses: []string{nodes[0].address, nodes[1].address}, Instances: 4, Deadline: time.Minute, Prefix: "one:"}
	f, r := newFleet(t, c)
	if n := len(f.link.current.Load().nodes); n != 3 {
		t.Fatalf("%d nodes", n)
	}
	tries := 0
	// await sends requests for new keys until the state of the Fleet is s.
	await := func(s FleetState) {
		for stateOf(f) != s {
			f.Take(t.Context(), noon, newKey("new", fmt.Sprint(tries)), hourly, 0)
			tries++
		}
		r.await(t, s)
	}
	for _, o := range outages {
		o.down(nodes[2])
		f.config.Deadline = 10 * time.Millisecond
		await(FleetDown)
		f.config.Deadline = time.Minute
		if text := fmt.Sprint(r.cause.Load()); !strings.HasPrefix(text, "1 of 3 nodes: ") {
			t.Errorf("%s: %s", o.name, text)
		}
		before, accepted := r.fallbacks.Load(), 0
		for i := range 300 {
			if f.Take(t.Context(), noon, newKey(o.name, fmt.Sprint(i)), hourly, 0).OK {
				accepted++
			}
		}
		// The last node has a third of the slots. Without it, no first request
		// is accepted at once.
		if n := int(r.fallbacks.Load() - before); n < 60 || n > 140 || accepted != 300-n {
			t.Errorf("%s: of 300 keys, %d without their node; %d accepted", o.name, n, accepted)
		}
		o.up(t, nodes[2])
		await(FleetUp)
	}
}
