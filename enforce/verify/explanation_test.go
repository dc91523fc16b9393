package verify

import (
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
)

func TestExplainSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.web.set(listURL, page(goodList))
		f.names.reverse["203.0.113.5"] = []string{"5.crawl.test."}
		f.names.forward["5.crawl.test."] = []netip.Addr{netip.MustParseAddr("203.0.113.5")}
		f.names.reverse["203.0.113.6"] = []string{"5.crawl.test."}
		defer f.Close() // it is never started: Explain does its own reads and lookups
		for _, tc := range []struct {
			name, addr string
			want       claim.State
			steps      []claim.State
		}{
			{"Both", "192.0.2.9", claim.Verified, []claim.State{claim.Verified, claim.Impostor}},
			{"Both", "203.0.113.5", claim.Verified, []claim.State{claim.Impostor, claim.Verified}},
			{"Both", "198.51.100.1", claim.Impostor, []claim.State{claim.Impostor, claim.Impostor}},
			{"Both", "10.0.0.1", claim.Unverified, nil},
			{"Signer", "198.51.100.1", claim.Unverified, []claim.State{claim.Unverified}},
			{"Plain", "198.51.100.1", claim.NoMethod, nil},
		} {
			e := f.checker.Explain(t.Context(), f.registry.Lookup(tc.name), netip.MustParseAddr(tc.addr))
			if e.State != tc.want.String() || len(e.Steps) != len(tc.steps) {
				t.Errorf("%s from %s: %+v", tc.name, tc.addr, e)
				continue
			}
			for i, s := range e.Steps {
				if s.Says != tc.steps[i].String() || s.Asked == "" || s.Answer == "" {
					t.Errorf("%s from %s: step %d is %+v, want %s", tc.name, tc.addr, i+1, s, tc.steps[i])
				}
			}
		}
		forged := f.checker.Explain(t.Context(), f.registry.Lookup("Named"), netip.MustParseAddr("203.0.113.6"))
		if len(forged.Steps) != 1 || forged.Steps[0].Answer != "host name 5.crawl.test.; 5.crawl.test has other addresses only" {
			t.Errorf("a forged name: %+v", forged)
		}
		if n := f.web.count(listURL); n != 1 {
			t.Errorf("the list was read %d times, want once", n)
		}
		f.names.setFail(errors.New("no network"))
		if e := f.checker.Explain(t.Context(), f.registry.Lookup("Both"), netip.MustParseAddr("198.51.100.2")); e.Reason != string(claim.LookupFailed) {
			t.Errorf("without DNS: %+v", e)
		}
	})
}
