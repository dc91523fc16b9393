package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// verified returns the configuration of a site with three crawlers: verified by list
// and DNS, by DNS, and by signature.
func (o *operators) verified(global, more string) string {
	return fmt.Sprintf(`{
	metrics
	%s
}
http://:$PORT {
	robots {
		source inline "User-agent: *
Disallow: /private/"
		verify {
			resolver %s
		}
		crawler ListBot {
			verify lists %s/list.json
			verify dns crawl.test
		}
		crawler NameBot {
			verify dns crawl.test
		}
		crawler SignBot {
			verify signatures %[3]s
		}
		%s
	}
	header >X-Verified {http.robots.verified}
	header >X-Verify {http.robots.verify}
	respond "hello"
}
`, global, o.resolver, o.web.URL, more)
}

const trustedProxies = "servers {\n\t\ttrusted_proxies static 127.0.0.1/8 ::1/128\n\t}"

// via sends a request with a client address, in the same way as a proxy.
func (s *server) via(addr, ua, path string) response {
	s.t.Helper()
	return s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, "", http.Header{"X-Forwarded-For": {addr}})
}

// becomes waits until a client has a state of verification.
func (s *server) becomes(state, addr, ua string) {
	s.t.Helper()
	s.eventually(fmt.Sprintf("%s from %s is %s", ua, addr, state), func() bool {
		return s.via(addr, ua, "/robots-free").header.Get("X-Verified") == state
	})
}

// DNS verifies the crawler that a name leads back to. A name of its operator that leads to
// another address, and none, refute a claim; a name without an address does neither.
func TestVerificationByDNS(t *testing.T) {
	t.Parallel()
	o := newOperators(t)
	s := start(t, o.verified(trustedProxies, "exempt NameBot"))
	s.becomes("verified", namedAddr, "ListBot/1.0")
	s.becomes("verified", namedAddr, "NameBot/1.0")
	s.eventually("a name that leads to another address is forged", func() bool { return s.via("203.0.113.6", "ListBot/1.0", "/").status == 403 })
	s.via("203.0.113.7", "ListBot/1.0", "/")
	s.eventually("the look-up has failed", func() bool { return s.metric(`caddy_robots_verification_lookups_total{outcome="unverified"}`) > 0 })
	s.wants(200, s.via("203.0.113.7", "ListBot/1.0", "/"), "a name without an address")
	s.eventually("an impostor is not exempt", func() bool { return s.via(strangerAddr, "NameBot/1.0", "/private/x").status == 403 })
	s.wants(200, s.via(namedAddr, "NameBot/1.0", "/private/x"), "the exempt crawler itself")
}

// A signature identifies a crawler that sends a browser's User-Agent, and the
// crawler's rules apply.
func TestSignedRequests(t *testing.T) {
	t.Parallel()
	o := newOperators(t)
	s := start(t, o.verified("", ""))
	host := fmt.Sprintf("localhost:%d", s.port)
	nonce := 0
	get := func(path, ua string, change func(*http.Request)) response {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, "http://"+host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		nonce++
		o.sign(r, host, fmt.Sprint(nonce))
		r.Header.Set("User-Agent", ua)
		if change != nil {
			change(r)
		}
		resp, err := send(client, r.Method, r.URL.String(), ua, "", r.Header)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	s.eventually("the keys are read", func() bool { return get("/", chrome, nil).header.Get("X-Verified") == "verified" })
	s.wants(403, get("/private/x", chrome, nil), "a signed request with a browser's User-Agent")
	s.wants(403, get("/private/x", "SignBot/1.0", nil), "a signed request with its own")
	s.wants(200, s.get(chrome, "/private/x"), "a person")
	for name, change := range map[string]func(*http.Request){
		"a stranger's signature": func(r *http.Request) { r.Header.Set("Signature", "s=:"+strings.Repeat("A", 86)+"==:") },
		"another host":           func(r *http.Request) { o.sign(r, "other.test", "x") },
		"another directory":      func(r *http.Request) { r.Header.Set("Signature-Agent", `s="https://stranger.test"`) },
		"octets":                 func(r *http.Request) { r.Header.Set("Signature-Input", strings.Repeat("(", 5000)) },
	} {
		s.wants(200, get("/private/x", chrome, change), name)
	}
	const accept = `sig1=("@authority" "signature-agent";key="sig1");created;expires;tag="web-bot-auth"`
	wrong := func(r *http.Request) { r.Header.Set("Signature", "s=:"+strings.Repeat("A", 86)+"==:") }
	unsigned := func(r *http.Request) { r.Header.Del("Signature"); r.Header.Del("Signature-Input") }
	for _, tt := range []struct {
		name, path, ua, verify, accept string
		change                         func(*http.Request)
	}{
		{"a signature that is not valid", "/", "SignBot/1.0", "signature_wrong", "", wrong},
		{"no signature, from an address that is not public", "/", "SignBot/1.0", "address_special", "", unsigned},
		{"a signature", "/", "SignBot/1.0", "signature", "", nil},
		{"a person's invalid signature", "/", chrome, "", "", wrong},
		{"a refusal without signature", "/private/x", "SignBot/1.0", "", accept, unsigned},
		{"a refusal with a signature", "/private/x", "SignBot/1.0", "", "", nil},
		{"a crawler that does not sign", "/private/x", "OtherBot/1.0", "", "", unsigned},
	} {
		got := get(tt.path, tt.ua, tt.change)
		if got.status == 200 && got.header.Get("X-Verify") != tt.verify || got.header.Get("Accept-Signature") != tt.accept {
			t.Errorf("%s: %d, verify %q, Accept-Signature %q", tt.name, got.status, got.header.Get("X-Verify"), got.header.Get("Accept-Signature"))
		}
	}
	replayed := func(r *http.Request) { o.sign(r, host, "once") }
	s.wants(403, get("/private/x", chrome, replayed), "the first use of a nonce")
	s.wants(200, get("/private/x", chrome, replayed), "its second use")
}
