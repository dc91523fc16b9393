package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const trustedProxies = "servers {\n\t\ttrusted_proxies static 127.0.0.1/8 ::1/128\n\t}"

// via sends a request with a client address, in the same way as a proxy.
func (s *server) via(addr, ua, path string) response {
	s.t.Helper()
	return s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, "", http.Header{"X-Forwarded-For": {addr}})
}

// A signature identifies a crawler that sends a browser's User-Agent, and the
// crawler's rules apply. One that is not valid changes nothing for a browser.
func TestSignedRequests(t *testing.T) {
	t.Parallel()
	o := newOperators(t)
	s := start(t, fmt.Sprintf(`http://:$PORT {
	robots {
		source inline "User-agent: *
Disallow: /private/"
		verify
		crawler SignBot {
			verify signatures %s
		}
	}
	header >X-Verify {http.robots.verify}
	respond "hello"
}
`, o.web.URL))
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
		if change != nil {
			change(r)
		}
		resp, err := send(client, r.Method, r.URL.String(), ua, "", r.Header)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	s.eventually("the keys are read", func() bool { return get("/", "SignBot/1.0", nil).header.Get("X-Verify") == "signature" })
	for _, ua := range []string{chrome, "SignBot/1.0"} {
		got := get("/private/x", ua, nil)
		s.wants(403, got, "a signed request of "+ua)
		if got.header.Get("Accept-Signature") != "" {
			t.Errorf("%s: it signs already", ua)
		}
	}
	wrong := func(r *http.Request) { r.Header.Set("Signature", "s=:"+strings.Repeat("A", 86)+"==:") }
	if got := get("/", "SignBot/1.0", wrong).header.Get("X-Verify"); got != "signature_wrong" {
		t.Errorf("a signature that is not valid: %q", got)
	}
	for name, change := range map[string]func(*http.Request){
		"a stranger's signature": wrong,
		"another host":           func(r *http.Request) { o.sign(r, "other.test", "x") },
	} {
		got := get("/private/x", chrome, change)
		if s.wants(200, got, name); got.header.Get("X-Verify") != "" {
			t.Errorf("%s: verify %q", name, got.header.Get("X-Verify"))
		}
	}
	replayed := func(r *http.Request) { o.sign(r, host, "once") }
	s.wants(403, get("/private/x", chrome, replayed), "the first use of a nonce")
	s.wants(200, get("/private/x", chrome, replayed), "its second use")
}
