package verify

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
)

// benchFixture returns a fixture with a list of 1,292 addresses, as many as the longest published list has, and 10,000 addresses that DNS confirmed.
func benchFixture(b *testing.B) *fixture {
	f := newFixture(b)
	b.Cleanup(f.Close)
	var lines strings.Builder
	for i := range 1292 {
		fmt.Fprintf(&lines, "%d.%d.%d.%d\n", 16+i%64, i%251, i%241, i%239)
	}
	f.web.set(listURL, page(lines.String()))
	if _, err := f.sources["list "+listURL].Fetch(b.Context(), f.reader); err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	set := f.checker.subject(f.registry.Lookup("Named")).names
	for i := range 10_000 {
		f.answers.put(f.answers.key(set.id, netip.AddrFrom4([4]byte{203, 0, byte(i >> 8), byte(i)})), confirmed, now)
	}
	return f
}

func BenchmarkAddress(b *testing.B) {
	f := benchFixture(b)
	now := time.Now()
	f.proof.Set(now)
	for _, bc := range []struct{ name, crawler, addr string }{
		{"in a list", "Listed", "17.1.1.1"},
		{"in no list", "Listed", "198.51.100.1"},
		{"confirmed by DNS", "Named", "203.0.3.7"},
		{"in no list, confirmed by DNS", "Both", "203.0.3.7"},
		{"without a method", "Plain", "203.0.3.7"},
	} {
		row, client := f.registry.Lookup(bc.crawler), claim.Client{Addr: netip.MustParseAddr(bc.addr), Proof: &f.proof}
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.checker.Address(row, client, now)
			}
		})
	}
}

func BenchmarkSignature(b *testing.B) {
	now := time.Now()
	for _, bc := range []struct {
		name   string
		signer *signer
	}{{"Ed25519", newEd25519Signer()}, {"RSA-PSS 2048", newRSASigner(2048)}, {"ECDSA P-256", newECDSASigner()}} {
		f := benchFixture(b)
		f.web.set(directoryAt, page(bc.signer.jwk, "Content-Type", directoryType))
		if _, err := f.sources["directory "+directoryAt].Fetch(b.Context(), f.reader); err != nil {
			b.Fatal(err)
		}
		m := bc.signer.request(agentMember, bc.signer.params(now, ""), authority, coveredBot)
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if row, _ := f.checker.Signature(m, nil, now); row == nil {
					b.Fatal("not verified")
				}
			}
		})
	}
	f := benchFixture(b)
	m := &claim.Message{Header: http.Header{"User-Agent": {"Mozilla/5.0"}, "Accept": {"*/*"}}}
	b.Run("no signature", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f.checker.Signature(m, nil, now)
		}
	})
}
