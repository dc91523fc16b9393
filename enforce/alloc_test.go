//go:build !race

package enforce

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// several is a User-Agent that names several crawlers. A decision allocates once if
// their limits hold the request together.
const several = "Googlebot/2.1 bingbot/2.0 ClaudeBot/1.0"

// A decision allocates nothing, whatever the client and the result. (With the
// race detector, sync.Pool drops some of its elements, so this file is not
// built then.)
func TestDecideAllocatesNothing(t *testing.T) {
	e := newEngineTest(t, site, Settings{ExemptPaths: []string{"/.well-known/*"}, Programs: ProgramsSeen})
	for _, ua := range []string{chrome, googlebot, gptbot, bingbot, newbot, curl, program, stripe, "", several} {
		for _, target := range []string{"/articles/one.html", "/private/..%2f%70rivate//x?a=%2F"} {
			req := &Request{Target: target, UserAgents: []string{ua}, Origin: home, Client: "192.0.2.1", Time: e.clock.now()}
			var d Decision
			ctx := context.Background()
			e.Decide(ctx, req, &d)
			if n := testing.AllocsPerRun(100, func() { e.Decide(ctx, req, &d) }); n > 0 && (n > 1 || ua != several) {
				t.Errorf("%s for %.30q allocates %v times", target, ua, n)
			}
		}
	}
}

// A decision about a request that limits hold allocates nothing, whether it is let
// through or refused.
func TestLimitsAllocateNothing(t *testing.T) {
	for _, rate := range []int{1, 1000} {
		e := newEngineTest(t, site, Settings{Limits: []Limit{
			{Each: every(rate, time.Minute), AtOnce: 100, EachAtOnce: 10}, {Paths: []string{"/articles/*", "/*?sort="}, All: every(1000, time.Second), AtOnce: 100},
		}})
		for _, ua := range []string{chrome, ahrefs, newbot, googlebot, curl, several} {
			req := &Request{Target: "/articles/one.html", UserAgents: []string{ua}, Origin: home, Client: "192.0.2.1"}
			var d Decision
			ctx := context.Background()
			decide := func() {
				e.clock.advance(6 * time.Second)
				req.Time = e.clock.now()
				e.Decide(ctx, req, &d)
				e.Release(req, &d, false)
			}
			decide()
			if n := testing.AllocsPerRun(100, decide); n > 0 && (n > 1 || ua != several) {
				t.Errorf("%.30q allocates %v times", ua, n)
			}
		}
	}
}

// A decision allocates nothing after the robots.txt changed, during the grace
// and after it.
func TestGraceAllocatesNothing(t *testing.T) {
	g := newGraceTest(t, Settings{Grace: GraceAll, HTTPClients: true}, Config{})
	crawlers := []string{googlebot, gptbot, newbot, curl, wget}
	for _, ua := range crawlers {
		g.decideFrom(ua, "192.0.2.1", "/")
	}
	g.change(closed)
	for i, want := range []Reason{Graced, Disallowed} {
		for _, ua := range append(crawlers, chrome) {
			req := &Request{Target: "/archive/x", UserAgents: []string{ua}, Origin: home, Client: "192.0.2.1", Time: g.clock.now()}
			var d Decision
			ctx := context.Background()
			g.Decide(ctx, req, &d)
			if n := testing.AllocsPerRun(100, func() { g.Decide(ctx, req, &d) }); n != 0 || ua != chrome && d.Reason != want {
				t.Errorf("%s, %d: %v allocations, %v", ua, i, n, d.Reason)
			}
		}
		g.clock.advance(GracePeriod)
	}
}

// A decision that verifies claims allocates nothing.
func TestVerificationAllocatesNothing(t *testing.T) {
	v := newVerifiedTest(t, Settings{Verification: &Verification{IgnoreImpostors: true}})
	for v.from("192.0.2.1", listbot, "/robots.txt").Claim.State != verify.Verified {
		runtime.Gosched() // until the list was read
	}
	for _, addr := range []string{"192.0.2.1", "198.51.100.1", "10.0.0.1", ""} {
		for _, ua := range []string{listbot, chrome, googlebot} {
			req := &Request{Target: "/", UserAgents: []string{ua}, Origin: home, Client: addr, Time: v.clock.now()}
			var d Decision
			ctx := context.Background()
			v.Decide(ctx, req, &d)
			if n := testing.AllocsPerRun(100, func() { v.Decide(ctx, req, &d) }); n != 0 {
				t.Errorf("%s from %q allocates %v times", ua, addr, n)
			}
		}
	}
}
