package enforce

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// change replaces the file of a verified test.
func (v *verifiedTest) change(file string) {
	v.advance(2 * time.Second)
	v.source.Set(200, file)
	v.origins.Load(context.Background())
	v.advance(time.Minute)
}

// reads lets a client read /robots.txt.
func (v *verifiedTest) reads(addr, ua string) {
	v.advance(time.Second)
	r := &judge.Request{Method: "GET", Target: "/robots.txt", UserAgents: []string{ua}, Origin: fake.Home, Client: addr, Time: v.clock.Now()}
	var d judge.Decision
	v.Decide(context.Background(), r, &d)
	v.RobotsRead(r, d.Rules, 0)
	v.advance(time.Second)
}

// A client with an unverified claim does not end the crawler's grace. An
// impostor has no grace.
func TestGraceByResultOfVerification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const real, claimant, impostor = "203.0.113.5", "10.0.0.1", "198.51.100.1"
		v := newVerifiedTest(t, judge.Settings{Grace: judge.GraceAll, Verification: &judge.Verification{IgnoreImpostors: true}})
		v.change(open)
		v.from("192.0.2.1", listbot, "/") // verifies a crawler, which proves that addresses are those of the clients
		for range 2 {
			v.from(real, namebot, "/")
			v.from(impostor, namebot, "/")
			v.advance(time.Second)
		}
		v.wants(t, real, namebot, "/x", claim.Verified, judge.Allowed)
		v.wants(t, impostor, namebot, "/x", claim.Impostor, judge.Allowed)
		v.wants(t, claimant, listbot, "/x", claim.Unverified, judge.Allowed)
		v.change(closed)
		v.wants(t, real, namebot, "/archive/x", claim.Verified, judge.Graced)
		v.wants(t, impostor, namebot, "/archive/x", claim.Impostor, judge.Disallowed)
		v.wants(t, claimant, namebot, "/archive/x", claim.Unverified, judge.Graced) // has the same path rules as listbot
		v.wants(t, "10.0.0.2", listbot, "/archive/x", claim.Unverified, judge.Graced)

		v.reads(claimant, namebot)
		v.wants(t, claimant, namebot, "/archive/x", claim.Unverified, judge.Disallowed)
		v.reads(impostor, namebot)
		v.wants(t, real, namebot, "/archive/x", claim.Verified, judge.Graced)
		v.wants(t, "10.0.0.3", namebot, "/archive/x", claim.Unverified, judge.Graced)

		v.reads(real, namebot)
		v.wants(t, real, namebot, "/archive/x", claim.Verified, judge.Disallowed)
		v.wants(t, "10.0.0.3", namebot, "/archive/x", claim.Unverified, judge.Disallowed)
	})
}

// A read of the file counts for a crawler that is verified only later.
func TestGraceOfACrawlerThatIsVerifiedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifiedTest(t, judge.Settings{Grace: judge.GraceAll})
		v.change(open)
		v.published.down.Store(true)
		v.wants(t, "203.0.113.5", namebot, "/", claim.Unverified, judge.Allowed)
		v.change(closed)
		v.wants(t, "203.0.113.5", namebot, "/archive/x", claim.Unverified, judge.Graced)
		v.reads("203.0.113.5", namebot)
		v.wants(t, "203.0.113.5", namebot, "/archive/x", claim.Unverified, judge.Disallowed)
		v.published.down.Store(false)
		v.advance(10 * time.Minute)
		v.from("203.0.113.5", namebot, "/")
		v.advance(time.Second)
		v.wants(t, "203.0.113.5", namebot, "/archive/x", claim.Verified, judge.Disallowed)
	})
}

// A group that a version adds or removes gives a robot that declares itself
// another class. What both versions close stays closed.
func TestGraceOfARobotThatAnotherVersionNames(t *testing.T) {
	const star = "User-agent: *\nDisallow: /private/\n"
	named := "User-agent: AcmeBot\nUser-agent: AcmeReader\nUser-agent: AcmeFetch\nDisallow: /private/\nDisallow: /x\n\n" + star
	for _, ua := range []string{
		"AcmeBot/1.0",
		"AcmeReader/1.0 (+http://acme.example/bot)",
		"AcmeReader/1.0 (admin@acme.example)",
		"Mozilla/5.0 (compatible; AcmeFetch/1.0; +http://acme.example/)",
	} {
		for _, tt := range []struct{ before, after string }{
			{star, named},
			{"User-agent: AcmeReader\nUser-agent: AcmeBot\nUser-agent: AcmeFetch\nDisallow: /private/\n", star + "Disallow: /x\n"},
		} {
			synctest.Test(t, func(t *testing.T) {
				v := newVerifiedTest(t, judge.Settings{Grace: judge.GraceAll})
				v.change(tt.before)
				v.reads("10.0.0.1", ua)
				v.wants(t, "10.0.0.1", ua, "/private/x", claim.NoMethod, judge.Disallowed)
				v.change(tt.after)
				v.wants(t, "10.0.0.1", ua, "/private/x", claim.NoMethod, judge.Disallowed)
				v.wants(t, "10.0.0.1", ua, "/x", claim.NoMethod, judge.Graced)
			})
		}
	}
}
