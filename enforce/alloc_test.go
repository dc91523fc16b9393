//go:build !race

package enforce

import (
	"context"
	"testing"
)

// The request path allocates nothing, whoever asks and whatever is decided.
// (The race detector has pools forget a part of what they hold.)
func TestDecidingAllocatesNothing(t *testing.T) {
	e := newEngineTest(t, site, Rules{ExemptPaths: []string{"/.well-known/*"}, Programs: ProgramsSeen})
	for _, ua := range []string{chrome, googlebot, gptbot, bingbot, newbot, curl, program, stripe, ""} {
		for _, target := range []string{"/articles/one.html", "/private/..%2f%70rivate//x?a=%2F"} {
			req := &Request{Target: target, UserAgents: []string{ua}, Origin: home, Client: "192.0.2.1", Time: e.clock.now()}
			var d Decision
			ctx := context.Background()
			e.Decide(ctx, req, &d)
			if n := testing.AllocsPerRun(100, func() { e.Decide(ctx, req, &d) }); n != 0 {
				t.Errorf("%s for %.30q allocates %v times", target, ua, n)
			}
		}
	}
}
