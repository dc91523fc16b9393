package verify

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

const directoryType = "application/http-message-signatures-directory+json"

// signer signs requests as an agent does. It builds the signature base by itself, so that the tests hold RFC 9421 and not this package.
type signer struct {
	jwk        string // public
	thumbprint string
	sign       func(base string) []byte
}

func newEd25519Signer() *signer {
	public, private, _ := ed25519.GenerateKey(rand.Reader)
	x := base64.RawURLEncoding.EncodeToString(public)
	return newSigner(`{"crv":"Ed25519","kty":"OKP","x":"`+x+`"}`, func(base string) []byte { return ed25519.Sign(private, []byte(base)) })
}

func newSigner(jwk string, sign func(string) []byte) *signer {
	sum := sha256.Sum256([]byte(jwk)) // the JWKs above are in canonical form
	return &signer{jwk, base64.RawURLEncoding.EncodeToString(sum[:]), sign}
}

func newRSASigner(bits int) *signer {
	private, _ := rsa.GenerateKey(rand.Reader, bits)
	n := base64.RawURLEncoding.EncodeToString(private.N.Bytes())
	return newSigner(`{"e":"AQAB","kty":"RSA","n":"`+n+`"}`, func(base string) []byte {
		sum := sha512.Sum512([]byte(base))
		s, _ := rsa.SignPSS(rand.Reader, private, crypto.SHA512, sum[:], &rsa.PSSOptions{SaltLength: 64})
		return s
	})
}

func newECDSASigner() *signer {
	private, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	public, _ := private.PublicKey.Bytes()
	encode := base64.RawURLEncoding.EncodeToString
	return newSigner(`{"crv":"P-256","kty":"EC","x":"`+encode(public[1:33])+`","y":"`+encode(public[33:])+`"}`, func(base string) []byte {
		sum := sha256.Sum256([]byte(base))
		r, s, _ := ecdsa.Sign(rand.Reader, private, sum[:])
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	})
}

func (s *signer) directory() func(*http.Request) *http.Response {
	return page(`{"keys":[`+s.jwk+`]}`, "Content-Type", directoryType)
}

// request is a request to https://site.test/a?b=c. components are lines of the signature base, agent is the Signature-Agent field.
func (s *signer) request(agent, params string, components ...string) *Message {
	header := make(http.Header)
	if agent != "" {
		header.Set("Signature-Agent", agent)
	}
	ids := make([]string, len(components))
	base := ""
	for i, line := range components {
		ids[i], _, _ = strings.Cut(line, ": ")
		base += line + "\n"
	}
	list := "(" + strings.Join(ids, " ") + ")" + params
	base += `"@signature-params": ` + list
	header.Set("Signature-Input", "sig1="+list)
	header.Set("Signature", "sig1=:"+base64.StdEncoding.EncodeToString(s.sign(base))+":")
	return &Message{Method: "GET", Scheme: "https", Host: "site.test", RequestURI: "/a?b=c", Header: header}
}

func (s *signer) params(now time.Time, more string) string {
	return fmt.Sprintf(`;created=%d;expires=%d;keyid="%s";tag="web-bot-auth"%s`, now.Unix(), now.Add(time.Hour).Unix(), s.thumbprint, more)
}

const (
	authority   = `"@authority": site.test`
	agentMember = `sig1="https://agent.test"`
	coveredBot  = `"signature-agent";key="sig1": "https://agent.test"`
	directoryAt = agentURI + wellKnown
)

// signed returns a fixture whose directory has the keys of s.
func signed(t *testing.T, s *signer, change ...func(*Config)) *fixture {
	f := newFixture(t, change...)
	f.web.set(directoryAt, s.directory())
	f.Start()
	synctest.Wait()
	return f
}

func (f *fixture) check(m *Message, claim string) (string, Result) {
	row, result := f.checker.Signature(m, f.registry.Lookup(claim), f.config.Now())
	if row == nil {
		return "", result
	}
	return row.Name, result
}

var signatureVerified = Result{Verified, SignatureMethod, NoReason}

func TestSignatures(t *testing.T) {
	s := newEd25519Signer()
	for name, request := range map[string]func(now time.Time) *Message{
		"a dictionary": func(now time.Time) *Message { return s.request(agentMember, s.params(now, ""), authority, coveredBot) },
		"a dictionary, covered as a whole": func(now time.Time) *Message {
			return s.request(agentMember, s.params(now, ""), authority, `"signature-agent": `+agentMember)
		},
		"a member of another label": func(now time.Time) *Message {
			return s.request(`bot="https://agent.test"`, s.params(now, ""), authority, `"signature-agent";key="bot": "https://agent.test"`)
		},
		"a string": func(now time.Time) *Message {
			return s.request(`"https://agent.test"`, s.params(now, ""), authority, `"signature-agent": "https://agent.test"`)
		},
		"a string with a slash": func(now time.Time) *Message {
			return s.request(`"https://agent.test/"`, s.params(now, ""), authority, `"signature-agent": "https://agent.test/"`)
		},
		"@target-uri": func(now time.Time) *Message {
			return s.request(agentMember, s.params(now, ""), `"@target-uri": https://site.test/a?b=c`, coveredBot)
		},
		"all parts of the request": func(now time.Time) *Message {
			return s.request(agentMember, s.params(now, `;alg="ed25519"`), authority, coveredBot, `"@method": GET`, `"@scheme": https`, `"@path": /a`,
				`"@query": ?b=c`, `"@query-param";name="b": c`, `"@request-target": /a?b=c`)
		},
		"a nonce": func(now time.Time) *Message {
			return s.request(agentMember, s.params(now, `;nonce="abc"`), authority, coveredBot)
		},
		"a field": func(now time.Time) *Message {
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot, `"accept": text/html, */*`)
			m.Header["Accept"] = []string{" text/html", "*/* "}
			return m
		},
		"another signature beside": func(now time.Time) *Message {
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot)
			m.Header.Set("Signature-Input", `cdn=("@method");created=1;keyid="x";tag="cdn", `+m.Header.Get("Signature-Input"))
			m.Header.Set("Signature", `cdn=:AAAA:, `+m.Header.Get("Signature"))
			return m
		},
		"a port that is the default": func(now time.Time) *Message {
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot)
			m.Host = "SITE.test:443"
			return m
		},
		"an empty body with its digest": func(now time.Time) *Message {
			digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sha256.New().Sum(nil)) + ":"
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot, `"content-digest": `+digest)
			m.Header.Set("Content-Digest", digest)
			return m
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := signed(t, s)
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
			f := signed(t, s)
			defer f.Close()
			now := f.config.Now()
			if row, got := f.check(s.request(agentMember, s.params(now, `;alg="`+name+`"`), authority, coveredBot), ""); row != "Signer" {
				t.Errorf("%s: %q, %+v", name, row, got)
			}
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot)
			m.Host = "other.test"
			if row, got := f.check(m, ""); row != "" || got.Reason != SignatureWrong {
				t.Errorf("%s, changed: %q, %+v", name, row, got)
			}
			if _, got := f.check(s.request(agentMember, s.params(now, `;alg="hmac-sha256"`), authority, coveredBot), ""); got.Reason != SignatureUnsupported {
				t.Errorf("%s, other alg: %+v", name, got)
			}
		})
	}
}

// Each of these says neither yes nor no.
func TestSignaturesThatDoNotHold(t *testing.T) {
	s, stranger := newEd25519Signer(), newEd25519Signer()
	change := func(name, value string) func(time.Time) *Message {
		return func(now time.Time) *Message {
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
		request func(now time.Time) *Message
		want    Reason
	}{
		"no target covered": {func(now time.Time) *Message {
			return s.request(agentMember, s.params(now, ""), `"@method": GET`, coveredBot)
		}, SignatureNotCovered},
		"no agent covered": {func(now time.Time) *Message { return s.request(agentMember, s.params(now, ""), authority) }, SignatureNotCovered},
		"two agents, none own": {func(now time.Time) *Message {
			return s.request(`a="https://agent.test", b="https://other.test"`, s.params(now, ""), authority, `"signature-agent": a="https://agent.test", b="https://other.test"`)
		}, SignatureNotCovered},
		"expired": {func(now time.Time) *Message {
			return s.request(agentMember, s.params(now.Add(-2*time.Hour), ""), authority, coveredBot)
		}, SignatureExpired},
		"created in the future": {func(now time.Time) *Message {
			return s.request(agentMember, s.params(now.Add(10*time.Minute), ""), authority, coveredBot)
		}, SignatureFromFuture},
		"no times": {func(now time.Time) *Message {
			return s.request(agentMember, `;keyid="`+s.thumbprint+`";tag="web-bot-auth"`, authority, coveredBot)
		}, SignatureMalformed},
		"no keyid": {func(now time.Time) *Message {
			return s.request(agentMember, fmt.Sprintf(`;created=%d;expires=%d;tag="web-bot-auth"`, now.Unix(), now.Unix()+60), authority, coveredBot)
		}, SignatureMalformed},
		"expires before it is created": {func(now time.Time) *Message {
			return s.request(agentMember, fmt.Sprintf(`;created=%d;expires=%d;keyid="%s";tag="web-bot-auth"`, now.Unix(), now.Unix()-60, s.thumbprint), authority, coveredBot)
		}, SignatureMalformed},
		"a stranger's key": {func(now time.Time) *Message {
			return stranger.request(agentMember, stranger.params(now, ""), authority, coveredBot)
		}, KeyUnknown},
		"a stranger's signature under the key's name": {func(now time.Time) *Message {
			return stranger.request(agentMember, s.params(now, ""), authority, coveredBot)
		}, SignatureWrong},
		"a directory that nobody named": {func(now time.Time) *Message {
			return s.request(`sig1="https://stranger.test"`, s.params(now, ""), authority, `"signature-agent";key="sig1": "https://stranger.test"`)
		}, DirectoryUnknown},
		"a directory on http": {func(now time.Time) *Message {
			return s.request(`sig1="http://agent.test"`, s.params(now, ""), authority, `"signature-agent";key="sig1": "http://agent.test"`)
		}, SignatureMalformed},
		"an agent with a path": {func(now time.Time) *Message {
			return s.request(`sig1="https://agent.test/x"`, s.params(now, ""), authority, `"signature-agent";key="sig1": "https://agent.test/x"`)
		}, SignatureMalformed},
		"another way to find keys": {func(now time.Time) *Message {
			return s.request(`sig1="https://agent.test";type=cimd`, s.params(now, ""), authority, `"signature-agent";key="sig1": "https://agent.test";type=cimd`)
		}, SignatureUnsupported},
		"no agent and no claim": {func(now time.Time) *Message { return s.request("", s.params(now, ""), authority) }, DirectoryUnknown},
		"another authority, as behind a proxy": {func(now time.Time) *Message {
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot)
			m.Host = "backend.internal:8080"
			return m
		}, SignatureWrong},
		"a component twice": {func(now time.Time) *Message {
			return s.request(agentMember, s.params(now, ""), authority, authority, coveredBot)
		}, SignatureUnsupported},
		"a field that is absent": {func(now time.Time) *Message {
			return s.request(agentMember, s.params(now, ""), authority, coveredBot, `"x-other": a`)
		}, SignatureUnsupported},
		"a component that nobody knows": {func(now time.Time) *Message {
			return s.request(agentMember, s.params(now, ""), authority, coveredBot, `"@moon": full`)
		}, SignatureUnsupported},
		"a body that is not read": {func(now time.Time) *Message {
			digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sha256.New().Sum(nil)) + ":"
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot, `"content-digest": `+digest)
			m.Header.Set("Content-Digest", digest)
			m.HasBody = true
			return m
		}, SignatureUnsupported},
		"a label twice": {func(now time.Time) *Message {
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot)
			m.Header["Signature-Input"] = append(m.Header["Signature-Input"], m.Header.Get("Signature-Input"))
			return m
		}, SignatureMalformed},
		"a label twice in one field": {func(now time.Time) *Message {
			m := s.request(agentMember, s.params(now, ""), authority, coveredBot)
			m.Header.Set("Signature", `sig1=:AAAA:, `+m.Header.Get("Signature"))
			return m
		}, SignatureMalformed},
		"fields of 64 KB":     {change("Signature-Input", `sig1=("@authority");x="`+strings.Repeat("a", 64<<10)+`"`), SignatureTooLong},
		"no Signature":        {change("Signature", ""), SignatureMalformed},
		"Signature in pieces": {change("Signature", "sig1=:AAA"), SignatureMalformed},
		"Signature of words":  {change("Signature", `sig1="AAAA"`), SignatureMalformed},
		"Signature too short": {change("Signature", `sig1=:AAAA:`), SignatureWrong},
		"no list":             {change("Signature-Input", `sig1=(("`), SignatureMalformed},
		"agent in pieces":     {change("Signature-Agent", `sig1="https://agent.test`), SignatureMalformed},
		"agent of bytes":      {change("Signature-Agent", `sig1=:AAAA:`), SignatureMalformed},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := signed(t, s)
			defer f.Close()
			f.web.set("https://stranger.test"+wellKnown, s.directory())
			if row, got := f.check(tc.request(f.config.Now()), ""); row != "" || got != (Result{Unverified, NoneMethod, tc.want}) {
				t.Errorf("%s: %q, %+v, want %s", name, row, got, tc.want)
			}
			synctest.Wait()
			if f.web.count("https://stranger.test"+wellKnown) != 0 {
				t.Errorf("%s: a client made the server read a directory", name)
			}
		})
	}
}

// Where a signature names no directory, those of the claimed crawler are searched: never all of them.
func TestSignatureWithoutAgent(t *testing.T) {
	s := newEd25519Signer()
	synctest.Test(t, func(t *testing.T) {
		f := signed(t, s)
		defer f.Close()
		m := s.request("", s.params(f.config.Now(), ""), authority)
		if row, got := f.check(m, "Signer"); row != "Signer" || got != signatureVerified {
			t.Errorf("with the claim: %q, %+v", row, got)
		}
		if row, got := f.check(m, "Both"); row != "" || got.Reason != DirectoryUnknown {
			t.Errorf("with the claim to be another: %q, %+v", row, got)
		}
	})
}

// A request without signature fields, or with others' only, is none of this package's business.
func TestUnsignedRequests(t *testing.T) {
	f := newFixture(t)
	defer f.Close()
	for _, m := range []*Message{
		{Header: http.Header{}},
		{Header: http.Header{"Signature-Input": {`cdn=("@method");created=1;keyid="x";tag="cdn"`}, "Signature": {"cdn=:AAAA:"}}},
		{Header: http.Header{"Signature-Agent": {`"https://agent.test"`}}},
	} {
		if row, got := f.check(m, "Signer"); row != "" || got != (Result{}) {
			t.Errorf("%v: %q, %+v", m.Header, row, got)
		}
	}
	m := &Message{Header: http.Header{"User-Agent": {"Mozilla/5.0"}}}
	if n := testing.AllocsPerRun(100, func() { f.checker.Signature(m, nil, time.Now()) }); n != 0 {
		t.Errorf("%v allocations without a signature", n)
	}
}

// A nonce counts once, until the signature expires.
func TestReplay(t *testing.T) {
	s := newEd25519Signer()
	synctest.Test(t, func(t *testing.T) {
		f := signed(t, s)
		defer f.Close()
		now := f.config.Now()
		m := s.request(agentMember, s.params(now, `;nonce="once"`), authority, coveredBot)
		if row, _ := f.check(m, ""); row != "Signer" {
			t.Fatal("the first time")
		}
		if row, got := f.check(m, ""); row != "" || got.Reason != SignatureReplayed {
			t.Errorf("the second time: %q, %+v", row, got)
		}
		if row, _ := f.check(s.request(agentMember, s.params(now, `;nonce="twice"`), authority, coveredBot), ""); row != "Signer" {
			t.Error("another nonce")
		}
	})
}

// A directory that several crawlers share proves the one that is claimed.
func TestSharedDirectory(t *testing.T) {
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
			t.Errorf("the directory was read %d times", n)
		}
	})
}

func FuzzSignature(f *testing.F) {
	s := newEd25519Signer()
	now := time.Unix(1_800_000_000, 0)
	m := s.request(agentMember, s.params(now, `;nonce="a"`), authority, coveredBot)
	f.Add(m.Header.Get("Signature-Input"), m.Header.Get("Signature"), m.Header.Get("Signature-Agent"), "/a?b=c")
	f.Add(`sig1=("@query-param";name="a%zz" "content-digest";key="x");tag="web-bot-auth"`, "sig1=:AAAA:", `"https://agent.test"`, "http://x")
	fx := newFixture(f)
	f.Cleanup(fx.Close)
	d, err := directoryParser(nil)(&response{body: []byte(s.jwk), mediaType: directoryType}, nil, now)
	if err != nil {
		f.Fatal(err)
	}
	fx.directories[directoryAt].current.Store(&held[*directory]{d, copyInfo{Read: now}})
	f.Fuzz(func(t *testing.T, input, signature, agent, uri string) {
		m := &Message{Method: "GET", Scheme: "https", Host: "site.test", RequestURI: uri, Header: http.Header{
			"Signature-Input": {input}, "Signature": {signature}, "Signature-Agent": {agent}}}
		row, got := fx.checker.Signature(m, nil, now)
		if (row != nil) != (got.State == Verified) || got.State == Impostor || got.State == Unverified && got.Reason == NoReason {
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
