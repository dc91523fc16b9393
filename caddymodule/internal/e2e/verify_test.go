package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// verified returns the configuration of a site with four crawlers: verified by list
// and DNS, by DNS, by list, and by signature.
func (o *operators) verified(global, verify, more string) string {
	return fmt.Sprintf(`{
	metrics
	%s
}
http://:$PORT {
	robots {
		source inline "User-agent: *
Disallow: /private/

User-agent: SlowBot
Crawl-delay: 1000
"
		publish
		verify {
			resolver %s
			%s
		}
		crawler ListBot {
			verify lists %s/list.json
			verify dns crawl.test
		}
		crawler NameBot {
			verify dns crawl.test
		}
		crawler SlowBot {
			verify lists %[4]s/list.json
		}
		crawler SignBot {
			verify signatures %[4]s
		}
		%s
	}
	header >X-Verified {http.robots.verified}
	header >X-Verify {http.robots.verify}
	@verified robots verified
	respond @verified "matched"
	respond "hello"
}
`, global, o.resolver, verify, o.web.URL, more)
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

func TestVerifiedCrawlersAndImpostors(t *testing.T) {
	t.Parallel()
	o := newOperators(t)
	s := start(t, o.verified(trustedProxies, "", "exempt NameBot"))
	s.becomes("verified", listedAddr, "ListBot/1.0")
	s.becomes("verified", namedAddr, "ListBot/1.0")
	s.becomes("verified", namedAddr, "NameBot/1.0")
	if got := s.via(listedAddr, "ListBot/1.0", "/").body; got != "matched" {
		t.Errorf("the matcher: %q", got)
	}
	if got := s.via(listedAddr, chrome, "/").body; got != "hello" {
		t.Errorf("the matcher for a person: %q", got)
	}
	s.wants(403, s.via(listedAddr, "ListBot/1.0", "/private/x"), "a verified crawler on a disallowed path")

	s.eventually("an impostor is denied", func() bool { return s.via(strangerAddr, "ListBot/1.0", "/").status == 403 })
	denied := s.via(strangerAddr, "ListBot/1.0", "/")
	if !strings.Contains(denied.body, "robots.txt") || denied.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the answer to an impostor: %+v", denied)
	}
	s.wants(200, s.via(strangerAddr, "ListBot/1.0", "/robots.txt"), "an impostor's /robots.txt")
	s.wants(200, s.via(strangerAddr, "ListBot/1.0", "/.well-known/x"), "an impostor at an exempt path")
	s.wants(200, s.via(strangerAddr, chrome, "/private/x"), "a person from the same address")
	unsigned := s.via(strangerAddr, "SignBot/1.0", "/")
	s.wants(200, unsigned, "an unsigned request of a crawler that can only be verified by signature")
	if got := unsigned.header.Get("X-Verify"); got != "signature_missing" {
		t.Errorf("an unsigned request: verify %q", got)
	}
	s.eventually("a name that leads to another address is forged", func() bool { return s.via("203.0.113.6", "ListBot/1.0", "/").status == 403 })
	s.via("203.0.113.7", "ListBot/1.0", "/")
	s.eventually("the look-up has failed", func() bool { return s.metric(`caddy_robots_verification_lookups_total{outcome="unverified"}`) > 0 })
	s.wants(200, s.via("203.0.113.7", "ListBot/1.0", "/"), "a name without an address")
	s.eventually("an impostor is not exempt", func() bool { return s.via(strangerAddr, "NameBot/1.0", "/private/x").status == 403 })
	s.wants(200, s.via(namedAddr, "NameBot/1.0", "/private/x"), "the exempt crawler itself")

	// Addresses of these kinds are neither verified nor refuted.
	for _, addr := range []string{"10.0.0.1", "100.64.0.1", "169.254.0.1", "::1", "fd00::1", "unknown",
		"192.0.2.9, 198.51.100.1", "198.51.100.1, 192.0.2.9", "192.0.2.9, 127.0.0.1"} {
		resp := s.via(addr, "ListBot/1.0", "/")
		if s.wants(200, resp, addr); resp.header.Get("X-Verified") != "unverified" {
			t.Errorf("%s: %s", addr, resp.header.Get("X-Verified"))
		}
	}

	if n := s.metric(`caddy_robots_verifications_total{crawler="ListBot",outcome="impostor"}`); n < 2 {
		t.Errorf("%v impostors counted", n)
	}
	for _, name := range []string{
		`caddy_robots_verifications_total{crawler="ListBot",outcome="verified"}`,
		`caddy_robots_decisions_total{action="deny",crawler="ListBot",reason="impostor"}`,
		fmt.Sprintf(`caddy_robots_verification_age_seconds{kind="list",url="%s/list.json"}`, o.web.URL),
	} {
		if s.metric(name) <= 0 {
			t.Errorf("%s is not above 0", name)
		}
	}
	if lines := s.lines("a client is not the crawler that its User-Agent names"); len(lines) == 0 || len(lines) > 4 || lines[0]["client_ip"] != strangerAddr {
		t.Errorf("%d lines about impostors: %v", len(lines), lines)
	}
	s.reasonsAddUp("disallowed", "impostor")

	// A reload keeps the results.
	if err := s.reload(o.verified(trustedProxies, "", "exempt NameBot")); err != nil {
		t.Fatal(err)
	}
	s.wants(403, s.via(strangerAddr, "ListBot/1.0", "/"), "an impostor after a reload")
	if got := s.via(namedAddr, "NameBot/1.0", "/").header.Get("X-Verified"); got != "verified" {
		t.Errorf("a crawler after a reload: %s", got)
	}
}

// With trusted_proxies_strict, a field with several values gives a reliable client
// address.
func TestSeveralForwardedAddresses(t *testing.T) {
	t.Parallel()
	o := newOperators(t)
	s := start(t, o.verified("servers {\n\t\ttrusted_proxies static 127.0.0.1/8 ::1/128\n\t\ttrusted_proxies_strict\n\t}", "", ""))
	s.becomes("verified", "198.51.100.1, 192.0.2.9", "ListBot/1.0")
	s.eventually("an impostor is denied", func() bool { return s.via("192.0.2.9, 198.51.100.1", "ListBot/1.0", "/").status == 403 })
}

// A signature identifies a crawler that sends a browser's User-Agent, and the
// crawler's rules apply.
func TestSignedRequests(t *testing.T) {
	t.Parallel()
	o := newOperators(t)
	s := start(t, o.verified("", "", ""))
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
	wrong := func(r *http.Request) { r.Header.Set("Signature", "s=:"+strings.Repeat("A", 86)+"==:") }
	unsigned := func(r *http.Request) { r.Header.Del("Signature"); r.Header.Del("Signature-Input") }
	for _, tt := range []struct {
		name, path, ua, verify string
		change                 func(*http.Request)
	}{
		{"a signature that is not valid", "/", "SignBot/1.0", "signature_wrong", wrong},
		{"no signature, from an address that is not public", "/", "SignBot/1.0", "address_special", unsigned},
		{"a signature", "/", "SignBot/1.0", "signature", nil},
		{"a person's invalid signature", "/", chrome, "", wrong},
		{"a refusal without signature", "/private/x", "SignBot/1.0", "", unsigned},
		{"a refusal with a signature", "/private/x", "SignBot/1.0", "", nil},
		{"a crawler that does not sign", "/private/x", "OtherBot/1.0", "", unsigned},
	} {
		got := get(tt.path, tt.ua, tt.change)
		if got.status == 200 && got.header.Get("X-Verify") != tt.verify {
			t.Errorf("%s: %d, verify %q", tt.name, got.status, got.header.Get("X-Verify"))
		}
	}
	replayed := func(r *http.Request) { o.sign(r, host, "once") }
	s.wants(403, get("/private/x", chrome, replayed), "the first use of a nonce")
	s.wants(200, get("/private/x", chrome, replayed), "its second use")
}

// After a restart without network, the stored copies of the lists are used.
func TestRestartWithoutNetworkUsesStoredLists(t *testing.T) {
	t.Parallel()
	o := newOperators(t)
	config := o.verified(trustedProxies, "", "")
	s := start(t, config)
	s.becomes("verified", listedAddr, "ListBot/1.0")
	s.eventually("the copies are in storage", func() bool {
		files, _ := filepath.Glob(filepath.Join(s.dir, "caddy", "robots", "verify", "*.json"))
		return len(files) == 2
	})
	_ = s.cmd.Process.Kill()
	o.down.Store(true)
	again := startIn(t, s, config)
	again.becomes("verified", listedAddr, "ListBot/1.0")
	again.eventually("an impostor is denied", func() bool { return again.via(strangerAddr, "ListBot/1.0", "/").status == 403 })
}

// If a list of addresses had an address too late, the operator learns how many of its
// requests were refused. Other impostors are not counted.
func TestMistakenImpostors(t *testing.T) {
	t.Parallel()
	o := newOperators(t)
	later := httptest.NewServer(text(200, `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ipv4Prefix":"198.51.100.0/24"}]}`))
	t.Cleanup(later.Close)
	config := o.verified(trustedProxies, "", "")
	s := start(t, config)
	s.becomes("verified", listedAddr, "ListBot/1.0")
	for _, addr := range []string{strangerAddr, "198.51.100.2", "203.0.113.6"} {
		s.eventually("an impostor is denied", func() bool { return s.via(addr, "ListBot/1.0", "/x").status == 403 })
	}
	for _, p := range adminValue[statusapi.Health](s, "health").Problems {
		if p.Kind == "impostors" && (p.Severity != statusapi.Remark || !strings.HasPrefix(p.Message, "Handled: impostors of ListBot, from ") || len(p.Actions) > 0) {
			t.Errorf("before: %+v", p)
		}
	}
	if err := s.reload(strings.ReplaceAll(config, o.web.URL+"/list.json", later.URL)); err != nil {
		t.Fatal(err)
	}
	s.becomes("verified", strangerAddr, "ListBot/1.0")
	problems := slices.DeleteFunc(adminValue[statusapi.Health](s, "health").Problems, func(p statusapi.Problem) bool { return p.Kind != "impostors" })
	const message = "at least 2 requests of ListBot at localhost, refused as those of impostors, came from addresses that are verified now"
	if len(problems) != 1 || problems[0].Crawler != "ListBot" || problems[0].Message != message {
		t.Errorf("%+v", problems)
	}
	if text, err := s.status(); !strings.Contains(text, message) || strings.Contains(text, strangerAddr) {
		t.Errorf("status: %v\n%s", err, text)
	}
	if recent := s.adminRequest(http.MethodGet, "", 200, new(any)).body; strings.Contains(recent, strangerAddr) {
		t.Errorf("whole addresses are shown: %s", recent)
	}
}
