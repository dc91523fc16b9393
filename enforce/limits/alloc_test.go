//go:build !race

package limits

import (
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// A decision about a request that limits hold allocates nothing, whether it is let
// through or refused. (With the race detector, sync.Pool drops some of its elements.)
func TestLimitsAllocateNothing(t *testing.T) {
	const several = "GPTBot/1.0 ClaudeBot/1.0 CCBot/2.0"
	for _, rate := range []string{"1/1m", "1000/1m"} {
		e := newSite(t, fake.Site, judge.Settings{}, Limit{Each: rate, AtOnce: 100, EachAtOnce: 10},
			Limit{Paths: []string{"/articles/*", "/*?sort="}, All: "1000/1s", AtOnce: 100})
		for _, ua := range []string{fake.Chrome, ahrefs, fake.Newbot, fake.Googlebot, fake.Curl, several} {
			r, d, q := e.request("/articles/one.html", ua), new(judge.Decision), new(Request)
			decide := func() {
				e.clock.Advance(6 * time.Second)
				r.Time = e.clock.Now()
				e.enterAs(q, r, d)
				q.Reset()
			}
			decide()
			if n := testing.AllocsPerRun(100, decide); n > 0 && (n > 1 || ua != several) {
				t.Errorf("%.30q allocates %v times", ua, n)
			}
		}
	}
}
