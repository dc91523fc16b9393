package throttle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// ledger is a fake server that does the same as take.lua, one call at a time.
type ledger struct {
	mu       sync.Mutex
	accounts map[string]arrivals
	calls    int
}

func newLedger() *ledger { return &ledger{accounts: make(map[string]arrivals)} }

func (s *ledger) call(_ context.Context, q scriptCall) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	ok := true
	for i := range q.budgets {
		if q.back {
			ok = s.giveBack(q, i) && ok
		} else {
			ok = s.accepts(q, i) && ok
		}
	}
	for i := range q.budgets {
		b := &q.budgets[i]
		b.known = true
		if !q.back && ok {
			b.limits.use(q.now, &b.arrivals)
		}
		if ok || !q.back {
			s.accounts[q.keys[i]] = b.arrivals
		}
	}
	return ok, nil
}

// read returns the stored state of a budget.
func (s *ledger) read(q scriptCall, i int) (a arrivals, stored bool) {
	l := q.budgets[i].limits
	a, stored = s.accounts[q.keys[i]]
	if !stored {
		a = l.fresh(q.now)
	} else if a.sig != l.sig {
		l.convert(&a)
	}
	l.rewind(q.now, &a)
	return a, stored
}

func (s *ledger) giveBack(q scriptCall, i int) bool {
	b := &q.budgets[i]
	a, stored := s.read(q, i)
	ok := b.limits.giveBack(q.now, q.now+q.after, &a) && stored
	b.arrivals = a
	return ok
}

func (s *ledger) accepts(q scriptCall, i int) bool {
	b := &q.budgets[i]
	a, stored := s.read(q, i)
	if b.known && b.last-q.now <= MaxLead.Microseconds() {
		if !stored {
			a.last, a.used = b.last, b.used
		}
		a.merge(&b.arrivals, b.limits)
	}
	b.arrivals = a
	_, why, _ := b.limits.blocked(q.now, &a)
	return why == None || why == VisitTime
}

// newLedgerFleet returns a Fleet that uses s.
func newLedgerFleet(s *ledger, entries int) (*Fleet, *recorder) {
	r := newRecorder()
	c, err := FleetConfig{Addresses: []string{"ledger"}, Deadline: time.Hour, injected: true}.complete()
	if err != nil {
		panic(err)
	}
	return &Fleet{config: c, local: NewMemory(entries), obs: r, link: newLink(c, r), server: func(string) server { return s }}, r
}

// 500 processes share the budgets of 50 crawlers. Each crawler sends requests to random processes. It causes at most one round trip per process and emission interval, at any rate of requests, and all processes together accept only as many requests as the file allows.
func TestFleetSimulation(t *testing.T) {
	const instances, crawlers = 500, 50
	const simulated = 60 * time.Second / raceFactor
	delays := []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second}
	for _, perSecond := range []float64{0, 1, 10, 100} {
		name := fmt.Sprintf("%g requests per second of each crawler", perSecond)
		if perSecond == 0 {
			name = "each crawler keeps its delay"
		}
		t.Run(name, func(t *testing.T) {
			server := newLedger()
			fleets := make([]*Fleet, instances)
			for i := range fleets {
				fleets[i], _ = newLedgerFleet(server, crawlers)
			}
			rnd := rand.New(rand.NewPCG(1, 6))
			requests, accepted, refusedPolite := 0, 0, 0
			bound, granted := 0.0, 0.0
			for c := range crawlers {
				d := delays[c%len(delays)]
				terms, key := Compile(Grant{Delay: delay(d)}), newKey(fmt.Sprint(c))
				interval := time.Duration(terms.limits[0].interval) * time.Microsecond
				granted += float64(simulated)/float64(interval) + 2
				bound += float64(time.Second) / float64(interval)
				mean := d
				if perSecond > 0 {
					mean = time.Duration(float64(time.Second) / perSecond)
				}
				for now := time.Duration(rnd.Int64N(int64(mean))); now < simulated; {
					r := fleets[rnd.IntN(instances)].Take(t.Context(), noon.Add(now), []Use{{key, terms}})
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
