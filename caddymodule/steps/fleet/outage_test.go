package fleet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// deadServer is a server whose calls all fail.
type deadServer struct{}

func (deadServer) call(context.Context, scriptCall) (bool, error) {
	return false, context.DeadlineExceeded
}

// While the server fails in any way, and after it, all processes together accept
// at most 1.2 times what the file allows, one request of each crawler at once when the
// server goes or comes, and one more from each process that begins to decide alone, both for few crawlers with many requests and for many
// crawlers whose requests each process sees rarely. While the server answers, they
// accept at least half of it.
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
	terms, ledger := throttle.Compile(throttle.Grant{Delay: delay(every)}), newLedger()
	rnd := rand.New(rand.NewPCG(1, uint64(instances)))
	fleets, servers := make([]*limiter, instances), make([]server, instances)
	for i := range fleets {
		f, _ := newLedgerFleet(nil, 10*crawlers)
		f.config.Instances = instances
		f.server = func() server { return servers[i] }
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
				if f.Take(t.Context(), noon.Add(now), []throttle.Use{{Key: newKey(fmt.Sprint(k)), Limits: terms}}).OK {
					accepted = append(accepted, now)
				}
			}
		}
	}
	// set makes the processes notice, one after the other within a second, that
	// the server is away, fails, or answers.
	set := func(s server) {
		for _, i := range rnd.Perm(instances) {
			servers[i] = s
			run(max(step, time.Second/time.Duration(instances)))
		}
	}
	allowed := crawlers * int(10*time.Second/every)
	for i, phase := range []struct {
		name    string
		do      func()
		long    time.Duration
		least   int // percent
		outages int
	}{
		{"begin", func() { set(ledger) }, 60 * time.Second, 0, 0},
		{"shared", func() {}, 20 * time.Second, 50, 0},
		{"away", func() { set(nil) }, 30 * time.Second, 5, 1},
		{"back without data", func() { ledger.lose(); set(ledger) }, 60 * time.Second, 50, 0},
		{"data lost", func() { ledger.lose() }, 60 * time.Second, 50, 0},
		{"misses deadlines", func() { set(deadServer{}) }, 20 * time.Second, 5, 1},
		{"away again", func() { set(nil) }, 30 * time.Second, 5, 1},
		{"back with data", func() { set(ledger) }, 60 * time.Second, 50, 0},
		{"comes and goes", func() {
			for range 10 {
				set(nil)
				set(ledger)
			}
		}, 0, 5, 10},
		{"back", func() {}, 20 * time.Second, 50, 0},
	} {
		from := now
		phase.do()
		run(phase.long)
		if i == 0 {
			continue
		}
		start, _ := slices.BinarySearch(accepted, from)
		total, granted := len(accepted)-start, allowed*int(now-from)/int(10*time.Second)
		if total > granted*6/5+crawlers+phase.outages*crawlers*instances || total*100 < granted*phase.least {
			t.Errorf("%s: %d requests accepted, %d are allowed", phase.name, total, granted)
		}
	}
}

// A reply that is too late for requests does not close the circuit.
func TestFleetSlowServer(t *testing.T) {
	r := newRecorder()
	f := newLimiter(config{ClientOption: at(testServer(t, false).address), Deadline: 1}, throttle.NewMemory(100), r)
	f.connect()
	r.await(t, stateDown)
	f.close()
	if text := r.noted()[0]; !strings.HasPrefix(text, errDeadline.Error()) {
		t.Error(text)
	}
}

// While a server is killed or hangs, the process decides alone; afterwards budgets are shared again.
func TestFleetServerFails(t *testing.T) {
	s := testServer(t, true)
	f, r := newFleet(t, config{ClientOption: at(s.address), Deadline: time.Minute})
	tries := 0
	// await sends requests for new keys until the state of the limiter is want.
	await := func(want string) {
		for stateOf(f) != want {
			f.Take(t.Context(), noon, []throttle.Use{{Key: newKey("new", fmt.Sprint(tries)), Limits: hourly}})
			tries++
		}
		r.await(t, want)
	}
	restart := func() {
		if err := s.start(); err != nil {
			t.Error(err)
		}
	}
	for _, outage := range []struct{ begin, end func() }{{s.kill, restart}, {s.pause, s.resume}} {
		outage.begin()
		f.config.Deadline = 10 * time.Millisecond
		await(stateDown)
		f.config.Deadline = time.Minute
		before := r.fallbacks.Load()
		if got := f.Take(t.Context(), noon, []throttle.Use{{Key: newKey("alone", fmt.Sprint(tries)), Limits: hourly}}); !got.OK || r.fallbacks.Load() != before+1 {
			t.Errorf("without the server: %+v", got)
		}
		outage.end()
		await(stateUp)
	}
}
