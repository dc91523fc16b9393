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

func (deadServer) call(context.Context, scriptCall) (bool, error) {
	return false, context.DeadlineExceeded
}

// While the server fails in any way, and after it, all processes together accept
// at most 1.5 times what the file allows in any ten seconds, both for few crawlers
// with many requests and for many crawlers whose requests each process sees
// rarely. While the server answers, they accept at least half of it.
func TestFleetKeepsTheBudgetThroughOutages(t *testing.T) {
	for _, load := range []struct {
		crawlers     int
		delay, pause time.Duration // between the requests of one crawler
	}{{40, time.Second, 50 * time.Millisecond}, {400, 10 * time.Second, time.Second}} {
		for _, instances := range []int{2, 16} {
			t.Run(fmt.Sprintf("%d crawlers, %d processes", load.crawlers, instances), func(t *testing.T) {
				testOutages(t, instances, load.crawlers, load.delay, load.pause)
			})
		}
	}
}

func testOutages(t *testing.T, instances, crawlers int, every, pause time.Duration) {
	const step = 50 * time.Millisecond
	terms, ledger := Compile(Grant{Delay: delay(every)}), newLedger()
	rnd := rand.New(rand.NewPCG(1, uint64(instances)))
	fleets, servers := make([]*Fleet, instances), make([]server, instances)
	for i := range fleets {
		f, _ := newLedgerFleet(nil, 10*crawlers)
		f.config.Instances = instances
		f.server = func(string) server { return servers[i] }
		fleets[i] = f
	}
	var accepted []time.Duration
	now, next := time.Duration(0), make([]time.Duration, crawlers)
	for k := range next {
		next[k] = time.Duration(rnd.Int64N(int64(every)))
	}
	run := func(d time.Duration) {
		for end := now + d; now < end; now += step {
			for k := range next {
				if now < next[k] {
					continue
				}
				next[k] = now + pause/2 + time.Duration(rnd.Int64N(int64(pause)))
				f := fleets[rnd.IntN(instances)]
				if f.Take(t.Context(), noon.Add(now), []Use{{newKey(fmt.Sprint(k)), terms}}).OK {
					accepted = append(accepted, now)
				}
			}
		}
	}
	// set makes the processes notice, one after the other within a second, that
	// the server is away, fails, or answers.
	set := func(s server) {
		for _, i := range rnd.Perm(instances) {
			if servers[i] = s; s == nil {
				fleets[i].link.since.Store(noon.Add(now).UnixMicro())
			}
			run(max(step, time.Second/time.Duration(instances)))
		}
	}
	allowed := crawlers * int(10*time.Second/every)
	for i, phase := range []struct {
		name  string
		do    func()
		long  time.Duration
		least int // percent
	}{
		{"begin", func() { set(ledger) }, 60 * time.Second, 0},
		{"shared", func() {}, 20 * time.Second, 50},
		{"away", func() { set(nil) }, 30 * time.Second, 5},
		{"back without data", func() { clear(ledger.accounts); set(ledger) }, 60 * time.Second, 50},
		{"data lost", func() { clear(ledger.accounts) }, 60 * time.Second, 50},
		{"misses deadlines", func() { set(deadServer{}) }, 20 * time.Second, 5},
		{"away again", func() { set(nil) }, 30 * time.Second, 5},
		{"back with data", func() { set(ledger) }, 60 * time.Second, 50},
		{"comes and goes", func() {
			for range 10 {
				set(nil)
				set(ledger)
			}
		}, 0, 5},
		{"back", func() {}, 20 * time.Second, 50},
	} {
		from := now
		phase.do()
		run(phase.long)
		if i == 0 {
			continue
		}
		start, _ := slices.BinarySearch(accepted, from)
		total := (len(accepted) - start) * int(10*time.Second) / int(now-from)
		most := 0
		for ; from+10*time.Second <= now; from += step {
			first, _ := slices.BinarySearch(accepted, from)
			last, _ := slices.BinarySearch(accepted, from+10*time.Second)
			most = max(most, last-first)
		}
		if most > allowed*3/2 || total*100 < allowed*phase.least {
			t.Errorf("%s: %d requests accepted in ten seconds, and at most %d; %d are allowed", phase.name, total, most, allowed)
		}
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
			r := f.Take(t.Context(), at, []Use{{key, terms}})
			if r.OK || r.RetryAfter > interval {
				t.Fatalf("first request: %+v", r)
			}
			waits[r.RetryAfter] = true
			for range 3 {
				at = at.Add(r.RetryAfter)
				if r = f.Take(t.Context(), at.Add(-time.Microsecond), []Use{{key, terms}}); r.OK {
					t.Fatal("accepted before Retry-After")
				}
				if r = f.Take(t.Context(), at, []Use{{key, terms}}); !r.OK {
					t.Fatalf("after Retry-After: %+v", r)
				}
				if r = f.Take(t.Context(), at, []Use{{key, terms}}); r.OK || r.RetryAfter != interval {
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
		m.Take(t.Context(), noon, []Use{{key, terms}})
	}
	uses := []Use{{key, terms}}
	state := func(at time.Time) arrivals {
		a, _ := m.lookUp(at.UnixMicro(), key, terms)
		return a
	}
	before := state(noon)
	if r := m.takeAll(noon.UnixMicro(), uses, 4, 0); r.OK {
		t.Fatal(r)
	}
	after := state(noon)
	if d := after.tat[0] - before.tat[0]; d < -10 || d > 10 {
		t.Errorf("theoretical arrival time changes by %d µs", d)
	}
	at := noon.Add(time.Hour)
	since := at.UnixMicro()
	if r := m.takeAll(at.UnixMicro(), uses, 4, since); !r.OK {
		at = at.Add(r.RetryAfter)
		if r = m.takeAll(at.UnixMicro(), uses, 4, since); !r.OK {
			t.Fatal(r)
		}
	}
	if after = state(at); after.tat[0]-at.UnixMicro() < 4*9*time.Second.Microseconds() {
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
	await := func(s string) {
		for stateOf(f) != s {
			f.Take(t.Context(), noon, []Use{{newKey("new", fmt.Sprint(tries)), hourly}})
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
			if f.Take(t.Context(), noon, []Use{{newKey(o.name, fmt.Sprint(i)), hourly}}).OK {
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

// After a loss of data, and after an outage, the first request of a key that the
// processes knew is accepted after a part of the interval, which is the same for
// all processes. A new crawler does not wait.
func TestFirstRequestAfterALossOfData(t *testing.T) {
	const interval = 9 * time.Second
	s := testServer(t, true)
	c := FleetConfig{Addresses: []string{s.address}, Instances: 2, Deadline: time.Minute, Prefix: "loss:", injected: true}
	a, _ := newFleet(t, c)
	b, _ := newFleet(t, c)
	terms := Compile(Grant{Delay: delay(10 * time.Second)})
	later := noon.Add(10 * time.Second)
	away := func(f *Fleet, k Key, now time.Time) {
		connected := f.server
		f.server = func(string) server { return nil }
		f.Take(t.Context(), now, []Use{{k, terms}})
		f.server = connected
	}
	for name, loss := range map[string]func(k Key){
		"data lost": func(Key) {
			client := a.link.current.Load().client
			if err := client.Do(t.Context(), client.B().Flushall().Build()).Error(); err != nil {
				t.Fatal(err)
			}
		},
		"outage": func(k Key) {
			away(a, k, noon.Add(9*time.Second))
			away(b, k, noon.Add(9*time.Second))
		},
	} {
		waits := make(map[time.Duration]bool)
		for i := range 30 {
			key := newKey(name, fmt.Sprint(i))
			if r := a.Take(t.Context(), noon, []Use{{key, terms}}); !r.OK {
				t.Fatal(r)
			}
			if r := b.Take(t.Context(), noon, []Use{{key, terms}}); r.OK {
				t.Fatal(r)
			}
			loss(key)
			r := a.Take(t.Context(), later, []Use{{key, terms}})
			if r.OK || r.RetryAfter > interval {
				t.Fatalf("%s: first request: %+v", name, r)
			}
			waits[r.RetryAfter] = true
			if other := b.Take(t.Context(), later, []Use{{key, terms}}); other != r {
				t.Fatalf("%s: by the other process: %+v, want %+v", name, other, r)
			}
			if r = b.Take(t.Context(), later.Add(r.RetryAfter), []Use{{key, terms}}); !r.OK {
				t.Fatalf("%s: after Retry-After: %+v", name, r)
			}
		}
		if len(waits) < 28 {
			t.Errorf("%s: %d different times for 30 keys", name, len(waits))
		}
		if r := a.Take(t.Context(), later, []Use{{newKey(name, "new"), terms}}); !r.OK {
			t.Errorf("%s: a new crawler: %+v", name, r)
		}
	}
}
