package verify

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

func TestAddressStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		startWithData(f)
		defer f.Close()
		if got := f.ask("Listed", "192.0.2.9"); got.State != claim.Verified { // this is the proof for the cases below
			t.Fatalf("%+v", got)
		}
		for _, tc := range []struct {
			name, addr string
			want       claim.Result
		}{
			{"Listed", "192.0.2.9", claim.Result{State: claim.Verified, Method: claim.ListMethod}},
			{"Listed", "::ffff:192.0.2.9", claim.Result{State: claim.Verified, Method: claim.ListMethod}},
			{"Listed", "2001:db8:1:2::3", claim.Result{State: claim.Verified, Method: claim.ListMethod}},
			{"Listed", "198.51.100.1", claim.Result{State: claim.Impostor}},
			{"Listed", "2001:db8:2::1", claim.Result{State: claim.Impostor}},
			{"Listed", "203.0.113.5", claim.Result{State: claim.Impostor}},
			{"Named", "203.0.113.5", claim.Result{State: claim.Verified, Method: claim.DNSMethod}},
			{"Named", "198.51.100.1", claim.Result{State: claim.Impostor}},
			{"Named", "203.0.113.6", claim.Result{State: claim.Impostor}},
			{"Named", "203.0.113.7", claim.Result{State: claim.Unverified, Reason: claim.LookupFailed}},
			{"Both", "192.0.2.9", claim.Result{State: claim.Verified, Method: claim.ListMethod}},
			{"Both", "203.0.113.5", claim.Result{State: claim.Verified, Method: claim.DNSMethod}},
			{"Both", "198.51.100.1", claim.Result{State: claim.Impostor}},
			{"Both", "203.0.113.6", claim.Result{State: claim.Impostor}},
			{"Both", "203.0.113.7", claim.Result{State: claim.Unverified, Reason: claim.LookupFailed}},
			{"Signer", "198.51.100.1", claim.Result{State: claim.Unverified, Reason: claim.SignatureMissing}},
			{"Plain", "198.51.100.1", claim.Result{}},
			{"Unconfirmed", "192.0.2.9", claim.Result{State: claim.Verified, Method: claim.ListMethod}},
			{"Unconfirmed", "198.51.100.1", claim.Result{State: claim.Unverified, Reason: claim.FactsUnconfirmed}},
		} {
			if got := f.askTwice(tc.name, tc.addr); got != tc.want {
				t.Errorf("%s from %s: %+v, want %+v", tc.name, tc.addr, got, tc.want)
			}
		}
		if got := f.checker.Address(nil, claim.Client{Addr: netip.MustParseAddr("192.0.2.9")}, f.config.Now()); got != (claim.Result{}) {
			t.Errorf("without a crawler: %+v, want the zero Result", got)
		}
		if other := crawler.Builtin().At(0); f.checker.Address(other, claim.Client{Addr: netip.MustParseAddr("192.0.2.9")}, f.config.Now()) != (claim.Result{}) {
			t.Error("a crawler of another registry has a method")
		}
	})
}

// Address does not wait for DNS, so the first request from an address that needs a lookup is unverified.
func TestAddressDoesNotWaitForDNS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		startWithData(f)
		defer f.Close()
		if got := f.ask("Named", "203.0.113.5"); got != (claim.Result{State: claim.Unverified, Reason: claim.LookupPending}) {
			t.Errorf("%+v", got)
		}
	})
}

// A private address, or one that the client may have written itself, neither confirms nor refutes a claim.
func TestSpecialAndAmbiguousAddressesAreUnverified(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		startWithData(f)
		defer f.Close()
		f.ask("Listed", "192.0.2.9")
		for _, addr := range []string{"", "0.0.0.0", "10.0.0.1", "172.16.9.1", "192.168.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "169.254.1.1",
			"224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fd00::1", "ff02::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1"} {
			if got := f.askTwice("Both", addr); got != (claim.Result{State: claim.Unverified, Reason: claim.AddressSpecial}) {
				t.Errorf("%q: %+v", addr, got)
			}
		}
		for _, addr := range []string{"192.0.2.9", "198.51.100.1"} {
			client := claim.Client{Addr: netip.MustParseAddr(addr), Ambiguous: true, Proof: &f.proof}
			if got := f.checker.Address(f.registry.Lookup("Listed"), client, f.config.Now()); got != (claim.Result{State: claim.Unverified, Reason: claim.AddressAmbiguous}) {
				t.Errorf("%s in a field with several addresses: %+v", addr, got)
			}
		}
		if f.names.asked != 0 {
			t.Errorf("%d lookups of such addresses, want none", f.names.asked)
		}
	})
}

// A client can be an impostor only if a crawler was verified by its address, at the same host, in the last 24 hours.
func TestImpostorNeedsAProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		startWithData(f)
		defer f.Close()
		if got := f.ask("Listed", "198.51.100.1"); got != (claim.Result{State: claim.Unverified, Reason: claim.Unproven}) {
			t.Errorf("before a crawler was verified: %+v", got)
		}
		f.ask("Listed", "192.0.2.9")
		if got := f.ask("Listed", "198.51.100.1"); got.State != claim.Impostor {
			t.Errorf("after a crawler was verified: %+v", got)
		}
		elsewhere := claim.Client{Addr: netip.MustParseAddr("198.51.100.1"), Proof: new(claim.Proof)}
		if got := f.checker.Address(f.registry.Lookup("Listed"), elsewhere, f.config.Now()); got.Reason != claim.Unproven {
			t.Errorf("at another host: %+v", got)
		}
		elsewhere.Proof = nil
		if got := f.checker.Address(f.registry.Lookup("Listed"), elsewhere, f.config.Now()); got.Reason != claim.Unproven {
			t.Errorf("without a Proof: %+v", got)
		}
		time.Sleep(24*time.Hour + time.Second)
		synctest.Wait()
		if got := f.ask("Listed", "198.51.100.1"); got.Reason != claim.Unproven {
			t.Errorf("more than a day later: %+v", got)
		}
	})
}

// A claim is not refuted if a documented method is off. If all are off, the state is NoMethod.
func TestMethodsThatAreOff(t *testing.T) {
	for _, tc := range []struct {
		off        func(*Config)
		name, addr string
		want       claim.Result
	}{
		{func(c *Config) { c.DNS = false }, "Both", "198.51.100.1", claim.Result{State: claim.Unverified, Reason: claim.MethodOff}},
		{func(c *Config) { c.DNS = false }, "Both", "192.0.2.9", claim.Result{State: claim.Verified, Method: claim.ListMethod}},
		{func(c *Config) { c.DNS = false }, "Named", "203.0.113.5", claim.Result{}},
		{func(c *Config) { c.Lists = false }, "Both", "198.51.100.1", claim.Result{State: claim.Unverified, Reason: claim.MethodOff}},
		{func(c *Config) { c.Lists = false }, "Listed", "192.0.2.9", claim.Result{}},
		{func(c *Config) { c.Signatures = false }, "Signer", "192.0.2.9", claim.Result{}},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, tc.off)
			startWithData(f)
			defer f.Close()
			f.askTwice("Named", "203.0.113.5")
			if got := f.askTwice(tc.name, tc.addr); got != tc.want {
				t.Errorf("%s from %s: %+v, want %+v", tc.name, tc.addr, got, tc.want)
			}
		})
	}
}

// The facts of the built-in registry are valid, and claims to be a well-known crawler can be refuted.
func TestBindBuiltinRegistry(t *testing.T) {
	v := New(Config{Lists: true, DNS: true, Signatures: true})
	defer v.Close()
	c, err := v.Bind(crawler.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Googlebot", "bingbot", "GPTBot", "Applebot", "CCBot", "Amazonbot", "AhrefsBot", "YandexBot", "Baiduspider"} {
		if s := c.subject(crawler.Builtin().Lookup(name)); s == nil || s.doubt != claim.NoReason {
			t.Errorf("a claim to be %s can't be refuted: %+v", name, s)
		}
	}
}

// After Close, a list is no longer read, unless another Checker uses it.
func TestCheckerCloseEndsReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.web.set(listURL, page(goodList))
		f.Start()
		defer f.Close()
		again, err := f.Bind(f.registry)
		if err != nil {
			t.Fatal(err)
		}
		if again != f.checker {
			t.Error("a registry has two Checkers")
		}
		synctest.Wait()
		f.checker.Close()
		time.Sleep(13 * time.Hour)
		synctest.Wait()
		if n := f.web.count(listURL); n != 3 {
			t.Errorf("%d reads while another Checker uses the list, want 3", n)
		}
		again.Close()
		time.Sleep(24 * time.Hour)
		if n := f.web.count(listURL); n != 3 || len(f.Sources()) != 0 {
			t.Errorf("%d reads after both are closed, want 3; sources %v, want none", n, f.Sources())
		}
		if got := f.ask("Listed", "192.0.2.9"); got.State != claim.Verified {
			t.Errorf("a request through a closed Checker: %+v", got)
		}
	})
}

// If Bind returns an error, it leaves no lists or directories in the Verifier.
func TestBindErrors(t *testing.T) {
	for want, facts := range map[string]crawler.Verify{
		"must begin with https://": {Ranges: []string{listURL, "http://operator.test/list.json"}},
		"anybody can have":         {Ranges: []string{listURL}, Hosts: []string{"gae.googleusercontent.com"}},
		"is not the URL":           {SignatureAgents: []string{agentURI, "agent.test"}},
		"33 host suffixes":         {Hosts: make([]string, 33)},
	} {
		v := New(Config{Lists: true, DNS: true, Signatures: true})
		registry, err := new(crawler.Registry).With(crawler.Crawler{Name: "X1", UserAgents: []string{"X1"}, Robots: []string{"X1"}, Class: crawler.Registered, Verify: facts})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Bind(registry); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"X1"`) {
			t.Errorf("Bind: %v, want an error with %q", err, want)
		}
		if n := len(v.Sources()); n != 0 {
			t.Errorf("%q: Bind left %d sources", want, n)
		}
		v.Close()
	}
}

func TestAddressAllocatesNothing(t *testing.T) {
	f := newFixture(t)
	defer f.Close()
	f.web.set(listURL, page(goodList))
	if _, err := f.sources["list "+listURL].Fetch(t.Context(), f.reader); err != nil {
		t.Fatal(err)
	}
	names := f.checker.subject(f.registry.Lookup("Both")).names
	f.answers.put(f.answers.key(names.id, netip.MustParseAddr("203.0.113.5")), confirmed, time.Now())
	f.answers.put(f.answers.key(names.id, netip.MustParseAddr("203.0.113.6")), refuted, time.Now())
	row := f.registry.Lookup("Both")
	for _, addr := range []string{"192.0.2.9", "203.0.113.5", "203.0.113.6", "10.0.0.1"} {
		client := claim.Client{Addr: netip.MustParseAddr(addr), Proof: &f.proof}
		if n := testing.AllocsPerRun(100, func() { f.checker.Address(row, client, time.Now()) }); n != 0 {
			t.Errorf("%s: %v allocations", addr, n)
		}
	}
}
