package enforce

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// acmeRules are rules with a crawler Acme, whose User-Agent token is AcmeBot.
func acmeRules(t *testing.T, exempt ...judge.Exemption) judge.Settings {
	t.Helper()
	registry, err := crawler.Builtin().With(crawler.Crawler{Name: "Acme", Class: crawler.Registered, UserAgents: []string{"AcmeBot"}, Robots: []string{"AcmeBot"}})
	if err != nil {
		t.Fatal(err)
	}
	return judge.Settings{Registry: registry, Exempt: exempt}
}

func from(name string, prefixes ...string) judge.Exemption {
	x := judge.Exemption{Name: name}
	for _, p := range prefixes {
		x.From = append(x.From, netip.MustParsePrefix(p))
	}
	return x
}

func TestCheckFirstWithAnExemptionForAddresses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		exempt []judge.Exemption
		agent  string
		client string
		want   judge.Reason
		from   string // of ExemptFrom
	}{
		{"no exemption", nil, "AcmeBot", "192.0.2.1", judge.Disallowed, "[]"},
		{"all addresses", []judge.Exemption{from("Acme")}, "AcmeBot", "", judge.Exempt, "[]"},
		{"no address", []judge.Exemption{from("Acme", "192.0.2.0/24")}, "AcmeBot", "", judge.Disallowed, "[192.0.2.0/24]"},
		{"an exempt address", []judge.Exemption{from("Acme", "192.0.2.0/24")}, "AcmeBot", "192.0.2.7", judge.Exempt, "[192.0.2.0/24]"},
		{"an exempt IPv4 address in IPv6 form", []judge.Exemption{from("Acme", "192.0.2.0/24")}, "AcmeBot", "::ffff:192.0.2.7", judge.Exempt, "[192.0.2.0/24]"},
		{"another address", []judge.Exemption{from("Acme", "192.0.2.0/24")}, "AcmeBot", "203.0.113.7", judge.Disallowed, "[192.0.2.0/24]"},
		{"another crawler", []judge.Exemption{from("GPTBot", "192.0.2.0/24")}, "AcmeBot", "192.0.2.7", judge.Disallowed, "[]"},
		{"the first of two exemptions by name", []judge.Exemption{from("Acme", "192.0.2.0/24"), from("Acme", "203.0.113.0/24")}, "AcmeBot", "192.0.2.7", judge.Exempt, "[192.0.2.0/24 203.0.113.0/24]"},
		{"the second of two exemptions by name", []judge.Exemption{from("Acme", "192.0.2.0/24"), from("Acme", "203.0.113.0/24")}, "AcmeBot", "203.0.113.7", judge.Exempt, "[192.0.2.0/24 203.0.113.0/24]"},
		{"all addresses, then some", []judge.Exemption{from("Acme"), from("Acme", "203.0.113.0/24")}, "AcmeBot", "198.51.100.1", judge.Exempt, "[]"},
		{"a token that the registry does not have", []judge.Exemption{from("NewThingBot", "192.0.2.0/24")}, "NewThingBot", "", judge.Disallowed, "[192.0.2.0/24]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := acmeRules(t, tt.exempt...).Rules(judge.Response{Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /\n")})
			if err != nil {
				t.Fatal(err)
			}
			var d judge.Decision
			p.CheckFirst(&judge.Request{Target: "/", UserAgents: []string{tt.agent}, Client: tt.client, Assumed: true, Time: time.Unix(0, 0)}, nil, &d)
			if d.Reason != tt.want {
				t.Errorf("%v, want %v", d.Reason, tt.want)
			}
			if got := fmt.Sprint(p.ExemptFrom(&d.Agent)); got != tt.from {
				t.Errorf("exempt from %s, want %s", got, tt.from)
			}
		})
	}
}

// An assumed address does not refute a claim that the address of a request
// refutes. It counts only for exemptions.
func TestAssumedAddressDoesNotCountForVerification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVerifiedTest(t, judge.Settings{Exempt: []judge.Exemption{from("ListBot", "198.51.100.0/24")}})
		synctest.Wait()
		v.wants(t, "192.0.2.1", listbot, "/", claim.Verified, judge.Allowed)
		v.wants(t, "203.0.113.77", listbot, "/", claim.Impostor, judge.Impostor)
		for client, want := range map[string]judge.Reason{"203.0.113.77": judge.Allowed, "198.51.100.7": judge.Exempt} {
			var d judge.Decision
			r := &judge.Request{Target: "/", UserAgents: []string{listbot}, Client: client, Assumed: true, Time: v.clock.Now()}
			v.Origins().Peek(r).Check(r, &d)
			if d.Reason != want || d.Claim.State != claim.Unverified {
				t.Errorf("%s: %v, %v", client, d.Reason, d.Claim)
			}
		}
	})
}
