package fleet

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// randomLimits returns limits of some kinds, as of a file that changes.
func randomLimits(rnd *rand.Rand) *throttle.Limits {
	var g throttle.Grant
	if rnd.IntN(3) > 0 {
		g.Delay = delay(time.Duration(1+rnd.IntN(600)) * time.Second)
	}
	for range rnd.IntN(3) {
		from, to := allDayFrom, allDayTo
		if rnd.IntN(3) == 0 {
			from, to = 1200, 1200+rnd.IntN(60)
		}
		g.Rates = append(g.Rates, rate(1+rnd.IntN(20), time.Duration(1+rnd.IntN(3600))*time.Second, from, to))
	}
	if rnd.IntN(5) == 0 {
		g.Visits = []robots.VisitTime{visit(1100, 1200+rnd.IntN(60))}
	}
	g.Burst = rnd.IntN(4)
	return throttle.Compile(g)
}

// With random limits, keys and times, a fleet with one process decides like the budgets of
// one process in memory, also about what is given back; and of two processes that decide in
// turn, none accepts or refuses anything else.
func TestFleetAgreesWithMemory(t *testing.T) {
	seeds := 60
	if serverCommand() == "" {
		seeds = 5 // miniredis makes a new interpreter for each call
	}
	address := testServer(t, false).address
	for name, open := range map[string]func(prefix string) *limiter{
		"a server": func(prefix string) *limiter {
			f, _ := newFleet(t, config{ClientOption: at(address), Deadline: time.Minute, Prefix: prefix, injected: true})
			return f
		},
		"a fake server": func(string) *limiter {
			f, _ := newLedgerFleet(newLedger(), 1000)
			return f
		},
	} {
		for _, inTurn := range []bool{false, true} {
			if inTurn && name != "a server" {
				continue
			}
			t.Run(fmt.Sprintf("%s, in turn %t", name, inTurn), func(t *testing.T) {
				prefix := fmt.Sprintf("agree:%x:", rand.Uint64())
				fleets := []*limiter{open(prefix)}
				if inTurn {
					fleets = append(fleets, open(prefix))
				}
				for seed := range seeds {
					agree(t, fleets, uint64(seed))
				}
			})
		}
	}
}

// agree sends the same requests to the fleets, in turn, and to a Memory.
func agree(t *testing.T, fleets []*limiter, seed uint64) {
	t.Helper()
	rnd, memory, now := rand.New(rand.NewPCG(seed, 11)), throttle.NewMemory(1000), noon
	home := newKey(t.Name(), fmt.Sprint(seed))
	var uses []throttle.Use
	for i := range 1 + rnd.IntN(3) {
		uses = append(uses, throttle.Use{Key: newKey(t.Name(), fmt.Sprint(seed, i)).In(home), Limits: randomLimits(rnd)})
	}
	for i := range 60 {
		f := fleets[i%len(fleets)]
		if rnd.IntN(20) == 0 { // the file changes
			uses[rnd.IntN(len(uses))].Limits = randomLimits(rnd)
		}
		with := uses[:1+rnd.IntN(len(uses))]
		want, got := memory.Take(t.Context(), now, with), f.Take(t.Context(), now, with)
		// A process refuses by the state that it knows. Others may have used more budget since,
		// so its RetryAfter may be too short. What is used of a changed file is rounded.
		longer := got.RetryAfter - want.RetryAfter
		got.RetryAfter = want.RetryAfter
		if got.OK != want.OK || longer > time.Millisecond || len(fleets) == 1 && (got != want || longer < -time.Millisecond) {
			got.RetryAfter += longer
			t.Fatalf("seed %d, request %d: %+v, want %+v", seed, i, got, want)
		}
		if got.OK && len(fleets) == 1 && rnd.IntN(4) == 0 {
			later := now.Add(time.Duration(rnd.IntN(5)) * time.Second)
			if want, got := memory.GiveBack(later, now, with), f.GiveBack(later, now, with); got != want {
				t.Fatalf("seed %d, request %d is given back: %t, want %t", seed, i, got, want)
			}
			now = later
		}
		now = now.Add(time.Duration(rnd.Int64N(int64(time.Minute))) / 1000 * 1000)
	}
}

// Forget resets a budget in the process and in the server.
func TestFleetForgets(t *testing.T) {
	f, _ := newFleet(t, config{ClientOption: at(testServer(t, false).address), Deadline: time.Minute})
	now, use := time.Now(), throttle.Use{Key: newKey(t.Name(), time.Now().String()), Limits: hourly}
	for range 2 {
		if r := f.Take(t.Context(), now, []throttle.Use{use}); !r.OK {
			t.Fatal(r)
		}
		if r := f.local.Peek(now, use); r.OK {
			t.Errorf("%+v", r)
		}
		if err := f.Forget(t.Context(), now, use.Key); err != nil {
			t.Fatal(err)
		}
	}
}
