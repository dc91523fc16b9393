package verify

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// newSignatureFixture returns a started fixture. Its directory has the key of s.
func newSignatureFixture(t *testing.T, s *signer, change ...func(*Config)) *fixture {
	f := newFixture(t, change...)
	f.web.set(directoryAt, s.directory())
	f.Start()
	synctest.Wait()
	return f
}

// check returns the name of the crawler that signed m, and the result.
func (f *fixture) check(m *claim.Message, claim string) (string, claim.Result) {
	row, result := f.checker.Signature(m, f.registry.Lookup(claim), f.config.Now())
	if row == nil {
		return "", result
	}
	return row.Name, result
}

var signatureVerified = claim.Result{State: claim.Verified, Method: claim.SignatureMethod}

func TestValidSignatures(t *testing.T) {
	s := newEd25519Signer()
	for name, request := range map[string]func(now time.Time) *claim.Message{
		"a dictionary member is covered": func(now time.Time) *claim.Message {
			return s.request(agentMember, s.params(now, ""), authority, coveredBot)
		},
		"a dictionary is covered as a whole": func(now time.Time) *claim.Message {
			return s.request(agentMember, s.params(now, ""), authority, `"signature-agent": `+agentMember)
		},
		"a dictionary member with another key than the label": func(now time.Time) *claim.Message {
			return s.request(`bot="https://agent.test"`, s.params(now, ""), authority, `"signature-agent";key="bot": "https://agent.test"`)
		},
		"the URL of the directory": func(now time.Time) *claim.Message {
			return s.request(`sig1="`+directoryAt+`"`, s.params(now, ""), authority, `"signature-agent";key="sig1": "`+directoryAt+`"`)
		},
		"a string is covered": func(now time.Time) *claim.Message {
			return s.request(`"https://agent.test"`, s.params(now, ""), authority, `"signature-agent": "https://agent.test"`)
		},
		"a string with a slash at its end": func(now time.Time) *claim.Message {
			return s.request(`"https://agent.test/"`, s.params(now, ""), authority, `"signature-agent": "https://agent.test/"`)
		},
		"@target-uri instead of @authority": func(now time.Time) *claim.Message {
			return s.request(agentMember, s.params(now, ""), `"@target-uri": https://site.test/a?b=c`, coveredBot)
		},
		"all parts of the request": func(now time.Time) *claim.Message {
			return s.request(agentMember, s.params(now, `;alg="ed25519"`), authority, coveredBot, `"@method": GET`, `"@scheme": https`, `"@path": /a`,
				`"@query": ?b=c`, `"@request-target": /a?b=c`)
		},
		"a nonce": func(now time.Time) *claim.Message {
			return s.request(agentMember, s.params(now, `;nonce="abc"`), authority, coveredBot)
		},
		"a field with several values": func(now time.Time) *claim.Message {
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot, `"accept": text/html, */*`)
			m.Header["Accept"] = []string{" text/html", "*/* "}
			return m
		},
		"a signature of another kind comes first": func(now time.Time) *claim.Message {
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot)
			m.Header.Set("Signature-Input", `cdn=("@method");created=1;keyid="x";tag="cdn", `+m.Header.Get("Signature-Input"))
			m.Header.Set("Signature", `cdn=:AAAA:, `+m.Header.Get("Signature"))
			return m
		},
		"the default port and upper case in Host": func(now time.Time) *claim.Message {
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot)
			m.Host = "SITE.test:443"
			return m
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newSignatureFixture(t, s)
			defer f.Close()
			if row, got := f.check(request(f.config.Now()), ""); row != "Signer" || got != signatureVerified {
				t.Errorf("%s: %q, %+v", name, row, got)
			}
		})
	}
}

func TestSignatureAlgorithms(t *testing.T) {
	for name, s := range map[string]*signer{"ed25519": newEd25519Signer(), "rsa-pss-sha512": newRSASigner(2048), "ecdsa-p256-sha256": newECDSASigner()} {
		synctest.Test(t, func(t *testing.T) {
			f := newSignatureFixture(t, s)
			defer f.Close()
			now := f.config.Now()
			if row, got := f.check(s.request(agentMember, s.params(now, `;alg="`+name+`"`), authority, coveredBot), ""); row != "Signer" {
				t.Errorf("%s: %q, %+v", name, row, got)
			}
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot)
			m.Host = "other.test"
			if row, got := f.check(m, ""); row != "" || got.Reason != claim.SignatureWrong {
				t.Errorf("%s, with another host: %q, %+v", name, row, got)
			}
			if _, got := f.check(s.request(agentMember, s.params(now, `;alg="hmac-sha256"`), authority, coveredBot), ""); got.Reason != claim.SignatureUnsupported {
				t.Errorf("%s, with another alg: %+v", name, got)
			}
		})
	}
}

// A signature that is not valid makes a request unverified, never an impostor's.
func TestSignaturesThatAreNotValid(t *testing.T) {
	s, stranger := newEd25519Signer(), newEd25519Signer()
	change := func(name, value string) func(time.Time) *claim.Message {
		return func(now time.Time) *claim.Message {
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot)
			if value == "" {
				m.Header.Del(name)
			} else {
				m.Header.Set(name, value)
			}
			return m
		}
	}
	for name, tc := range map[string]struct {
		request func(now time.Time) *claim.Message
		want    claim.Reason
	}{
		"neither @authority nor @target-uri is covered": {func(now time.Time) *claim.Message {
			return s.request(agentMember, s.params(now, ""), `"@method": GET`, coveredBot)
		}, claim.SignatureNotCovered},
		"Signature-Agent is not covered": {func(now time.Time) *claim.Message { return s.request(agentMember, s.params(now, ""), authority) }, claim.SignatureNotCovered},
		"two agents, none with the signature's label": {func(now time.Time) *claim.Message {
			return s.request(`a="https://agent.test", b="https://other.test"`, s.params(now, ""), authority, `"signature-agent": a="https://agent.test", b="https://other.test"`)
		}, claim.SignatureNotCovered},
		"expired": {func(now time.Time) *claim.Message {
			return s.request(agentMember, s.params(now.Add(-2*time.Hour), ""), authority, coveredBot)
		}, claim.SignatureExpired},
		"created in the future": {func(now time.Time) *claim.Message {
			return s.request(agentMember, s.params(now.Add(10*time.Minute), ""), authority, coveredBot)
		}, claim.SignatureFromFuture},
		"no times": {func(now time.Time) *claim.Message {
			return s.request(agentMember, `;keyid="`+s.thumbprint+`";tag="web-bot-auth"`, authority, coveredBot)
		}, claim.SignatureMalformed},
		"no keyid": {func(now time.Time) *claim.Message {
			return s.request(agentMember, fmt.Sprintf(`;created=%d;expires=%d;tag="web-bot-auth"`, now.Unix(), now.Unix()+60), authority, coveredBot)
		}, claim.SignatureMalformed},
		"expires before it is created": {func(now time.Time) *claim.Message {
			return s.request(agentMember, fmt.Sprintf(`;created=%d;expires=%d;keyid="%s";tag="web-bot-auth"`, now.Unix(), now.Unix()-60, s.thumbprint), authority, coveredBot)
		}, claim.SignatureMalformed},
		"a key that is not in the directory": {func(now time.Time) *claim.Message {
			return stranger.request(agentMember, stranger.params(now, ""), authority, coveredBot)
		}, claim.KeyUnknown},
		"the keyid of the directory's key, but another key": {func(now time.Time) *claim.Message {
			return stranger.request(agentMember, s.params(now, ""), authority, coveredBot)
		}, claim.SignatureWrong},
		"a directory that the registry does not name": {func(now time.Time) *claim.Message {
			return s.request(`sig1="https://stranger.test"`, s.params(now, ""), authority, `"signature-agent";key="sig1": "https://stranger.test"`)
		}, claim.DirectoryUnknown},
		"a directory on http": {func(now time.Time) *claim.Message {
			return s.request(`sig1="http://agent.test"`, s.params(now, ""), authority, `"signature-agent";key="sig1": "http://agent.test"`)
		}, claim.SignatureMalformed},
		"the URL of a document that nobody named": {func(now time.Time) *claim.Message {
			return s.request(`sig1="https://agent.test/x"`, s.params(now, ""), authority, `"signature-agent";key="sig1": "https://agent.test/x"`)
		}, claim.DirectoryUnknown},
		"no agent and no claim": {func(now time.Time) *claim.Message { return s.request("", s.params(now, ""), authority) }, claim.DirectoryUnknown},
		"another Host, as behind a proxy": {func(now time.Time) *claim.Message {
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot)
			m.Host = "backend.internal:8080"
			return m
		}, claim.SignatureWrong},
		"a component twice": {func(now time.Time) *claim.Message {
			return s.request(agentMember, s.params(now, ""), authority, authority, coveredBot)
		}, claim.SignatureUnsupported},
		"a field that is absent": {func(now time.Time) *claim.Message {
			return s.request(agentMember, s.params(now, ""), authority, coveredBot, `"x-other": a`)
		}, claim.SignatureUnsupported},
		"a parameter of the query": {func(now time.Time) *claim.Message {
			return s.request(agentMember, s.params(now, ""), authority, coveredBot, `"@query-param";name="b": c`)
		}, claim.SignatureUnsupported},
		"an unknown component": {func(now time.Time) *claim.Message {
			return s.request(agentMember, s.params(now, ""), authority, coveredBot, `"@moon": full`)
		}, claim.SignatureUnsupported},
		"a digest of a body, which is not read": {func(now time.Time) *claim.Message {
			digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sha256.New().Sum(nil)) + ":"
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot, `"content-digest": `+digest)
			m.Header.Set("Content-Digest", digest)
			m.HasBody = true
			return m
		}, claim.SignatureUnsupported},
		"fields of 64 KB":                      {change("Signature-Input", `sig1=("@authority");x="`+strings.Repeat("a", 64<<10)+`"`), claim.SignatureTooLong},
		"no Signature":                         {change("Signature", ""), claim.SignatureMalformed},
		"Signature that can't be parsed":       {change("Signature", "sig1=:AAA"), claim.SignatureMalformed},
		"Signature with a string":              {change("Signature", `sig1="AAAA"`), claim.SignatureMalformed},
		"Signature too short":                  {change("Signature", `sig1=:AAAA:`), claim.SignatureWrong},
		"Signature-Input that can't be parsed": {change("Signature-Input", `sig1=(("`), claim.SignatureMalformed},
		"Signature-Agent that can't be parsed": {change("Signature-Agent", `sig1="https://agent.test`), claim.SignatureMalformed},
		"Signature-Agent with a byte sequence": {change("Signature-Agent", `sig1=:AAAA:`), claim.SignatureMalformed},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newSignatureFixture(t, s)
			defer f.Close()
			f.web.set("https://stranger.test"+wellKnown, s.directory())
			if row, got := f.check(tc.request(f.config.Now()), ""); row != "" || got != (claim.Result{State: claim.Unverified, Reason: tc.want}) {
				t.Errorf("%s: %q, %+v, want %s", name, row, got, tc.want)
			}
			synctest.Wait()
			if f.web.count("https://stranger.test"+wellKnown) != 0 {
				t.Errorf("%s: a client made the server read a directory", name)
			}
		})
	}
}

// If a signature names no directory, only the directories of the claimed crawler are searched.
func TestSignatureWithoutSignatureAgent(t *testing.T) {
	s := newEd25519Signer()
	synctest.Test(t, func(t *testing.T) {
		f := newSignatureFixture(t, s)
		defer f.Close()
		m := s.request("", s.params(f.config.Now(), ""), authority)
		if row, got := f.check(m, "Signer"); row != "Signer" || got != signatureVerified {
			t.Errorf("with a claim to be Signer: %q, %+v", row, got)
		}
		if row, got := f.check(m, "Both"); row != "" || got.Reason != claim.DirectoryUnknown {
			t.Errorf("with a claim to be Both: %q, %+v", row, got)
		}
	})
}

// A request without signatures, or only with signatures of another kind, has the zero Result.
func TestRequestsWithoutWebBotAuth(t *testing.T) {
	f := newFixture(t)
	defer f.Close()
	for _, m := range []*claim.Message{
		{Header: http.Header{}},
		{Header: http.Header{"Signature-Input": {`cdn=("@method");created=1;keyid="x";tag="cdn"`}, "Signature": {"cdn=:AAAA:"}}},
		{Header: http.Header{"Signature-Agent": {`"https://agent.test"`}}},
	} {
		if row, got := f.check(m, "Signer"); row != "" || got != (claim.Result{}) {
			t.Errorf("%v: %q, %+v", m.Header, row, got)
		}
	}
	m := &claim.Message{Header: http.Header{"User-Agent": {"Mozilla/5.0"}}}
	if n := testing.AllocsPerRun(100, func() { f.checker.Signature(m, nil, time.Now()) }); n != 0 {
		t.Errorf("%v allocations without a signature", n)
	}
}

// A signature with a nonce is valid once.
func TestReplayedNonce(t *testing.T) {
	s := newEd25519Signer()
	synctest.Test(t, func(t *testing.T) {
		f := newSignatureFixture(t, s)
		defer f.Close()
		now := f.config.Now()
		m := s.request(agentMember, s.params(now, `;nonce="once"`), authority, coveredBot)
		if row, _ := f.check(m, ""); row != "Signer" {
			t.Fatal("the first request is not verified")
		}
		if row, got := f.check(m, ""); row != "" || got.Reason != claim.SignatureReplayed {
			t.Errorf("the same request again: %q, %+v", row, got)
		}
		if row, _ := f.check(s.request(agentMember, s.params(now, `;nonce="twice"`), authority, coveredBot), ""); row != "Signer" {
			t.Error("a request with another nonce is not verified")
		}
	})
}

// If several crawlers share a directory, its key proves the crawler in the claim, else the first one.
func TestDirectoryOfSeveralCrawlers(t *testing.T) {
	s := newEd25519Signer()
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		more := append([]crawler.Crawler{{Name: "Sibling", UserAgents: []string{"Sibling"}, Robots: []string{"Sibling"}, Class: crawler.Registered,
			Verify: crawler.Verify{SignatureAgents: []string{agentURI + "/"}}}}, rows...)
		registry, err := new(crawler.Registry).With(more...)
		if err != nil {
			t.Fatal(err)
		}
		f.registry = registry
		if f.checker, err = f.Bind(registry); err != nil {
			t.Fatal(err)
		}
		f.web.set(directoryAt, s.directory())
		f.Start()
		defer f.Close()
		synctest.Wait()
		for claim, want := range map[string]string{"Signer": "Signer", "Sibling": "Sibling", "Both": "Sibling", "": "Sibling"} {
			m := s.request(agentMember, s.params(f.config.Now(), ""), authority, coveredBot)
			if row, got := f.check(m, claim); row != want {
				t.Errorf("claim %q: %q, %+v, want %q", claim, row, got, want)
			}
		}
		if n := f.web.count(directoryAt); n != 1 {
			t.Errorf("the directory was read %d times, want once", n)
		}
	})
}

func FuzzSignature(f *testing.F) {
	s := newEd25519Signer()
	now := time.Unix(1_800_000_000, 0)
	m := s.request(agentMember, s.params(now, `;nonce="a"`), authority, coveredBot)
	f.Add(m.Header.Get("Signature-Input"), m.Header.Get("Signature"), m.Header.Get("Signature-Agent"), "/a?b=c")
	f.Add(`sig1=("@query-param";name="a%zz" "content-digest";key="x");tag="web-bot-auth"`, "sig1=:AAAA:", `"https://agent.test"`, "http://x")
	fx := newFixture(f, func(c *Config) { c.Now = func() time.Time { return now } })
	f.Cleanup(fx.Close)
	fx.web.set(directoryAt, page(s.jwk, "Content-Type", directoryType))
	if _, err := fx.sources["directory "+directoryAt].Fetch(f.Context(), fx.reader); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input, signature, agent, uri string) {
		m := &claim.Message{Method: "GET", Scheme: "https", Host: "site.test", RequestURI: uri, Header: http.Header{
			"Signature-Input": {input}, "Signature": {signature}, "Signature-Agent": {agent}}}
		row, got := fx.checker.Signature(m, nil, now)
		if (row != nil) != (got.State == claim.Verified) || got.State == claim.Impostor || got.State == claim.Unverified && got.Reason == claim.NoReason {
			t.Fatalf("%v, %+v", row, got)
		}
		if row != nil && !strings.Contains(input, s.thumbprint) {
			t.Fatalf("verified without the key: %q %q", input, signature)
		}
		if row != nil && m.Host != "site.test" {
			t.Fatal("verified for another host")
		}
	})
}
