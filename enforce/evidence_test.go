package enforce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/test/fake"
)

// published is a fake of the list of one crawler and of DNS.
type published struct{ down atomic.Bool }

func (p *published) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.down.Load() || r.URL.Host != "operator.test" {
		return nil, errors.New("no route to host")
	}
	body := `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}`
	return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: r}, nil
}

func (p *published) LookupAddr(_ context.Context, addr string) ([]string, error) {
	switch {
	case p.down.Load():
		return nil, errors.New("no answer")
	case addr == "203.0.113.5":
		return []string{"5.crawl.test."}, nil
	}
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

func (p *published) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("203.0.113.5")}, nil
}

// verifiedTest is an engine that verifies two crawlers: ListBot by its list,
// NameBot by DNS.
type verifiedTest struct {
	*engineTest
	published *published
}

func newVerifiedTest(t testing.TB, rules judge.Settings) *verifiedTest {
	t.Helper()
	registry, err := crawler.Builtin().With(
		crawler.Crawler{Name: "ListBot", UserAgents: []string{"ListBot"}, Robots: []string{"ListBot"}, Class: crawler.Registered,
			Verify: crawler.Verify{Ranges: []string{"https://operator.test/list.json"}}},
		crawler.Crawler{Name: "ListPreview", UserAgents: []string{"ListPreview"}, Robots: []string{"ListPreview"}, Class: crawler.UserTriggered,
			Purposes: []crawler.Purpose{crawler.Preview}, Verify: crawler.Verify{Ranges: []string{"https://operator.test/list.json"}}},
		crawler.Crawler{Name: "ListProbe", UserAgents: []string{"ListProbe"}, Robots: []string{"ListProbe"}, Class: crawler.Probe, Purposes: []crawler.Purpose{crawler.Monitor},
			Verify: crawler.Verify{Ranges: []string{"https://operator.test/list.json"}}},
		crawler.Crawler{Name: "NameBot", UserAgents: []string{"NameBot"}, Robots: []string{"NameBot"}, Class: crawler.Registered,
			Verify: crawler.Verify{Hosts: []string{"crawl.test"}}})
	if err != nil {
		t.Fatal(err)
	}
	v := &verifiedTest{published: new(published)}
	clock := fake.NewClock()
	verifier := verify.New(verify.Config{
		Lists: true, DNS: true, Client: &http.Client{Transport: v.published}, Resolver: v.published, Now: func() time.Time { return clock.Now() },
	})
	checker, err := verifier.Bind(registry)
	if err != nil {
		t.Fatal(err)
	}
	verifier.Start(nil)
	t.Cleanup(verifier.Close)
	rules.Registry = registry
	if rules.Verification == nil {
		rules.Verification = new(judge.Verification)
	}
	rules.Verification.Checker = checker
	v.engineTest = newEngineTestAt(t, "User-agent: *\nCrawl-delay: 10\n\nUser-agent: NameBot\nDisallow: /private/\nCrawl-delay: 10\n", rules, clock)
	return v
}

func (v *verifiedTest) from(addr, ua, target string) judge.Decision {
	var d judge.Decision
	v.Decide(context.Background(), &judge.Request{Target: target, UserAgents: []string{ua}, Origin: fake.Home, Client: addr, Time: v.clock.Now()}, &d)
	return d
}

// advance lets time pass, also for the verifier.
func (v *verifiedTest) advance(d time.Duration) {
	v.clock.Advance(d)
	time.Sleep(d)
	synctest.Wait()
}

func (v *verifiedTest) wants(t *testing.T, addr, ua, target string, state claim.State, reason judge.Reason) {
	t.Helper()
	if d := v.from(addr, ua, target); d.Claim.State != state || d.Reason != reason {
		t.Errorf("%s from %s for %s: %s (%s), %s, want %s, %s", ua, addr, target, d.Claim.State, d.Claim.Reason, d.Reason, state, reason)
	}
}

const (
	listbot = "ListBot/1.0"
	namebot = "NameBot/1.0"
)

// A client with a false claim never uses the crawler's budget, whether it is
// unverified or an impostor.
func TestBudgetsByResultOfVerification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifiedTest(t, judge.Settings{Verification: &judge.Verification{IgnoreImpostors: true}})
		v.wants(t, "198.51.100.1", listbot, "/", claim.Unverified, judge.Allowed) // the list is not read yet
		v.wants(t, "198.51.100.1", listbot, "/", claim.Unverified, judge.CrawlDelay)
		v.wants(t, "198.51.100.2", listbot, "/", claim.Unverified, judge.Allowed)
		synctest.Wait()
		v.wants(t, "192.0.2.1", listbot, "/", claim.Verified, judge.Allowed)
		v.wants(t, "192.0.2.2", listbot, "/", claim.Verified, judge.CrawlDelay)
		v.wants(t, "198.51.100.3", listbot, "/", claim.Impostor, judge.Allowed)
		v.wants(t, "198.51.100.4", listbot, "/", claim.Impostor, judge.CrawlDelay)
		v.advance(10 * time.Second)
		v.wants(t, "192.0.2.2", listbot, "/", claim.Verified, judge.Allowed)
		v.wants(t, "198.51.100.4", listbot, "/", claim.Impostor, judge.Allowed)
	})
}

// All unverified clients together have ten times the crawler's rate.
func TestPoolOfUnverifiedClaims(t *testing.T) {
	for _, most := range []time.Duration{0, -time.Second} { // both mean the default
		synctest.Test(t, func(t *testing.T) {
			v := newVerifiedTest(t, judge.Settings{MaxDelay: most})
			v.published.down.Store(true)
			synctest.Wait()
			passed := 0
			for second := range 60 {
				for i := range 5 {
					if v.from(fmt.Sprintf("198.51.%d.%d", second, i), namebot, "/").Action == judge.Pass {
						passed++
					}
				}
				v.clock.Advance(time.Second)
			}
			if passed < 60 || passed > 80 {
				t.Errorf("MaxDelay %v: %d requests in a minute, want about 10 at once and one a second", most, passed)
			}
		})
	}
}

// Requests of an unverified client count for the crawler's budget if it turns
// out to be the crawler.
func TestVerifiedAfterTheFirstRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifiedTest(t, judge.Settings{})
		v.wants(t, "203.0.113.5", namebot, "/", claim.Unverified, judge.Allowed)
		synctest.Wait()
		v.wants(t, "203.0.113.5", namebot, "/", claim.Verified, judge.CrawlDelay)
		d := v.from("203.0.113.5", namebot, "/")
		v.advance(d.RetryAfter)
		v.wants(t, "203.0.113.5", namebot, "/", claim.Verified, judge.Allowed)
		v.advance(10 * time.Second)
		v.wants(t, "203.0.113.5", namebot, "/", claim.Verified, judge.Allowed)
	})
}

// Impostors are denied every path but /robots.txt and exempt paths, even if the
// crawler is exempt. People with the same address are let through.
func TestImpostors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifiedTest(t, judge.Settings{ExemptPaths: []string{"/.well-known/*"}, Exempt: []judge.Exemption{{Name: "NameBot"}}})
		synctest.Wait()
		v.wants(t, "198.51.100.1", listbot, "/", claim.Unverified, judge.Allowed) // no crawler was verified yet
		v.wants(t, "192.0.2.1", listbot, "/", claim.Verified, judge.Allowed)
		v.wants(t, "198.51.100.1", listbot, "/", claim.Impostor, judge.Impostor)
		v.wants(t, "198.51.100.1", listbot, "/robots.txt", claim.Impostor, judge.ExemptPath)
		v.wants(t, "198.51.100.1", listbot, "/.well-known/x", claim.Impostor, judge.ExemptPath)
		v.wants(t, "198.51.100.1", fake.Chrome, "/", claim.NoMethod, judge.Person)
		v.wants(t, "198.51.100.1", fake.Gptbot+" "+listbot, "/", claim.Impostor, judge.Impostor)
		v.wants(t, "198.51.100.1", namebot, "/private/", claim.Unverified, judge.Exempt) // its address is being looked up
		synctest.Wait()
		v.wants(t, "198.51.100.1", namebot, "/private/", claim.Impostor, judge.Impostor)
		v.wants(t, "203.0.113.5", namebot, "/private/", claim.Unverified, judge.Exempt)
		synctest.Wait()
		v.wants(t, "203.0.113.5", namebot, "/private/", claim.Verified, judge.Exempt)
		v.from("192.0.2.1", listbot+" "+namebot, "/robots.txt") // starts the lookup of the address
		synctest.Wait()
		if d := v.from("192.0.2.1", namebot+" "+listbot, "/"); d.Action == judge.Deny {
			t.Errorf("a verified crawler that names another one: %s", d.Reason)
		}
		v.advance(25 * time.Hour)
		v.wants(t, "198.51.100.1", listbot, "/x", claim.Unverified, judge.Allowed) // the proof is too old
	})
}

// Impostors with a million addresses neither use up nor displace the crawler's
// budget.
func TestFloodOfImpostors(t *testing.T) {
	for _, ignore := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			v := newVerifiedTest(t, judge.Settings{Verification: &judge.Verification{IgnoreImpostors: ignore}})
			synctest.Wait()
			v.wants(t, "192.0.2.1", listbot, "/", claim.Verified, judge.Allowed)
			d := new(judge.Decision)
			req := &judge.Request{Target: "/", UserAgents: []string{listbot}, Origin: fake.Home, Time: v.clock.Now()}
			for i := range 200_000 {
				req.Client = netip.AddrFrom4([4]byte{byte(16 + i>>16), byte(i >> 8), byte(i), 7}).String()
				v.Decide(context.Background(), req, d)
			}
			v.wants(t, "192.0.2.1", listbot, "/", claim.Verified, judge.CrawlDelay)
			v.advance(10 * time.Second)
			v.wants(t, "192.0.2.2", listbot, "/", claim.Verified, judge.Allowed)
		})
	}
}

// An ambiguous address neither verifies nor refutes a claim.
func TestAmbiguousAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifiedTest(t, judge.Settings{Exempt: []judge.Exemption{{Name: "CCBot", From: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}}})
		synctest.Wait()
		v.from("192.0.2.1", listbot, "/")
		for addr, want := range map[string]claim.Reason{"192.0.2.1": claim.AddressAmbiguous, "198.51.100.1": claim.AddressAmbiguous, "10.0.0.1": claim.AddressSpecial} {
			var d judge.Decision
			v.Decide(context.Background(), &judge.Request{Target: "/", UserAgents: []string{listbot}, Origin: fake.Home, Client: addr, Ambiguous: true, Time: v.clock.Now()}, &d)
			if d.Claim.State != claim.Unverified || d.Claim.Reason != want || d.Action == judge.Deny {
				t.Errorf("%s: %+v, %s", addr, d.Claim, d.Reason)
			}
		}
		for ambiguous, want := range map[bool]judge.Reason{false: judge.Exempt, true: judge.Allowed} {
			var d judge.Decision
			v.Decide(context.Background(), &judge.Request{Target: "/", UserAgents: []string{"CCBot/2.0"}, Origin: fake.Home, Client: "192.0.2.1", Ambiguous: ambiguous, Time: v.clock.Now()}, &d)
			if d.Reason != want {
				t.Errorf("an exempt crawler, ambiguous %v: %s, want %s", ambiguous, d.Reason, want)
			}
		}
	})
}

// That clients of one tenant are seen with their own addresses says nothing
// about another tenant, who may be behind a proxy.
func TestProofsAreKeptPerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifiedTest(t, judge.Settings{Verification: &judge.Verification{}})
		from := func(addr, host string) claim.State {
			var d judge.Decision
			v.Decide(context.Background(), &judge.Request{
				Target: "/", UserAgents: []string{listbot}, Origin: judge.NewOrigin("https", host, 443), Client: addr, Time: v.clock.Now(), Invented: true, Site: "*.test",
			}, &d)
			return d.Claim.State
		}
		from("192.0.2.1", "direct.test")
		synctest.Wait()
		if got := from("192.0.2.1", "direct.test"); got != claim.Verified {
			t.Fatalf("the crawler: %s", got)
		}
		if got := from("198.51.100.1", "direct.test"); got != claim.Impostor {
			t.Errorf("another client of that host: %s", got)
		}
		if got := from("198.51.100.1", "proxied.test"); got != claim.Unverified {
			t.Errorf("a client of another host: %s", got)
		}
	})
}

// A probe that a published list confirms may request more paths.
func TestVerifiedProbesMayRequestMorePaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifiedTest(t, judge.Settings{Verification: &judge.Verification{}})
		v.source.Set(200, "User-agent: *\nDisallow: /\n")
		v.origins.Load(context.Background())
		v.from("192.0.2.1", "ListProbe/1.0", "/0")
		synctest.Wait()
		for i := range MaxVerifiedTargets {
			if d := v.from("192.0.2.1", "ListProbe/1.0", fmt.Sprint("/", i)); d.Reason != judge.Unbound || d.Claim.State != claim.Verified {
				t.Fatalf("path %d: %s, %s", i, d.Reason, d.Claim.State)
			}
		}
		v.wants(t, "192.0.2.1", "ListProbe/1.0", "/more", claim.Verified, judge.Disallowed)
	})
}
