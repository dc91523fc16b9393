package enforce

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
)

// acmeRules are rules with a crawler Acme, whose User-Agent token is AcmeBot.
func acmeRules(t *testing.T, exempt ...Exemption) Settings {
	t.Helper()
	registry, err := crawler.Builtin().With(crawler.Crawler{Name: "Acme", Class: crawler.Registered, UserAgents: []string{"AcmeBot"}, Robots: []string{"AcmeBot"}})
	if err != nil {
		t.Fatal(err)
	}
	return Settings{Registry: registry, Exempt: exempt}
}

func from(name string, prefixes ...string) Exemption {
	x := Exemption{Name: name}
	for _, p := range prefixes {
		x.From = append(x.From, netip.MustParsePrefix(p))
	}
	return x
}

func TestCheckFirstWithAnExemptionForAddresses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		exempt []Exemption
		agent  string
		client string
		want   Reason
		from   string // of ExemptFrom
	}{
		{"no exemption", nil, "AcmeBot", "192.0.2.1", Disallowed, "[]"},
		{"all addresses", []Exemption{from("Acme")}, "AcmeBot", "", Exempt, "[]"},
		{"no address", []Exemption{from("Acme", "192.0.2.0/24")}, "AcmeBot", "", Disallowed, "[192.0.2.0/24]"},
		{"an exempt address", []Exemption{from("Acme", "192.0.2.0/24")}, "AcmeBot", "192.0.2.7", Exempt, "[192.0.2.0/24]"},
		{"an exempt IPv4 address in IPv6 form", []Exemption{from("Acme", "192.0.2.0/24")}, "AcmeBot", "::ffff:192.0.2.7", Exempt, "[192.0.2.0/24]"},
		{"another address", []Exemption{from("Acme", "192.0.2.0/24")}, "AcmeBot", "203.0.113.7", Disallowed, "[192.0.2.0/24]"},
		{"another crawler", []Exemption{from("GPTBot", "192.0.2.0/24")}, "AcmeBot", "192.0.2.7", Disallowed, "[]"},
		{"the first of two exemptions by name", []Exemption{from("Acme", "192.0.2.0/24"), from("Acme", "203.0.113.0/24")}, "AcmeBot", "192.0.2.7", Exempt, "[192.0.2.0/24 203.0.113.0/24]"},
		{"the second of two exemptions by name", []Exemption{from("Acme", "192.0.2.0/24"), from("Acme", "203.0.113.0/24")}, "AcmeBot", "203.0.113.7", Exempt, "[192.0.2.0/24 203.0.113.0/24]"},
		{"all addresses, then some", []Exemption{from("Acme"), from("Acme", "203.0.113.0/24")}, "AcmeBot", "198.51.100.1", Exempt, "[]"},
		{"a token that the registry does not have", []Exemption{from("NewThingBot", "192.0.2.0/24")}, "NewThingBot", "", Disallowed, "[192.0.2.0/24]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := acmeRules(t, tt.exempt...).Rules(Response{Status: http.StatusOK, Body: []byte("User-agent: *\nDisallow: /\n")})
			if err != nil {
				t.Fatal(err)
			}
			var d Decision
			p.CheckFirst(&Request{Target: "/", UserAgents: []string{tt.agent}, Client: tt.client, Assumed: true, Time: time.Unix(0, 0)}, nil, &d)
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
		v := newVerifiedTest(t, Settings{Exempt: []Exemption{from("ListBot", "198.51.100.0/24")}})
		synctest.Wait()
		v.wants(t, "192.0.2.1", listbot, "/", verify.Verified, Allowed)
		v.wants(t, "203.0.113.77", listbot, "/", verify.Impostor, Impostor)
		for client, want := range map[string]Reason{"203.0.113.77": Allowed, "198.51.100.7": Exempt} {
			var d Decision
			r := &Request{Target: "/", UserAgents: []string{listbot}, Client: client, Assumed: true, Time: v.clock.now()}
			v.Origins().Peek(r).Check(r, &d)
			if d.Reason != want || d.Claim.State != verify.Unverified {
				t.Errorf("%s: %v, %v", client, d.Reason, d.Claim)
			}
		}
	})
}
