//go:build !race

package enforce

import (
	"context"
	"runtime"
	"testing"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// several is a User-Agent that names several crawlers. A decision allocates once if
// their limits hold the request together.
const several = "Googlebot/2.1 bingbot/2.0 ClaudeBot/1.0"

// A decision allocates nothing, whatever the client and the result. (With the
// race detector, sync.Pool drops some of its elements, so this file is not
// built then.)
func TestDecideAllocatesNothing(t *testing.T) {
	e := newEngineTest(t, fake.Site, judge.Settings{ExemptPaths: []string{"/.well-known/*"}})
	for _, ua := range []string{fake.Chrome, fake.Googlebot, fake.Gptbot, fake.Bingbot, fake.Newbot, fake.Curl, fake.Program, fake.Stripe, "", several} {
		for _, target := range []string{"/articles/one.html", "/private/..%2f%70rivate//x?a=%2F"} {
			req := &judge.Request{Target: target, UserAgents: []string{ua}, Origin: fake.Home, Client: "192.0.2.1", Time: e.clock.Now()}
			if ua == fake.Chrome || ua == fake.Program {
				req.Brands = []string{`"Not A(Brand";v="99", "Lightpanda";v="1"`}
			}
			var d judge.Decision
			ctx := context.Background()
			e.Decide(ctx, req, &d)
			if n := testing.AllocsPerRun(100, func() { e.Decide(ctx, req, &d) }); n > 0 && (n > 1 || ua != several) {
				t.Errorf("%s for %.30q allocates %v times", target, ua, n)
			}
		}
	}
}

// A decision allocates nothing after the robots.txt changed, during the grace
// and after it.
func TestGraceAllocatesNothing(t *testing.T) {
	g := newGraceTest(t, judge.Settings{Grace: judge.GraceAll, HTTPClients: true}, origins.Config{})
	crawlers := []string{fake.Googlebot, fake.Gptbot, fake.Newbot, fake.Curl, fake.Wget}
	for _, ua := range crawlers {
		g.decideFrom(ua, "192.0.2.1", "/")
	}
	g.change(closed)
	for i, want := range []judge.Reason{judge.Graced, judge.Disallowed} {
		for _, ua := range append(crawlers, fake.Chrome) {
			req := &judge.Request{Target: "/archive/x", UserAgents: []string{ua}, Origin: fake.Home, Client: "192.0.2.1", Time: g.clock.Now()}
			var d judge.Decision
			ctx := context.Background()
			g.Decide(ctx, req, &d)
			if n := testing.AllocsPerRun(100, func() { g.Decide(ctx, req, &d) }); n != 0 || ua != fake.Chrome && d.Reason != want {
				t.Errorf("%s, %d: %v allocations, %v", ua, i, n, d.Reason)
			}
		}
		g.clock.Advance(judge.GracePeriod)
	}
}

// A decision that verifies claims allocates nothing.
func TestVerificationAllocatesNothing(t *testing.T) {
	v := newVerifiedTest(t, judge.Settings{Verification: &judge.Verification{IgnoreImpostors: true}})
	for v.from("192.0.2.1", listbot, "/robots.txt").Claim.State != claim.Verified {
		runtime.Gosched() // until the list was read
	}
	for _, addr := range []string{"192.0.2.1", "198.51.100.1", "10.0.0.1", ""} {
		for _, ua := range []string{listbot, fake.Chrome, fake.Googlebot} {
			req := &judge.Request{Target: "/", UserAgents: []string{ua}, Origin: fake.Home, Client: addr, Time: v.clock.Now()}
			var d judge.Decision
			ctx := context.Background()
			v.Decide(ctx, req, &d)
			if n := testing.AllocsPerRun(100, func() { v.Decide(ctx, req, &d) }); n != 0 {
				t.Errorf("%s from %q allocates %v times", ua, addr, n)
			}
		}
	}
}
