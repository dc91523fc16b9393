package verify

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
)

// A list is read at the start, and then every 6 hours with conditional requests. Status 304 means that the copy is current.
func TestConditionalReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		conditional := 0
		f.web.set(listURL, func(r *http.Request) *http.Response {
			if r.Header.Get("If-None-Match") == `"a"` {
				conditional++
				return answerWith(304, "")(r)
			}
			return page(goodList, "ETag", `"a"`)(r)
		})
		f.Start()
		defer f.Close()
		synctest.Wait()
		if got := f.ask("Listed", "192.0.2.9"); got != (claim.Result{State: claim.Verified, Method: claim.ListMethod}) {
			t.Fatalf("an address of the list: %+v", got)
		}
		for range 20 {
			time.Sleep(6 * time.Hour)
			synctest.Wait()
		}
		if conditional < 18 || conditional > 24 {
			t.Errorf("%d conditional reads in 5 days, want one every 5.5 to 6 hours", conditional)
		}
		if got := f.ask("Listed", "198.51.100.1"); got.Reason != claim.Unproven && got.State != claim.Impostor {
			t.Errorf("another address, after status 304: %+v", got)
		}
	})
}

// A bad document does not change the list in use, and the Observer receives the error.
func TestBadDocumentsDoNotChangeTheList(t *testing.T) {
	for _, tc := range badLists {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.web.set(listURL, page(goodList))
			f.Start()
			defer f.Close()
			synctest.Wait()
			f.web.set(listURL, page(tc.body))
			time.Sleep(7 * time.Hour)
			synctest.Wait()
			if got := f.ask("Listed", "192.0.2.9"); got.State != claim.Verified {
				t.Errorf("%s: %+v", tc.name, got)
			}
			if got := f.events.lastRead(listSource); !strings.Contains(got, tc.err) {
				t.Errorf("%s: the Observer received %q, want %q", tc.name, got, tc.err)
			}
		})
	}
}

// If the first read fails, claims are unverified.
func TestFirstReadFails(t *testing.T) {
	for name, p := range map[string]func(*http.Request) *http.Response{
		"304 without a copy":               answerWith(304, ""),
		"404":                              answerWith(404, "gone"),
		"500":                              answerWith(500, ""),
		"a redirect without Location":      answerWith(302, ""),
		"a redirect to itself":             answerWith(302, "", "Location", listURL),
		"a redirect to http":               answerWith(302, "", "Location", "http://operator.test/addresses.json"),
		"a redirect to another host":       answerWith(302, "", "Location", "https://other.test/addresses.json"),
		"a redirect to another port":       answerWith(302, "", "Location", "https://operator.test:8443/addresses.json"),
		"a redirect to a cloud's metadata": answerWith(302, "", "Location", "http://169.254.169.254/latest/"),
		"no network":                       nil,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.web.set(listURL, p)
			f.web.set("https://other.test/addresses.json", page(goodList))
			f.web.set("http://operator.test/addresses.json", page(goodList))
			f.web.set("https://operator.test:8443/addresses.json", page(goodList))
			f.web.set("http://169.254.169.254/latest/", page(goodList))
			f.Start()
			defer f.Close()
			synctest.Wait()
			if got := f.ask("Listed", "192.0.2.9"); got != (claim.Result{State: claim.Unverified, Reason: claim.ListMissing}) {
				t.Errorf("%s: %+v", name, got)
			}
			if got := f.events.lastRead(listSource); got == "" || got == "none" {
				t.Errorf("%s: the Observer received %q, want an error", name, got)
			}
		})
	}
}

func TestRedirectsToTheSameHostOrItsWWWHost(t *testing.T) {
	for _, to := range []string{"https://operator.test/new.json", "https://www.operator.test/addresses.json"} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t)
			f.web.set(listURL, answerWith(302, "", "Location", to))
			f.web.set(to, page(goodList))
			f.Start()
			defer f.Close()
			synctest.Wait()
			if got := f.ask("Listed", "192.0.2.9"); got.State != claim.Verified {
				t.Errorf("%s: %+v, %s", to, got, f.events.lastRead(listSource))
			}
		})
	}
}

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

// After a restart without network, the stored copy is used with the time of its last read, until the network is back.
func TestRestartWithoutNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := newFixture(t)
		before.web.set(listURL, page(goodList, "ETag", `"a"`))
		before.Start()
		synctest.Wait()
		before.Close()

		for _, offline := range []time.Duration{time.Hour, 4 * 24 * time.Hour} {
			time.Sleep(offline)
			f := newFixture(t, func(c *Config) { c.Storage = before.storage })
			f.Start()
			synctest.Wait()
			if got := f.ask("Listed", "192.0.2.9"); got.State != claim.Verified {
				t.Errorf("after %s without network: %+v", offline, got)
			}
			want := claim.Impostor
			if offline > FreshPeriod {
				want = claim.Unverified
			}
			if got := f.ask("Listed", "198.51.100.1"); got.State != want {
				t.Errorf("after %s without network, another address: %+v", offline, got)
			}
			f.web.set(listURL, page(goodList, "ETag", `"b"`))
			time.Sleep(7 * time.Hour)
			synctest.Wait()
			if got := f.ask("Listed", "198.51.100.1"); got.State == claim.Verified || got.Reason == claim.ListOld {
				t.Errorf("with network again: %+v", got)
			}
			f.Close()
		}
	})
}

// Verification works without a working storage, and the state of the source has the error.
func TestStorageFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.storage.broken = true
		f.web.set(listURL, page(goodList))
		f.Start()
		defer f.Close()
		synctest.Wait()
		if got := f.ask("Listed", "192.0.2.9"); got.State != claim.Verified {
			t.Errorf("%+v", got)
		}
		if !slices.ContainsFunc(f.Sources(), func(s SourceState) bool { return s.StorageError != nil }) {
			t.Error("no source has the error")
		}
	})
}

// After a failed read, the next one follows after 1, 2, 4 … minutes, so a list is read soon after an outage ends.
func TestRetriesAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		f.Start()
		defer f.Close()
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := f.web.count(listURL); n < 4 || n > 9 {
			t.Errorf("%d reads in an hour without network, want 4 to 9", n)
		}
		f.web.set(listURL, page(goodList))
		time.Sleep(time.Hour + 5*time.Minute)
		synctest.Wait()
		if got := f.ask("Listed", "192.0.2.9"); got.State != claim.Verified {
			t.Errorf("%+v", got)
		}
	})
}
