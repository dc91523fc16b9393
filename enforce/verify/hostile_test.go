package verify

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// many returns n values of format, which gets the numbers from 0 on, joined by separator.
func many(n int, separator, format string) string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(values, separator)
}

// costlyMessages returns requests that are made to cost time: all have wrong signatures with the keyid of a key in the directory, and fit in the
// 1 MB that a server accepts.
func costlyMessages(s *signer, now time.Time) map[string]*claim.Message {
	const agent = `"https://agent.test"`
	wrong := ":" + base64.StdEncoding.EncodeToString(make([]byte, 64)) + ":"
	// sign returns a request with n signatures, each of which covers components.
	sign := func(n int, components, more string, fields ...string) *claim.Message {
		m := &claim.Message{Method: "GET", Scheme: "https", Host: "site.test", RequestURI: "/", Header: http.Header{"Signature-Agent": {agent}}}
		for i := range n {
			m.Header.Add("Signature-Input", fmt.Sprintf(`s%d=("@authority" "signature-agent" %s)%s`, i, components, s.params(now, more)))
			m.Header.Add("Signature", fmt.Sprintf("s%d=%s", i, wrong))
		}
		for i := 0; i < len(fields); i += 2 {
			m.Header[http.CanonicalHeaderKey(fields[i])] = []string{fields[i+1]}
		}
		return m
	}
	keyed := many(29, " ", `"x";key="k%d"`)
	target := sign(4, `"@target-uri" "@request-target" "@path" "@query"`, "")
	target.RequestURI = "/" + strings.Repeat("a", 500_000) + "?" + strings.Repeat("b", 400_000)
	agents := sign(2, many(29, " ", `"signature-agent";key="k%d"`), "")
	agents.Header["Signature-Agent"] = []string{many(800, ",", "k%d")}
	lines := sign(4, `"x"`, "")
	lines.Header["X"] = make([]string, 100_000)
	wide := sign(4, many(29, " ", `"x%d"`), "")
	for i := range 29 {
		wide.Header[fmt.Sprintf("X%d", i)] = []string{strings.Repeat("a", 32_000)}
	}
	emptyLines := sign(4, "", "")
	emptyLines.Header["Signature-Input"] = append(emptyLines.Header["Signature-Input"], make([]string, 100_000)...)
	return map[string]*claim.Message{
		"keyed components of a field of 10 KB":    sign(4, keyed, "", "X", many(1_500, ", ", "k%d")),
		"keyed components of a field of 4 KB":     sign(4, keyed, "", "X", many(740, ",", "k%d")),
		"keyed components of a field of 1 MB":     sign(4, keyed, "", "X", many(100_000, ", ", "k%d=1;a")),
		"keyed components of a list of items":     sign(4, keyed, "", "X", "k0=("+strings.Repeat(` ""`, 740)+")"),
		"keyed components of a malformed field":   sign(4, keyed, "", "X", many(740, ",", "k%d")+",?"),
		"keyed components with many parameters":   sign(4, keyed, "", "X", "k0"+many(740, "", ";p%d")),
		"a keyed component of each of 29 fields":  sign(4, many(29, " ", `"x%d";key="k0"`), "", slices.Collect(fieldsOf(29, many(26, ",", "k%d")))...),
		"components of a field of 1 MB":           sign(4, `"x"`, "", "X", strings.Repeat("a", 1_000_000)),
		"components of a field of blanks":         sign(4, `"x"`, "", "X", strings.Repeat(" ", 1_000_000)),
		"components of 100,000 empty lines":       lines,
		"components of 29 fields of 32 KB":        wide,
		"components of 29 fields of 500 octets":   sign(4, many(29, " ", `"x%d"`), "", slices.Collect(fieldsOf(29, strings.Repeat("a", 500)))...),
		"a target of 900 KB":                      target,
		"many members of Signature-Input":         sign(1, "", ","+many(960, ",", "k%d")),
		"many members of Signature":               sign(1, "", "", "Signature", "s0="+wrong+","+many(960, ",", "k%d")),
		"many members of Signature-Agent":         agents,
		"many lines of Signature-Input":           emptyLines,
		"many components":                         sign(1, " "+many(30, " ", `"x%d"`), ""),
		"many parameters":                         sign(1, "", many(960, "", ";p%d")),
		"many parameters of a component":          sign(1, `"x"`+many(960, "", ";p%d"), ""),
		"sf, bs, tr and req":                      sign(4, `"x";key="k0" "x";sf "x";bs "x";tr "x";req`, "", "X", many(900, ",", "k%d")),
		"a string of escapes":                     sign(1, "", `;x="`+strings.Repeat(`\\`, 7_500)+`"`),
		"a display string":                        sign(1, "", `;x=%"`+strings.Repeat(`%c3%a4`, 2_500)+`"`),
		"a long byte sequence":                    sign(1, "", ";x=:"+strings.Repeat("AAAA", 3_900)+":"),
		"signatures of another kind before these": sign(4, keyed, "", "X", many(1_350, ",", "k%d"), "Signature-Input", many(960, ",", "k%d")),
	}
}

// The most costly requests are parsed once, up to a limit, and only one signature is checked with a key. (A request of the first kind
// allocated 528,000 times.)
func TestCostlySignatures(t *testing.T) {
	s := newEd25519Signer()
	f := newFixture(t)
	defer f.Close()
	f.web.set(directoryAt, page(s.jwk, "Content-Type", directoryType))
	if _, err := f.sources["directory "+directoryAt].Fetch(t.Context(), f.reader); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, m := range costlyMessages(s, now) {
		var row *crawler.Crawler
		var got claim.Result
		n := testing.AllocsPerRun(1, func() { row, got = f.checker.Signature(m, nil, now) })
		if row != nil || got.State == claim.Verified || n > 6_000 {
			t.Errorf("%s: %v, %+v, %v allocations", name, row, got, n)
		}
	}
}

// What a signature covers, and what must be parsed for it, is bounded.
func TestSignatureTooLong(t *testing.T) {
	s := newEd25519Signer()
	for name, change := range map[string]func(*claim.Message){
		"a field of 17 KiB":          func(m *claim.Message) { m.Header.Set("X", strings.Repeat("a", 17<<10)) },
		"many empty lines":           func(m *claim.Message) { m.Header["X"] = make([]string, 9<<10) },
		"a dictionary of 17 KiB":     func(m *claim.Message) { m.Header.Set("Y", `k="`+strings.Repeat("a", 17<<10)+`"`) },
		"a dictionary of 1,100 keys": func(m *claim.Message) { m.Header.Set("Y", many(1_100, ",", "k%d")) },
		"a URL of 17 KiB":            func(m *claim.Message) { m.RequestURI = "/" + strings.Repeat("a", 17<<10) },
		"a query of 17 KiB":          func(m *claim.Message) { m.RequestURI = "/?p=" + strings.Repeat("a", 17<<10) },
		"a Host of 17 KiB":           func(m *claim.Message) { m.Host = strings.Repeat("a", 17<<10) },
		"fields of 9 KiB each": func(m *claim.Message) {
			m.Header["X"] = []string{strings.Repeat("a", 9<<10)}
			m.Header["Y"] = []string{`k="` + strings.Repeat("a", 9<<10) + `"`}
		},
		"a Signature-Agent of 17 KiB": func(m *claim.Message) { m.Header.Set("Signature-Agent", `"https://`+strings.Repeat("a", 17<<10)+`"`) },
		"33 components": func(m *claim.Message) {
			m.Header.Set("Signature-Input", "sig1=("+many(33, " ", `"x%d"`)+`);tag="web-bot-auth"`)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newSignatureFixture(t, s)
			defer f.Close()
			covered := []string{authority, `"signature-agent": "https://agent.test"`, `"@path": /`, `"x": a`, `"y";key="k": 1`}
			m := s.request(`"https://agent.test"`, s.params(f.config.Now(), ""), covered...)
			m.Header.Set("X", "a")
			m.Header.Set("Y", "k=1")
			m.RequestURI = "/?p=1"
			change(m)
			if _, got := f.check(m, ""); got.Reason != claim.SignatureTooLong {
				t.Errorf("%s: %+v", name, got)
			}
		})
	}
}

// Only one signature of a request is checked with a key. Signatures that can be rejected without one don't count.
func TestSeveralSignatures(t *testing.T) {
	s, stranger := newEd25519Signer(), newEd25519Signer()
	for _, tc := range []struct {
		name  string
		first func(now time.Time) *claim.Message
		row   string
		want  claim.Result
	}{
		{"a wrong one first", func(now time.Time) *claim.Message {
			return stranger.request(`"https://agent.test"`, s.params(now, ""), authority, `"signature-agent": "https://agent.test"`)
		}, "", claim.Result{State: claim.Unverified, Reason: claim.SignatureWrong}},
		{"an expired one first", func(now time.Time) *claim.Message {
			return s.request(`"https://agent.test"`, s.params(now.Add(-2*time.Hour), ""), authority, `"signature-agent": "https://agent.test"`)
		}, "Signer", signatureVerified},
		{"one of an unknown key first", func(now time.Time) *claim.Message {
			return stranger.request(`"https://agent.test"`, stranger.params(now, ""), authority, `"signature-agent": "https://agent.test"`)
		}, "Signer", signatureVerified},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newSignatureFixture(t, s)
			defer f.Close()
			m := s.request(`"https://agent.test"`, s.params(f.config.Now(), ""), authority, `"signature-agent": "https://agent.test"`)
			first := tc.first(f.config.Now())
			for _, field := range []string{"Signature-Input", "Signature"} {
				m.Header[field] = []string{strings.Replace(first.Header.Get(field), "sig1=", "first=", 1), m.Header.Get(field)}
			}
			if row, got := f.check(m, ""); row != tc.row || got != tc.want {
				t.Errorf("%s: %q, %+v, want %q, %+v", tc.name, row, got, tc.row, tc.want)
			}
		})
	}
}

// fieldsOf yields n names x0, x1 … each followed by value.
func fieldsOf(n int, value string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := range n {
			if !yield(fmt.Sprint("x", i)) || !yield(value) {
				return
			}
		}
	}
}

// BenchmarkCostlySignatures measures the requests that we could make that cost most.
func BenchmarkCostlySignatures(b *testing.B) {
	now := time.Now()
	for _, algorithm := range []struct {
		name   string
		signer *signer
	}{{"Ed25519", newEd25519Signer()}, {"RSA-PSS 4096", newRSASigner(4096)}} {
		f := benchFixture(b)
		f.web.set(directoryAt, page(algorithm.signer.jwk, "Content-Type", directoryType))
		if _, err := f.sources["directory "+directoryAt].Fetch(b.Context(), f.reader); err != nil {
			b.Fatal(err)
		}
		messages := costlyMessages(algorithm.signer, now)
		for _, name := range slices.Sorted(maps.Keys(messages)) {
			b.Run(algorithm.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if row, _ := f.checker.Signature(messages[name], nil, now); row != nil {
						b.Fatal("verified")
					}
				}
			})
		}
	}
}
