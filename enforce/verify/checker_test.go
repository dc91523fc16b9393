package verify

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// settle starts the fixture with a good list and one name in DNS, and waits until nothing is under way.
func settle(f *fixture) {
	f.web.set(listURL, page(goodList))
	f.names.reverse["203.0.113.5"] = []string{"5.crawl.test."}
	f.names.forward["5.crawl.test."] = []netip.Addr{netip.MustParseAddr("203.0.113.5")}
	f.names.reverse["203.0.113.6"] = []string{"5.crawl.test."}
	f.Start()
	synctest.Wait()
}

// askTwice asks, waits for what the first question started, and asks again.
func (f *fixture) askTwice(name, addr string) Result {
	f.ask(name, addr)
	synctest.Wait()
	return f.ask(name, addr)
}

func TestStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		settle(f)
		defer f.Close()
		if got := f.ask("Listed", "192.0.2.9"); got.State != Verified { // which is the proof for what follows
			t.Fatalf("%+v", got)
		}
		for _, tc := range []struct {
			name, addr string
			want       Result
		}{
			{"Listed", "192.0.2.9", Result{Verified, ListMethod, NoReason}},
			{"Listed", "::ffff:192.0.2.9", Result{Verified, ListMethod, NoReason}},
			{"Listed", "2001:db8:1:2::3", Result{Verified, ListMethod, NoReason}},
			{"Listed", "198.51.100.1", Result{State: Impostor}},
			{"Listed", "2001:db8:2::1", Result{State: Impostor}},
			{"Listed", "203.0.113.5", Result{State: Impostor}},
			{"Named", "203.0.113.5", Result{Verified, DNSMethod, NoReason}},
			{"Named", "198.51.100.1", Result{State: Impostor}},
			{"Named", "203.0.113.6", Result{Unverified, NoneMethod, LookupFailed}},
			{"Both", "192.0.2.9", Result{Verified, ListMethod, NoReason}},
			{"Both", "203.0.113.5", Result{Verified, DNSMethod, NoReason}},
			{"Both", "198.51.100.1", Result{State: Impostor}},
			{"Both", "203.0.113.6", Result{Unverified, NoneMethod, LookupFailed}},
			{"Signer", "198.51.100.1", Result{Unverified, NoneMethod, SignatureMissing}},
			{"Plain", "198.51.100.1", Result{}},
			{"Rumour", "192.0.2.9", Result{Verified, ListMethod, NoReason}},
			{"Rumour", "198.51.100.1", Result{Unverified, NoneMethod, FactsUnconfirmed}},
			{"Networked", "192.0.2.9", Result{Verified, ListMethod, NoReason}},
			{"Networked", "198.51.100.1", Result{Unverified, NoneMethod, MethodOff}},
		} {
			if got := f.askTwice(tc.name, tc.addr); got != tc.want {
				t.Errorf("%s from %s: %+v, want %+v", tc.name, tc.addr, got, tc.want)
			}
		}
		if got := f.checker.Address(nil, Client{Addr: netip.MustParseAddr("192.0.2.9")}, f.config.Now()); got != (Result{}) {
			t.Errorf("nobody: %+v", got)
		}
		if other := crawler.Builtin().At(0); f.checker.Address(other, Client{Addr: netip.MustParseAddr("192.0.2.9")}, f.config.Now()) != (Result{}) {
			t.Error("a crawler of another registry was taken for one of this")
		}
	})
}

// The first request of an address that only DNS can tell about is unverified: no request waits.
func TestNoRequestWaitsForDNS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		settle(f)
		defer f.Close()
		if got := f.ask("Named", "203.0.113.5"); got != (Result{Unverified, NoneMethod, LookupPending}) {
			t.Errorf("%+v", got)
		}
	})
}

// No address of a private network is verified or called an impostor, and none that a client may have written.
func TestAddressesThatTellNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		settle(f)
		defer f.Close()
		f.ask("Listed", "192.0.2.9")
		for _, addr := range []string{"", "0.0.0.0", "10.0.0.1", "172.16.9.1", "192.168.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "169.254.1.1",
			"224.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fd00::1", "ff02::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1"} {
			if got := f.askTwice("Both", addr); got != (Result{Unverified, NoneMethod, AddressSpecial}) {
				t.Errorf("%q: %+v", addr, got)
			}
		}
		for _, addr := range []string{"192.0.2.9", "198.51.100.1"} {
			client := Client{Addr: netip.MustParseAddr(addr), Ambiguous: true, Proof: &f.proof}
			if got := f.checker.Address(f.registry.Lookup("Listed"), client, f.config.Now()); got != (Result{Unverified, NoneMethod, AddressAmbiguous}) {
				t.Errorf("%s in a field of several: %+v", addr, got)
			}
		}
		if f.names.asked != 0 {
			t.Errorf("%d lookups of such addresses", f.names.asked)
		}
	})
}

// Nobody is an impostor before a crawler was verified by its address, at the same place, in the last 24 hours.
func TestProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		settle(f)
		defer f.Close()
		if got := f.ask("Listed", "198.51.100.1"); got != (Result{Unverified, NoneMethod, Unproven}) {
			t.Errorf("without proof: %+v", got)
		}
		f.ask("Listed", "192.0.2.9")
		if got := f.ask("Listed", "198.51.100.1"); got.State != Impostor {
			t.Errorf("with proof: %+v", got)
		}
		elsewhere := Client{Addr: netip.MustParseAddr("198.51.100.1"), Proof: new(Proof)}
		if got := f.checker.Address(f.registry.Lookup("Listed"), elsewhere, f.config.Now()); got.Reason != Unproven {
			t.Errorf("at another place: %+v", got)
		}
		elsewhere.Proof = nil
		if got := f.checker.Address(f.registry.Lookup("Listed"), elsewhere, f.config.Now()); got.Reason != Unproven {
			t.Errorf("at no place: %+v", got)
		}
		time.Sleep(proofPeriod + time.Second)
		synctest.Wait()
		if got := f.ask("Listed", "198.51.100.1"); got.Reason != Unproven {
			t.Errorf("a day later: %+v", got)
		}
	})
}

// A method that is switched off refutes nothing; where all are, claims have no method.
func TestMethodsSwitchedOff(t *testing.T) {
	for _, tc := range []struct {
		off        func(*Config)
		name, addr string
		want       Result
	}{
		{func(c *Config) { c.DNS = false }, "Both", "198.51.100.1", Result{Unverified, NoneMethod, MethodOff}},
		{func(c *Config) { c.DNS = false }, "Both", "192.0.2.9", Result{Verified, ListMethod, NoReason}},
		{func(c *Config) { c.DNS = false }, "Named", "203.0.113.5", Result{}},
		{func(c *Config) { c.Lists = false }, "Both", "198.51.100.1", Result{Unverified, NoneMethod, MethodOff}},
		{func(c *Config) { c.Lists = false }, "Listed", "192.0.2.9", Result{}},
		{func(c *Config) { c.Signatures = false }, "Signer", "192.0.2.9", Result{}},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, tc.off)
			settle(f)
			defer f.Close()
			f.askTwice("Named", "203.0.113.5")
			if got := f.askTwice(tc.name, tc.addr); got != tc.want {
				t.Errorf("%s from %s: %+v, want %+v", tc.name, tc.addr, got, tc.want)
			}
		})
	}
}

// A yes lives a day, a no an hour, a failure five minutes. A yes is looked up again in time, and no failure ends it early.
func TestLifetimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		settle(f)
		defer f.Close()
		f.askTwice("Named", "203.0.113.5")
		f.askTwice("Named", "198.51.100.1")
		asked := f.names.asked
		for range 50 {
			f.ask("Named", "203.0.113.5")
			f.ask("Named", "198.51.100.1")
		}
		time.Sleep(noLifetime - time.Minute)
		f.ask("Named", "198.51.100.1")
		synctest.Wait()
		if f.names.asked != asked {
			t.Errorf("%d lookups of what was known", f.names.asked-asked)
		}
		f.names.setFail(errors.New("no network"))
		time.Sleep(2 * time.Minute)
		if got := f.askTwice("Named", "198.51.100.1"); got.Reason != LookupFailed {
			t.Errorf("an hour later, without DNS: %+v", got)
		}
		time.Sleep(19 * time.Hour) // the yes is to be refreshed now
		for range 40 {
			if got := f.askTwice("Named", "203.0.113.5"); got.State != Verified {
				t.Fatalf("during an outage of DNS: %+v", got)
			}
			time.Sleep(time.Minute)
		}
		f.names.setFail(nil)
		time.Sleep(2 * time.Hour)
		f.askTwice("Named", "203.0.113.5")
		time.Sleep(12 * time.Hour) // longer than the first yes would have lived
		if got := f.ask("Named", "203.0.113.5"); got.State != Verified {
			t.Errorf("after the refresh: %+v", got)
		}
		time.Sleep(13 * time.Hour)
		if got := f.ask("Named", "203.0.113.5"); got.Reason != LookupPending {
			t.Errorf("a day after the last lookup: %+v", got)
		}
	})
}

// Many requests of one address cause one lookup.
func TestOneLookupForMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		block := &blockingResolver{release: make(chan struct{}), Resolver: f.names}
		f.Verifier.lookups.resolver = block
		settle(f)
		defer f.Close()
		for range 1000 {
			f.ask("Named", "203.0.113.5")
			f.ask("Both", "203.0.113.5") // the same suffixes
		}
		synctest.Wait()
		if n := f.Stats().InFlight; n != 1 {
			t.Errorf("%d lookups", n)
		}
		close(block.release)
		synctest.Wait()
		if got := f.ask("Both", "203.0.113.5"); got.State != Verified {
			t.Errorf("%+v", got)
		}
	})
}

type blockingResolver struct {
	Resolver
	release chan struct{}
}

func (b *blockingResolver) LookupAddr(ctx context.Context, addr string) ([]string, error) {
	select {
	case <-b.release:
		return b.Resolver.LookupAddr(ctx, addr)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A million forged addresses neither evict a verified one nor grow the cache beyond its size, nor delay another crawler's lookups.
func TestFloodOfImpostors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := append([]crawler.Crawler(nil), rows...)
		rows = append(rows, crawler.Crawler{Name: "Other", UserAgents: []string{"Other"}, Robots: []string{"Other"}, Class: crawler.Registered,
			Verify: crawler.Verify{Hosts: []string{"other.test"}}})
		f := newFixture(t)
		registry, err := new(crawler.Registry).With(rows...)
		if err != nil {
			t.Fatal(err)
		}
		if f.checker, err = f.Bind(registry); err != nil {
			t.Fatal(err)
		}
		f.registry = registry
		settle(f)
		defer f.Close()
		f.askTwice("Named", "203.0.113.5")
		named := registry.Lookup("Named")
		for i := range 1_000_000 {
			addr := netip.AddrFrom4([4]byte{byte(11 + i>>20), byte(i >> 12), byte(i >> 4), byte(i << 4)})
			f.checker.Address(named, Client{Addr: addr, Proof: &f.proof}, f.config.Now())
			if i%1000 == 0 {
				synctest.Wait()
			}
		}
		f.ask("Other", "203.0.113.7") // while lookups of the flood are waiting
		synctest.Wait()
		if f.events.lookups["other.test"] != 1 || f.events.dropped == 0 {
			t.Errorf("another crawler's lookup: %v, %d dropped", f.events.lookups, f.events.dropped)
		}
		if got := f.ask("Named", "203.0.113.5"); got.State != Verified {
			t.Errorf("the verified address: %+v", got)
		}
		s := f.Stats()
		if s.Confirmed != 1 || s.Refuted > shardCount*noSlots || s.Refuted < 10_000 || s.InFlight > setQueue+setWorkers+1 {
			t.Errorf("after the flood: %+v", s)
		}
	})
}

func TestExplain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.web.set(listURL, page(goodList))
		f.names.reverse["203.0.113.5"] = []string{"5.crawl.test."}
		f.names.forward["5.crawl.test."] = []netip.Addr{netip.MustParseAddr("203.0.113.5")}
		defer f.Close() // never started: Explain reads and asks by itself
		for _, tc := range []struct {
			name, addr string
			want       State
			steps      []State
		}{
			{"Both", "192.0.2.9", Verified, []State{Verified, Impostor}},
			{"Both", "203.0.113.5", Verified, []State{Impostor, Verified}},
			{"Both", "198.51.100.1", Impostor, []State{Impostor, Impostor}},
			{"Both", "10.0.0.1", Unverified, nil},
			{"Signer", "198.51.100.1", Unverified, []State{Unverified}},
			{"Plain", "198.51.100.1", NoMethod, nil},
		} {
			e := f.checker.Explain(t.Context(), f.registry.Lookup(tc.name), netip.MustParseAddr(tc.addr))
			if e.Result.State != tc.want || len(e.Steps) != len(tc.steps) {
				t.Errorf("%s from %s: %+v", tc.name, tc.addr, e)
				continue
			}
			for i, s := range e.Steps {
				if s.State != tc.steps[i] || s.Asked == "" || s.Answer == "" {
					t.Errorf("%s from %s: step %d is %+v, want %s", tc.name, tc.addr, i+1, s, tc.steps[i])
				}
			}
		}
		if n := f.web.count(listURL); n != 1 {
			t.Errorf("the list was read %d times", n)
		}
		f.names.setFail(errors.New("no network"))
		if e := f.checker.Explain(t.Context(), f.registry.Lookup("Both"), netip.MustParseAddr("198.51.100.2")); e.Result.Reason != LookupFailed {
			t.Errorf("without DNS: %+v", e)
		}
	})
}

// Every crawler of the built-in registry has facts that can be used.
func TestBuiltinRegistry(t *testing.T) {
	v := New(Config{Lists: true, DNS: true, Signatures: true})
	defer v.Close()
	c, err := v.Bind(crawler.Builtin())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Googlebot", "bingbot", "GPTBot", "Applebot", "CCBot", "Amazonbot", "AhrefsBot", "YandexBot", "Baiduspider"} {
		if s := c.subject(crawler.Builtin().Lookup(name)); s == nil || !s.refutable {
			t.Errorf("%s can't be refuted: %+v", name, s)
		}
	}
}

// What no Checker uses any longer is not read; what another one uses goes on.
func TestCloseOfCheckers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.web.set(listURL, page(goodList))
		f.Start()
		defer f.Close()
		again, err := f.Bind(f.registry)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		f.checker.Close()
		time.Sleep(13 * time.Hour)
		synctest.Wait()
		if n := f.web.count(listURL); n != 3 {
			t.Errorf("%d reads, want 3", n)
		}
		again.Close()
		time.Sleep(24 * time.Hour)
		if n := f.web.count(listURL); n != 3 || len(f.Sources()) != 0 {
			t.Errorf("%d reads, %v", n, f.Sources())
		}
		if got := f.ask("Listed", "192.0.2.9"); got.State != Verified {
			t.Errorf("a request on its way through a closed Checker: %+v", got)
		}
	})
}

// A row that can't be used leaves nothing behind.
func TestBindErrors(t *testing.T) {
	for want, facts := range map[string]crawler.Verify{
		"must begin with https://": {Ranges: []string{listURL, "http://operator.test/list.json"}},
		"belong to anybody":        {Ranges: []string{listURL}, Hosts: []string{"gae.googleusercontent.com"}},
		"is not the URL":           {SignatureAgents: []string{agentURI, "agent.test"}},
		"more than 32 suffixes":    {Hosts: make([]string, 33)},
	} {
		v := New(Config{Lists: true, DNS: true, Signatures: true})
		registry, err := new(crawler.Registry).With(crawler.Crawler{Name: "X1", UserAgents: []string{"X1"}, Robots: []string{"X1"}, Class: crawler.Registered, Verify: facts})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Bind(registry); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"X1"`) {
			t.Errorf("%v, want %q", err, want)
		}
		if n := len(v.Sources()); n != 0 {
			t.Errorf("%q: %d sources left", want, n)
		}
		v.Close()
	}
}

func TestNoAllocations(t *testing.T) {
	f := newFixture(t)
	defer f.Close()
	l, err := parseList(&response{body: []byte(goodList)}, nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	source := f.checker.subject(f.registry.Lookup("Both")).lists[0]
	source.current.Store(&held[*list]{l, copyInfo{Read: time.Now()}})
	names := f.checker.subject(f.registry.Lookup("Both")).names
	f.lookups.cache.put(makeKey(names.id, netip.MustParseAddr("203.0.113.5")), yes, time.Now())
	f.lookups.cache.put(makeKey(names.id, netip.MustParseAddr("203.0.113.6")), no, time.Now())
	row := f.registry.Lookup("Both")
	for _, addr := range []string{"192.0.2.9", "203.0.113.5", "203.0.113.6", "10.0.0.1"} {
		client := Client{Addr: netip.MustParseAddr(addr), Proof: &f.proof}
		if n := testing.AllocsPerRun(100, func() { f.checker.Address(row, client, time.Now()) }); n != 0 {
			t.Errorf("%s: %v allocations", addr, n)
		}
	}
}
