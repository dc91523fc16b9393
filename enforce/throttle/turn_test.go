package throttle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

func newQueue(max int) *queue { return &queue{max: max, lines: make(map[Key]*line)} }

// hold asks for a request that may be held for ten minutes, like Waiters.Take.
func (w *queue) hold(t *testing.T, l Limiter, now time.Time, k Key, terms *Limits) (*turn, Result) {
	t.Helper()
	at := now.UnixMicro()
	if free := w.reuse([]Use{{k, terms}}, at, at+MaxWait.Microseconds()); free != nil {
		return free, Result{OK: true, Delay: time.Duration(free.at-at) * time.Microsecond}
	}
	r := l.Take(t.Context(), now, []Use{{k, terms}}, MaxWait)
	if r.turn != nil {
		w.add(r.turn)
	}
	return r.turn, r
}

// However many requests were held, after they have ended a request waits no longer
// than if they had not come, in whatever order they end.
func TestHeldRequestsThatEndDelayNoOthers(t *testing.T) {
	terms := Compile(Grant{Delay: delay(time.Second)})
	for order, sort := range map[string]func(turns []*turn){
		"the first one first": func([]*turn) {},
		"the last one first":  func(turns []*turn) { slices.Reverse(turns) },
		"in random order": func(turns []*turn) {
			rand.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
		},
	} {
		for _, e := range limiters[:3] {
			t.Run(e.name+", "+order, func(t *testing.T) {
				l, w, key := e.open(t), newQueue(1000), newKey(t.Name())
				if r := l.Take(t.Context(), noon, []Use{{key, terms}}, 0); !r.OK {
					t.Fatalf("%+v", r)
				}
				var held []*turn
				for range 500 {
					turn, r := w.hold(t, l, noon, key, terms)
					if turn == nil {
						t.Fatalf("%+v", r)
					}
					held = append(held, turn)
				}
				if r := l.Take(t.Context(), noon, []Use{{key, terms}}, 0); r.RetryAfter < 400*time.Second {
					t.Errorf("while they are held: %+v", r)
				}
				sort(held)
				for _, turn := range held {
					w.abandon(turn, noon.UnixMicro())
				}
				if r := l.Take(t.Context(), noon, []Use{{key, terms}}, 0); r.RetryAfter != 450*time.Millisecond {
					t.Errorf("after they have ended: %+v, want 450ms", r)
				}
				if len(w.lines) != 0 || w.abandoned.Load() != 0 {
					t.Errorf("%d lines, %d abandoned turns", len(w.lines), w.abandoned.Load())
				}
			})
		}
	}
}

// The turn of a request before others that are still held goes to the next
// request. The others keep theirs.
func TestAbandonedTurnGoesToTheNextRequest(t *testing.T) {
	terms := Compile(Grant{Delay: delay(10 * time.Second)})
	forEachLimiter(t, func(t *testing.T, l Limiter) {
		w, key := newQueue(10), newKey(t.Name())
		w.hold(t, l, noon, key, terms)
		first, _ := w.hold(t, l, noon, key, terms)
		w.hold(t, l, noon, key, terms)
		w.abandon(first, noon.UnixMicro())
		if r := l.Take(t.Context(), noon, []Use{{key, terms}}, MaxWait); r.Delay != 22500*time.Millisecond {
			t.Errorf("a request that gets no turn: %+v", r)
		}
		if turn, r := w.hold(t, l, noon.Add(time.Second), key, terms); turn != first || r.Delay != 3500*time.Millisecond {
			t.Errorf("%+v, want the first one's turn", r)
		}
		w.abandon(first, noon.Add(5*time.Second).UnixMicro())
		if turn, r := w.hold(t, l, noon.Add(5*time.Second), key, terms); turn == first {
			t.Errorf("%+v, a turn that is over", r)
		}
	})
}

// Requests that are held, end, and get the turns of others, never exceed a limit.
// Two queues share the budget, like two processes.
func TestTurnsNeverExceedTheLimits(t *testing.T) {
	for name, grant := range map[string]Grant{
		"a delay":                  {Delay: delay(10 * time.Second)},
		"a delay with a burst":     {Delay: delay(10 * time.Second), Burst: 3},
		"a long delay":             {Delay: delay(2 * time.Hour), Burst: 5},
		"rates":                    {Rates: []robots.RequestRate{rate(5, time.Minute, allDayFrom, allDayTo), rate(20, 10*time.Minute, allDayFrom, allDayTo)}},
		"a delay and a rate":       {Delay: delay(5 * time.Second), Rates: []robots.RequestRate{rate(4, time.Minute, allDayFrom, allDayTo)}},
		"a rate in a window":       {Delay: delay(3 * time.Second), Rates: []robots.RequestRate{rate(2, time.Minute, 1203, 1207)}},
		"a delay and a Visit-time": {Delay: delay(4 * time.Second), Visits: []robots.VisitTime{visit(1202, 1204), visit(1206, 1300)}},
		"a burst and a Visit-time": {Delay: delay(20 * time.Second), Burst: 4, Visits: []robots.VisitTime{visit(1202, 1204), visit(1206, 1300)}},
	} {
		terms := Compile(grant)
		forEachLimiter(t, func(t *testing.T, l Limiter) {
			for seed := range rounds(l, 60) {
				rnd := rand.New(rand.NewPCG(seed, 4))
				queues, key := []*queue{newQueue(5 + int(seed)), newQueue(5)}, newKey(t.Name(), name, fmt.Sprint(seed))
				type request struct {
					*queue
					*turn
				}
				var held []request
				var went []int64
				now := noon
				for range 60 {
					now = now.Add(time.Duration(rnd.Int64N(int64(4 * time.Second))))
					held = slices.DeleteFunc(held, func(r request) bool {
						over := r.at <= now.UnixMicro()
						if over {
							went = append(went, r.at)
							r.remove(r.turn)
						}
						return over
					})
					for range rnd.IntN(4) {
						w := queues[rnd.IntN(2)]
						if turn, r := w.hold(t, l, now, key, terms); turn != nil {
							held = append(held, request{w, turn})
						} else if r.OK {
							went = append(went, now.Add(r.Delay).UnixMicro())
						}
					}
					for range min(len(held), rnd.IntN(4)) {
						i := rnd.IntN(len(held))
						held[i].abandon(held[i].turn, now.UnixMicro())
						held = slices.Delete(held, i, i+1)
					}
				}
				for _, r := range held {
					went = append(went, r.at)
				}
				slices.Sort(went)
				a := terms.fresh(noon.UnixMicro())
				for i, at := range went {
					if v := terms.earliest(at, &a); v.at != at {
						t.Fatalf("%s, seed %d: request %d went on at %v, %v too early", name, seed, i, time.UnixMicro(at).Sub(noon), v.wait(at))
					}
					terms.use(at, &a)
				}
			}
		})
	}
}

// The number of abandoned turns that are kept is bounded.
func TestAbandonedTurnsAreBounded(t *testing.T) {
	terms, m, w := Compile(Grant{Delay: delay(time.Second)}), NewMemory(1000), newQueue(20)
	for i := range 100 {
		key := newKey(fmt.Sprint(i))
		w.hold(t, m, noon, key, terms)
		first, _ := w.hold(t, m, noon, key, terms)
		w.hold(t, m, noon, key, terms) // stays
		w.abandon(first, noon.UnixMicro())
		if n := w.abandoned.Load(); n > 20 {
			t.Fatalf("%d abandoned turns", n)
		}
	}
	later := noon.Add(time.Hour)
	key := newKey("later")
	w.hold(t, m, later, key, terms)
	first, _ := w.hold(t, m, later, key, terms)
	w.hold(t, m, later, key, terms)
	w.abandon(first, later.UnixMicro())
	if n := w.abandoned.Load(); n != 1 {
		t.Errorf("%d abandoned turns after those before are over, want 1", n)
	}
}

// Clients that hang up while they are held, all at once, delay no other client.
func TestWaitersGiveTurnsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := NewWaiters(2000), NewMemory(100)
		terms, key := Compile(Grant{Delay: delay(500 * time.Millisecond)}), newKey("a")
		var all sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		for range 1100 {
			all.Go(func() { w.Take(ctx, m, time.Now(), []Use{{key, terms}}, MaxWait) })
		}
		synctest.Wait()
		if r := m.Take(t.Context(), time.Now(), []Use{{key, terms}}, 0); r.RetryAfter < 490*time.Second {
			t.Errorf("while they are held: %+v", r)
		}
		cancel()
		all.Wait()
		start := time.Now()
		if r := w.Take(t.Context(), m, start, []Use{{key, terms}}, MaxWait); !r.OK || time.Since(start) > 450*time.Millisecond {
			t.Errorf("%+v after %v", r, time.Since(start))
		}
	})
}

// While the server of a fleet is away, turns are given back in the process. A turn
// that the server has, and can't take back, stays used.
func TestTurnsWhileTheServerIsAway(t *testing.T) {
	s := newLedger()
	f, _ := newLedgerFleet(s, 100)
	defer f.Close()
	terms, key, w := Compile(Grant{Delay: delay(10 * time.Second)}), newKey("a"), newQueue(10)
	w.hold(t, f, noon, key, terms)
	turn, _ := w.hold(t, f, noon, key, terms)
	f.server = func(string) server { return nil }
	w.abandon(turn, noon.UnixMicro())
	if turn.state != abandoned {
		t.Errorf("state %d of a turn that the server has", turn.state)
	}
	other := newKey("b")
	w.hold(t, f, noon, other, terms)
	turn, _ = w.hold(t, f, noon, other, terms)
	w.abandon(turn, noon.UnixMicro())
	if r := f.Take(t.Context(), noon, []Use{{other, terms}}, 0); turn.state != returning || r.RetryAfter != 4500*time.Millisecond {
		t.Errorf("%+v, state %d of a turn of this process", r, turn.state)
	}
}
