package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// authority writes the certificate of an authority that no client certificate is
// signed by, and returns its path.
func authority(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "clients"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "clients.pem")
	writeFile(t, path, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	return path
}

// A redirect of one tenant's robots.txt must not make the server send a request to
// another tenant's site, where it would have the rights of a local client or of a
// client with a certificate.
func TestInternalReadFollowsNoRedirectToAnotherSite(t *testing.T) {
	t.Parallel()
	port, tlsPort := freePort(t), freePort(t)
	victim := newBackend(t, text(200, "deleted"))
	location := map[string]string{
		"a": fmt.Sprintf("http://admin.test:%d/delete?all=1", port),
		"b": fmt.Sprintf("//admin.test:%d/delete?all=1", port),
		"c": "http://admin.test/delete?all=1",
		"d": "/hop",
		"e": fmt.Sprintf("https://secure.test:%d/delete?all=1", tlsPort),
		"f": fmt.Sprintf("https://secure.test:%d/delete?all=1", tlsPort),
		"g": "https://secure.test/delete?all=1",
	}
	tenant := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(r.Host, ".")
		switch r.URL.Path {
		case "/robots.txt":
			w.Header().Set("Location", location[name])
			w.WriteHeader(http.StatusFound)
		case "/hop":
			http.Redirect(w, r, "//admin.test/delete?all=1", http.StatusFound)
		default:
			fmt.Fprint(w, "page")
		}
	})
	s := startAt(t, "localhost", port, strings.NewReplacer("$TENANT", tenant.URL, "$VICTIM", victim.URL, "$TLS", fmt.Sprint(tlsPort), "$CA", authority(t)).Replace(`{
	auto_https disable_redirects
}
http://*.tenant.test:$PORT, https://*.tenant.test:$TLS {
	robots
	reverse_proxy $TENANT
}
http://admin.test:$PORT {
	@local remote_ip 127.0.0.1 ::1
	handle @local {
		reverse_proxy $VICTIM
	}
	respond 403
}
https://secure.test:$TLS {
	tls {
		client_auth {
			mode require_and_verify
			trust_pool file $CA
		}
	}
	reverse_proxy $VICTIM
}`))
	h2 := http2Client(tlsPort)
	t.Cleanup(h2.CloseIdleConnections)
	for name := range location {
		host := name + ".tenant.test"
		ask := func() (response, error) {
			if name == "f" || name == "g" {
				return send(h2, http.MethodGet, fmt.Sprintf("https://%s:%d/x", host, tlsPort), googlebot, "", nil)
			}
			return s.rawAt(host, "/x", googlebot), nil
		}
		s.eventually("the certificate is there", func() bool { _, err := ask(); return err == nil })
		got, err := ask()
		if err != nil || got.status != 200 || got.body != "page" {
			t.Errorf("%s: status %d, %q, %v: its robots.txt can't be fetched, so it has no rules", host, got.status, got.body, err)
		}
	}
	for _, r := range victim.requests("") {
		t.Errorf("the server requested %s from another site", r.URL)
	}
	if got := s.rawAt("admin.test", "/delete", chrome); got.status != 200 || len(victim.requests("/delete")) == 0 {
		t.Errorf("a local client gets %d, %q: this tests nothing", got.status, got.body)
	}
	if n := len(tenant.requests("/robots.txt")); n < len(location) {
		t.Errorf("%d reads of %d tenants' robots.txt: this tests nothing", n, len(location))
	}
}

// Behind a load balancer that terminates TLS, the internal read tells the back end
// that the client used https, and nothing else about the client.
func TestInternalReadBehindATrustedProxy(t *testing.T) {
	t.Parallel()
	const trusting = "{\n\tservers {\n\t\ttrusted_proxies static 127.0.0.1/8 ::1/128\n\t}\n}\n"
	back := newBackend(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("X-Forwarded-Proto") != "https":
			http.Redirect(w, r, "https://site.test"+r.URL.RequestURI(), http.StatusMovedPermanently)
		case r.URL.Path == "/robots.txt":
			fmt.Fprint(w, disallow("/private/"))
		default:
			fmt.Fprint(w, "page")
		}
	})
	s := start(t, trusting+"http://:$PORT {\n\trobots\n\treverse_proxy "+back.URL+"\n}\n")
	forwarded := http.Header{
		"X-Forwarded-Proto": {"https"}, "X-Forwarded-For": {"203.0.113.9"}, "X-Forwarded-Host": {"made-up.test"},
		"X-Forwarded-Port": {"4711"}, "X-Forwarded-Prefix": {"/made-up"}, "X-Real-Ip": {"203.0.113.9"},
		"Forwarded": {"for=203.0.113.9;host=made-up.test;proto=https"},
		"Cookie":    {"session=secret"}, "Authorization": {"Basic c2VjcmV0OnNlY3JldA=="},
	}
	ask := func(ua, path string) response {
		return s.do(http.MethodGet, fmt.Sprintf("http://localhost:%d%s", s.port, path), ua, "site.test", forwarded)
	}
	s.wants(403, ask(googlebot, "/private/x"), "a crawler on a disallowed path, through the balancer")
	s.wants(200, ask(googlebot, "/x"), "a crawler on another path, through the balancer")
	s.wants(200, ask(chrome, "/private/x"), "a person, through the balancer")
	read := back.requests("/robots.txt")
	if len(read) == 0 {
		t.Fatal("robots.txt was never read")
	}
	for _, r := range read {
		for _, secret := range []string{"Cookie", "Authorization", "Forwarded", "X-Real-Ip", "X-Forwarded-Port", "X-Forwarded-Prefix"} {
			if got := r.Header.Get(secret); got != "" {
				t.Errorf("the internal read has the client's %s: %s", secret, got)
			}
		}
		for field := range r.Header {
			if got := strings.Join(r.Header[field], " "); strings.Contains(got, "203.0.113.9") || strings.Contains(got, "made-up") {
				t.Errorf("the internal read has %s: %s", field, got)
			}
		}
		if r.Host != "site.test" {
			t.Errorf("the internal read has the host %q", r.Host)
		}
	}
}
