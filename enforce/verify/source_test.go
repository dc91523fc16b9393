package verify

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
)

// draft-ietf-webbotauth-httpsig-protocol-01, section 5.5: the keys are where the agent says, with status 200.
func TestDirectoriesAreReadWithoutRedirects(t *testing.T) {
	s := newEd25519Signer()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		elsewhere := agentURI + "/keys.json"
		f.web.set(directoryAt, answerWith(302, "", "Location", elsewhere))
		f.web.set(elsewhere, s.directory())
		f.Start()
		defer f.Close()
		synctest.Wait()
		if n := f.web.count(elsewhere); n != 0 {
			t.Errorf("the redirect was followed %d times", n)
		}
		if got := f.events.lastRead(DirectorySource); !strings.Contains(got, "status 302") {
			t.Errorf("the read: %s", got)
		}
		if row, got := f.check(s.request(agentMember, s.params(f.config.Now(), ""), authority, coveredBot), ""); got.Reason != claim.DirectoryMissing {
			t.Errorf("%q, %+v, want %s", row, got, claim.DirectoryMissing)
		}
	})
}

// A list that was last read more than 3 days ago can confirm a claim, but not refute it.
func TestOldListOnlyConfirms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.web.set(listURL, page(goodList))
		f.Start()
		defer f.Close()
		synctest.Wait()
		f.web.set(listURL, nil)
		time.Sleep(FreshPeriod - time.Hour)
		f.ask("Listed", "192.0.2.9")
		if got := f.ask("Listed", "198.51.100.1"); got.State != claim.Impostor {
			t.Errorf("before 3 days: %+v", got)
		}
		time.Sleep(2 * time.Hour)
		if got := f.ask("Listed", "198.51.100.1"); got != (claim.Result{State: claim.Unverified, Reason: claim.ListOld}) {
			t.Errorf("after 3 days: %+v", got)
		}
		if got := f.ask("Listed", "192.0.2.9"); got.State != claim.Verified {
			t.Errorf("an address of the list after 3 days: %+v", got)
		}
	})
}

// A list with far fewer addresses is refused for 7 days, and then accepted.
func TestShorterListIsAcceptedAfterAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.web.set(listURL, page("192.0.2.1\n192.0.2.2\n192.0.2.3\n192.0.2.4\n192.0.2.5\n"))
		f.Start()
		defer f.Close()
		synctest.Wait()
		f.web.set(listURL, page("192.0.2.1\n"))
		time.Sleep(6 * 24 * time.Hour)
		synctest.Wait()
		if got := f.ask("Listed", "192.0.2.5"); got.State != claim.Verified {
			t.Errorf("after 6 days: %+v", got)
		}
		time.Sleep(2 * 24 * time.Hour)
		synctest.Wait()
		if got := f.ask("Listed", "192.0.2.5"); got.State == claim.Verified {
			t.Errorf("after 8 days: %+v", got)
		}
	})
}
