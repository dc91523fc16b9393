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
			return s.at(host, googlebot, "/x"), nil
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
	if got := s.at("admin.test", chrome, "/delete"); got.status != 200 || len(victim.requests("/delete")) == 0 {
		t.Errorf("a local client gets %d, %q: this tests nothing", got.status, got.body)
	}
	if n := len(tenant.requests("/robots.txt")); n < len(location) {
		t.Errorf("%d reads of %d tenants' robots.txt: this tests nothing", n, len(location))
	}
}
