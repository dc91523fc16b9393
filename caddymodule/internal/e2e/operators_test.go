package e2e_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// Addresses of crawlers: in a list, and by DNS.
const (
	listedAddr = "192.0.2.9"
	namedAddr  = "203.0.113.5"
)

// operators serves what the operators of crawlers publish: lists, keys and DNS
// names.
type operators struct {
	web      *httptest.Server
	resolver string
	key      ed25519.PrivateKey
	x        string // the public key, base64url
}

func newOperators(t testing.TB) *operators {
	t.Helper()
	o := new(operators)
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	o.key, o.x = private, base64.RawURLEncoding.EncodeToString(public)
	o.web = httptest.NewServer(http.HandlerFunc(o.serve))
	t.Cleanup(o.web.Close)

	started := make(chan struct{})
	srv := &dns.Server{Addr: "127.0.0.1:0", Net: "udp", Handler: dns.HandlerFunc(o.answer), NotifyStartedFunc: func() { close(started) }}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.ListenAndServe() }()
	<-started
	o.resolver = srv.PacketConn.LocalAddr().String()
	t.Cleanup(func() { _ = srv.Shutdown(); <-done })
	return o
}

func (o *operators) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/list.json":
		fmt.Fprint(w, `{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"}]}`)
	case strings.HasSuffix(r.URL.Path, "/http-message-signatures-directory"):
		w.Header().Set("Content-Type", "application/http-message-signatures-directory+json")
		fmt.Fprintf(w, `{"keys":[{"kty":"OKP","crv":"Ed25519","x":%q}]}`, o.x)
	default:
		http.NotFound(w, r)
	}
}

func (o *operators) answer(w dns.ResponseWriter, query *dns.Msg) {
	reply := new(dns.Msg)
	reply.SetReply(query)
	switch name := query.Question[0].Name; {
	case name == "5.113.0.203.in-addr.arpa.":
		rr, _ := dns.NewRR(name + " PTR 5.crawl.test.")
		reply.Answer = append(reply.Answer, rr)
	case name == "5.crawl.test.":
		rr, _ := dns.NewRR(name + " A 203.0.113.5")
		reply.Answer = append(reply.Answer, rr)
	default:
		reply.Rcode = dns.RcodeNameError
	}
	_ = w.WriteMsg(reply)
}

// sign adds a Web Bot Auth signature for the host.
func (o *operators) sign(r *http.Request, host, nonce string) {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + o.x + `"}`))
	params := fmt.Sprintf(`("@authority" "signature-agent";key="s");created=%d;expires=%d;keyid=%q;nonce=%q;tag="web-bot-auth"`,
		time.Now().Unix(), time.Now().Add(time.Minute).Unix(), base64.RawURLEncoding.EncodeToString(sum[:]), nonce)
	base := fmt.Sprintf("\"@authority\": %s\n\"signature-agent\";key=\"s\": %q\n\"@signature-params\": %s", host, o.web.URL, params)
	r.Header.Set("Signature-Agent", fmt.Sprintf("s=%q", o.web.URL))
	r.Header.Set("Signature-Input", "s="+params)
	r.Header.Set("Signature", "s=:"+base64.StdEncoding.EncodeToString(ed25519.Sign(o.key, []byte(base)))+":")
}
