package enforce

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

func TestVisits(t *testing.T) {
	v := newVisitors(64)
	c := fake.NewClock()
	who, other := visitorKey{hash: 1 << 40}, visitorKey{hash: 1 << 40, invented: true}
	first := c.Now().UnixNano()
	if got := v.last(who, c.Now()); got != (visitTimes{}) {
		t.Errorf("before any visit: %+v", got)
	}
	wants := func(want visitTimes, got visitTimes, when string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %+v, want %+v", when, got, want)
		}
	}
	wants(visitTimes{first: first}, v.record(who, c.Now()), "the first visit")
	c.Advance(20 * time.Hour)
	wants(visitTimes{first: first}, v.record(who, c.Now()), "20 hours later")
	v.read(who, c.Now(), 78)
	v.read(who, c.Now(), 77) // it got an earlier version again
	read := visitTimes{first, c.Now().UnixNano(), 77}
	wants(read, v.last(who, c.Now()), "after a read")
	wants(visitTimes{}, v.last(other, c.Now()), "another visitor")
	c.Advance(judge.GracePeriod)
	wants(read, v.last(who, c.Now()), "a day after the last visit")
	c.Advance(1)
	wants(visitTimes{read: read.read, version: read.version}, v.last(who, c.Now()), "more than a day after it")
	wants(visitTimes{first: c.Now().UnixNano()}, v.record(who, c.Now()), "a visit after that")
}

// Visitors that clients can invent displace no known one, and the least recent
// visitor is displaced first.
func TestInventedVisitorsDisplaceNoKnownOnes(t *testing.T) {
	v := newVisitors(1 << 10)
	c := fake.NewClock()
	var known []visitorKey
	for range 200 {
		known = append(known, visitorKey{hash: rand.Uint64()})
		v.record(known[len(known)-1], c.Now())
	}
	c.Advance(time.Hour)
	held := 0
	for range 100_000 {
		v.record(visitorKey{rand.Uint64(), true}, c.Now())
	}
	for _, k := range known {
		if v.last(k, c.Now()).first != 0 {
			held++
		}
	}
	if held < 190 { // a set with more than seven known visitors is rare
		t.Errorf("%d of %d known visitors are left", held, len(known))
	}
	faithful := known[0]
	for i := range 100_000 {
		c.Advance(time.Minute)
		v.record(visitorKey{hash: rand.Uint64()}, c.Now())
		if i%16 == 0 {
			v.record(faithful, c.Now())
		}
	}
	if v.last(faithful, c.Now()).first == 0 {
		t.Error("a frequent visitor was displaced")
	}
}

// Concurrent calls never return another visitor's time.
func TestVisitsAreSafeForConcurrentUse(t *testing.T) {
	v := newVisitors(1) // all in one set
	at := time.Unix(1_800_000_000, 0)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20_000 {
				n := uint64(1 + (g+i)%9)
				now := at.Add(time.Duration(n))
				if visit := v.record(visitorKey{hash: n << 16}, now); visit != (visitTimes{first: now.UnixNano()}) {
					t.Errorf("visitor %d: %+v", n, visit)
					return
				}
			}
		})
	}
	wg.Wait()
}
