package verify

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// A confirmed address is cached for a day, a refuted one for an hour, a failed lookup for 5 minutes. A confirmed address is looked up again
// before it expires, and a failure does not remove it.
func TestLifetimesOfDNSAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		startWithData(f)
		defer f.Close()
		f.askTwice("Named", "203.0.113.5")
		f.askTwice("Named", "198.51.100.1")
		asked := f.names.asked
		for range 50 {
			f.ask("Named", "203.0.113.5")
			f.ask("Named", "198.51.100.1")
		}
		time.Sleep(lifetimes[refuted] - time.Minute)
		f.ask("Named", "198.51.100.1")
		synctest.Wait()
		if f.names.asked != asked {
			t.Errorf("%d lookups of cached addresses, want none", f.names.asked-asked)
		}
		f.names.setFail(errors.New("no network"))
		time.Sleep(2 * time.Minute)
		if got := f.askTwice("Named", "198.51.100.1"); got.Reason != claim.LookupFailed {
			t.Errorf("an hour later, without DNS: %+v", got)
		}
		time.Sleep(19 * time.Hour) // now the confirmed address needs a refresh
		for range 40 {
			if got := f.askTwice("Named", "203.0.113.5"); got.State != claim.Verified {
				t.Fatalf("during an outage of DNS: %+v", got)
			}
			time.Sleep(time.Minute)
		}
		f.names.setFail(nil)
		time.Sleep(2 * time.Hour)
		f.askTwice("Named", "203.0.113.5")
		time.Sleep(12 * time.Hour) // longer than the lifetime of the first answer
		if got := f.ask("Named", "203.0.113.5"); got.State != claim.Verified {
			t.Errorf("after the refresh: %+v", got)
		}
		time.Sleep(13 * time.Hour)
		if got := f.ask("Named", "203.0.113.5"); got.Reason != claim.LookupPending {
			t.Errorf("a day after the last lookup: %+v", got)
		}
	})
}

// Many requests from one address cause one lookup.
func TestRequestsFromOneAddressShareALookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		block := &blockingResolver{release: make(chan struct{}), Resolver: f.names}
		f.Verifier.config.Resolver = block
		startWithData(f)
		defer f.Close()
		for range 1000 {
			f.ask("Named", "203.0.113.5")
			f.ask("Both", "203.0.113.5") // the same suffixes
		}
		synctest.Wait()
		if _, n := f.stats(); n != 1 {
			t.Errorf("%d lookups, want 1", n)
		}
		close(block.release)
		synctest.Wait()
		if got := f.ask("Both", "203.0.113.5"); got.State != claim.Verified {
			t.Errorf("%+v", got)
		}
	})
}

// blockingResolver blocks LookupAddr until release is closed.
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

// A million addresses of impostors do not displace a verified address, do not grow the cache beyond its size, and do not delay lookups for
// another crawler.
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
		startWithData(f)
		defer f.Close()
		f.askTwice("Named", "203.0.113.5")
		named := registry.Lookup("Named")
		for i := range 2 * maxAnswers {
			addr := netip.AddrFrom4([4]byte{byte(11 + i>>20), byte(i >> 12), byte(i >> 4), byte(i << 4)})
			f.checker.Address(named, claim.Client{Addr: addr, Proof: &f.proof}, f.config.Now())
			if i%1000 == 0 {
				synctest.Wait()
			}
		}
		f.ask("Other", "203.0.113.7") // while lookups of the flood are queued
		synctest.Wait()
		if f.events.lookups["other.test"] != 1 || f.events.dropped == 0 {
			t.Errorf("lookups for another crawler: %v; %d dropped", f.events.lookups, f.events.dropped)
		}
		if got := f.ask("Named", "203.0.113.5"); got.State != claim.Verified {
			t.Errorf("the verified address: %+v", got)
		}
		n, pending := f.stats()
		if n[confirmed] != 1 || n[refuted] > maxAnswers+7 || n[refuted] < 10_000 || pending > setQueue+setWorkers+1 {
			t.Errorf("after the flood: %d, %d in flight", n, pending)
		}
	})
}
