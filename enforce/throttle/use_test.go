package throttle

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// A request that one budget refuses uses no budget of another.
func TestRefusedRequestUsesNoBudget(t *testing.T) {
	pace := Compile(Grant{Delay: delay(10 * time.Second)})
	pool := Compile(Grant{Rates: []robots.RequestRate{rate(3, time.Hour, allDayFrom, allDayTo)}})
	forEachLimiter(t, func(t *testing.T, l Limiter) {
		home := newKey(t.Name())
		var keys []Key
		for i := range 5 {
			keys = append(keys, newKey(t.Name(), fmt.Sprint(i)).In(home))
		}
		for i, step := range []struct {
			key, use int
			ok       bool
			retry    time.Duration
			why      Reason
		}{
			{0, 0, true, 0, None},
			{0, 1, false, 4500 * time.Millisecond, CrawlDelay},
			{0, 1, false, 4500 * time.Millisecond, CrawlDelay},
			{1, 0, true, 0, None},
			{2, 0, true, 0, None},
			{3, 0, false, 9 * time.Minute, RequestRate},
			{0, 0, false, 9 * time.Minute, RequestRate},
		} {
			uses := []Use{{home, pool}, {keys[step.key], pace}}
			want := Result{OK: step.ok, Use: step.use, RetryAfter: step.retry, Reason: step.why, Line: map[Reason]int{CrawlDelay: 2, RequestRate: 3}[step.why]}
			if r := l.Take(t.Context(), noon, uses, 0); r != want {
				t.Fatalf("request %d: %+v, want %+v", i, r, want)
			}
		}
		if r := l.Take(t.Context(), noon, []Use{{keys[3], pace}, {keys[4], nil}}, 0); !r.OK {
			t.Errorf("a refused request has used budget: %+v", r)
		}
	})
}

// With random limits, keys and times, each Limiter decides like a model that asks
// every budget, and RetryAfter is the first instant at which all of them accept.
func TestSeveralUsesAgreeWithModel(t *testing.T) {
	forEachLimiter(t, func(t *testing.T, l Limiter) {
		for seed := range rounds(l, 100) {
			rnd := rand.New(rand.NewPCG(seed, 12))
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
				r := l.Take(t.Context(), now, with, 0)
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
				if _, inTurn := l.(*turns); !r.OK && !inTurn && (!accepts(now.Add(r.RetryAfter)) || accepts(now.Add(r.RetryAfter-time.Microsecond))) {
					t.Fatalf("seed %d, request %d: %+v is not the first instant", seed, i, r)
				}
				now = now.Add(randomStep(rnd, r) % (2 * time.Hour))
			}
		}
	})
}
