package throttle

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// A request that is given back leaves the budgets as if it had not come, and nothing
// is given back once a later request was accepted.
func TestGiveBack(t *testing.T) {
	hour, burst := Compile(Grant{Delay: delay(time.Hour)}), Compile(Grant{Delay: delay(time.Hour), Burst: 2})
	l := NewMemory(1000)
	home := newKey(t.Name())
	one := []Use{{home, hour}}
	both := []Use{{home, hour}, {newKey(t.Name(), "other").In(home), burst}}
	take := func(after time.Duration, uses []Use, want bool) {
		t.Helper()
		if r := l.Take(t.Context(), noon.Add(after), uses); r.OK != want {
			t.Fatalf("after %v: %+v, want %t", after, r, want)
		}
	}
	for i, uses := range [][]Use{both, one, both, one} {
		at := time.Duration(i) * time.Second
		take(at, uses, true)
		l.GiveBack(noon.Add(at+time.Second), noon.Add(at), uses)
	}
	take(4*time.Second, both, true)
	take(5*time.Second, both[1:], true) // the burst
	take(6*time.Second, both[1:], false)
	l.GiveBack(noon.Add(7*time.Second), noon.Add(4*time.Second), one)
	take(7*time.Second, one, true)
	l.GiveBack(noon.Add(8*time.Second), noon.Add(7*time.Second), one)
	take(8*time.Second, one, true)
}

// With random limits, keys and times, each Limiter decides like a model that asks
// every budget, and RetryAfter is the first instant at which all of them accept.
func TestSeveralUsesAgreeWithModel(t *testing.T) {
	l := NewMemory(1000)
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(uint64(seed), 12))
		home := newKey(t.Name(), fmt.Sprint(seed))
		var uses []Use
		var models []*model
		for i := range 2 + rnd.IntN(MaxUses-1) {
			g := randomGrant(rnd)
			if i > 0 {
				g.Visits = nil // the Visit-times of two budgets may have no minute in common
			}
			models = append(models, newModel(g))
			uses = append(uses, Use{newKey(t.Name(), fmt.Sprint(seed, i)).In(home), Compile(g)})
		}
		now := noon
		for i := range 30 {
			var with []Use
			var asked []*model
			for _, i := range rnd.Perm(len(uses))[:1+rnd.IntN(len(uses))] {
				with, asked = append(with, uses[i]), append(asked, models[i])
			}
			accepts := func(at time.Time) bool {
				for _, m := range asked {
					if !m.accepts(at) {
						return false
					}
				}
				return true
			}
			want := accepts(now)
			r := l.Take(t.Context(), now, with)
			if r.OK != want || r.OK != (r.RetryAfter == 0) || r.Use < 0 || r.Use >= len(with) {
				t.Fatalf("seed %d, request %d: %+v, want ok %t", seed, i, r, want)
			}
			if r.OK {
				for _, m := range asked {
					m.take(now)
				}
			} else if asked[r.Use].accepts(now) {
				t.Fatalf("seed %d, request %d: %+v names a use that accepts", seed, i, r)
			}
			if !r.OK && (!accepts(now.Add(r.RetryAfter)) || accepts(now.Add(r.RetryAfter-time.Microsecond))) {
				t.Fatalf("seed %d, request %d: %+v is not the first instant", seed, i, r)
			}
			now = now.Add(randomStep(rnd, r) % (2 * time.Hour))
		}
	}
}

// Goroutines whose requests use overlapping budgets, in different orders, do not
// wait for each other for ever, and together never exceed a limit, also while the
// size of the Memory changes.
func TestOverlappingUses(t *testing.T) {
	const keys, allowed = 12, 40
	terms := Compile(Grant{Rates: []robots.RequestRate{rate(allowed, time.Hour, allDayFrom, allDayTo)}})
	l := NewMemory(1000)
	home := newKey(t.Name())
	var used [keys]atomic.Int64
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 13))
			for range 60 {
				var uses []Use
				list := rnd.Perm(keys)[:1+rnd.IntN(4)]
				for _, i := range list {
					uses = append(uses, Use{newKey(t.Name(), fmt.Sprint(i)).In(home), terms})
				}
				if l.Take(t.Context(), noon, uses).OK {
					for _, i := range list {
						used[i].Add(1)
					}
				}
			}
		})
	}
	resized := make(chan struct{})
	go func() {
		defer close(resized)
		for i := range 20 {
			l.Resize(noon, []int{100_000, 1000, 1_000_000, 2000}[i%4])
		}
	}()
	group.Wait()
	<-resized
	for i := range used {
		if n := used[i].Load(); n > allowed || n < allowed/2 {
			t.Errorf("key %d: used by %d requests, want %d at most", i, n, allowed)
		}
	}
}

// In a full Memory, a request with several new keys makes none of its own keys
// be forgotten.
func TestNewKeysOfOneRequest(t *testing.T) {
	long := Compile(Grant{Delay: delay(24 * time.Hour)})
	for seed := range 200 {
		m, now := NewMemory(16), noon.Add(time.Hour)
		for i := range 100 {
			m.Take(t.Context(), noon, []Use{{newKey("other", fmt.Sprint(seed, i)), long}})
		}
		var uses []Use
		for i := range MaxUses {
			uses = append(uses, Use{newKey("a").Client(address(100*seed + i)), hourly}) // those that a Memory forgets first
		}
		if r := m.Take(t.Context(), now, uses); !r.OK {
			t.Fatal(r)
		}
		for i, u := range uses {
			if r := m.Peek(now, u); r.OK {
				t.Fatalf("seed %d: key %d was forgotten: %+v", seed, i, r)
			}
		}
		if s := stats(m); s.Entries > 24 {
			t.Fatalf("%+v", s)
		}
	}
}

// If no instant suits all budgets, the request is refused.
func TestUsesThatNeverAccept(t *testing.T) {
	l := NewMemory(1000)
	home := newKey(t.Name())
	uses := []Use{
		{home, Compile(Grant{Visits: []robots.VisitTime{visit(100, 159)}})},
		{newKey(t.Name(), "b").In(home), Compile(Grant{Visits: []robots.VisitTime{visit(300, 359)}})},
	}
	if r := l.Take(t.Context(), noon, uses); r.OK || r.Reason != VisitTime || r.Use != 1 || r.RetryAfter < 15*time.Hour {
		t.Errorf("%+v", r)
	}
	if r := l.Take(t.Context(), noon, nil); !r.OK {
		t.Errorf("without uses: %+v", r)
	}
}
