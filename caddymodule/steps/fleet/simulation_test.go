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

// ledger is a fake server that does the same as take.lua, one call at a time.
type ledger struct {
	mu       sync.Mutex
	accounts *throttle.Memory
	calls    int
}

func newLedger() *ledger { return &ledger{accounts: throttle.NewMemory(10_000)} }

// lose makes the server lose its data.
func (s *ledger) lose() { s.accounts = throttle.NewMemory(10_000) }

func (s *ledger) call(_ context.Context, q scriptCall) (ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	now, uses := time.UnixMicro(q.now), make([]throttle.Use, len(q.budgets))
	for i := range q.budgets {
		b := &q.budgets[i]
		uses[i] = b.Use
		if b.Last > 0 && !q.back && b.Last-q.now <= throttle.MaxLead.Microseconds() {
			s.accounts.Update(now, b.Use, b.State, false)
		}
	}
	if q.back {
		ok = s.accounts.GiveBack(now, time.UnixMicro(q.now+q.after), uses)
	} else {
		ok = s.accounts.Take(context.Background(), now, uses).OK
	}
	for i := range q.budgets {
		b := &q.budgets[i]
		b.State = s.accounts.State(now, b.Use)
	}
	return ok, nil
}

// newLedgerFleet returns a limiter that uses s.
func newLedgerFleet(s *ledger, entries int) (*limiter, *recorder) {
	r := newRecorder()
	f := newLimiter(config{ClientOption: at("ledger"), Deadline: time.Hour, injected: true}, throttle.NewMemory(entries), r)
	f.server = func() server { return s }
	return f, r
}

// 500 processes share the budgets of 50 crawlers. Each crawler sends requests to random processes. It causes at most one round trip per process and emission interval, at any rate of requests, and all processes together accept only as many requests as the file allows.
func TestFleetSimulation(t *testing.T) {
	const instances, crawlers = 500, 50
	const simulated = 20 * time.Second
	delays := []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second}
	for _, perSecond := range []float64{0, 1, 10, 100} {
		name := fmt.Sprintf("%g requests per second of each crawler", perSecond)
		if perSecond == 0 {
			name = "each crawler keeps its delay"
		}
		t.Run(name, func(t *testing.T) {
			server := newLedger()
			fleets := make([]*limiter, instances)
			for i := range fleets {
				fleets[i], _ = newLedgerFleet(server, crawlers)
			}
			rnd := rand.New(rand.NewPCG(1, 6))
			requests, accepted, refusedPolite := 0, 0, 0
			bound, granted := 0.0, 0.0
			for c := range crawlers {
				d := delays[c%len(delays)]
				terms, key := throttle.Compile(throttle.Grant{Delay: delay(d)}), newKey(fmt.Sprint(c))
				rates, _ := terms.Rates()
				interval := time.Duration(rates[0].Interval) * time.Microsecond
				granted += float64(simulated)/float64(interval) + 2
				bound += float64(time.Second) / float64(interval)
				mean := d
				if perSecond > 0 {
					mean = time.Duration(float64(time.Second) / perSecond)
				}
				for now := time.Duration(rnd.Int64N(int64(mean))); now < simulated; {
					r := fleets[rnd.IntN(instances)].Take(t.Context(), noon.Add(now), []throttle.Use{{Key: key, Limits: terms}})
					requests++
					if r.OK {
						accepted++
					} else if perSecond == 0 {
						refusedPolite++
					}
					if perSecond == 0 {
						now += d
					} else {
						now += time.Duration(rnd.ExpFloat64() * float64(mean))
					}
				}
			}
			seconds := simulated.Seconds()
			perInstance := float64(server.calls) / seconds / instances
			t.Logf("%d instances, %d crawlers, %s: %.0f requests/s; round trips: %.0f/s in all, %.2f/s per instance (bound %.0f/s); accepted %.0f/s of %.0f/s granted",
				instances, crawlers, name, float64(requests)/seconds, float64(server.calls)/seconds, perInstance, bound, float64(accepted)/seconds, granted/seconds)
			if float64(accepted) > granted || refusedPolite > 0 {
				t.Errorf("accepted %d, granted %.0f; %d refused although the crawler keeps its delay", accepted, granted, refusedPolite)
			}
			if perInstance > bound || server.calls > requests {
				t.Errorf("%.1f round trips per second and instance, want at most %.1f; %d for %d requests", perInstance, bound, server.calls, requests)
			}
		})
	}
}
