package throttle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/robots"
)

// However many requests give back what they used, and in whatever order, the others
// never exceed a limit.
func TestGiveBackNeverExceedsTheLimits(t *testing.T) {
	for name, grant := range map[string]Grant{
		"a delay":              {Delay: delay(10 * time.Second)},
		"a delay with a burst": {Delay: delay(10 * time.Second), Burst: 3},
		"a long delay":         {Delay: delay(2 * time.Hour), Burst: 5},
		"rates":                {Rates: []robots.RequestRate{rate(5, time.Minute, allDayFrom, allDayTo), rate(20, 10*time.Minute, allDayFrom, allDayTo)}},
		"a delay and a rate":   {Delay: delay(5 * time.Second), Rates: []robots.RequestRate{rate(4, time.Minute, allDayFrom, allDayTo)}},
		"a rate in a window":   {Delay: delay(3 * time.Second), Rates: []robots.RequestRate{rate(2, time.Minute, 1203, 1207)}},
		"a burst and a window": {Delay: delay(20 * time.Second), Burst: 4, Visits: []robots.VisitTime{visit(1202, 1204), visit(1206, 1300)}},
	} {
		terms := Compile(grant)
		l := NewMemory(1000)
		for seed := range 60 {
			rnd := rand.New(rand.NewPCG(uint64(seed), 4))
			uses := []Use{{newKey(t.Name(), name, fmt.Sprint(seed)), terms}}
			var went []int64
			now := noon
			for range 60 {
				now = now.Add(time.Duration(rnd.Int64N(int64(4 * time.Second))))
				for range rnd.IntN(4) {
					if l.Take(t.Context(), now, uses).OK {
						went = append(went, now.UnixMicro())
					}
				}
				for range min(len(went), rnd.IntN(3)) {
					i := max(0, len(went)-1-rnd.IntN(3))
					if l.GiveBack(now, time.UnixMicro(went[i]), uses) {
						went = slices.Delete(went, i, i+1)
					}
				}
			}
			a := terms.fresh(noon.UnixMicro())
			for i, at := range went {
				if r := terms.earliest(at, &a).result(at); !r.OK {
					t.Fatalf("%s, seed %d: request %d went on at %v: %+v", name, seed, i, time.UnixMicro(at).Sub(noon), r)
				}
				terms.use(at, &a)
			}
		}
	}
}
