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
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
)

const directoryType = "application/http-message-signatures-directory+json"

// signer signs requests like an agent. It builds the signature base itself, so that the tests check the package against RFC 9421.
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

// newSigner returns a signer for a public key. jwk must be in canonical form (RFC 7638).
func newSigner(jwk string, sign func(string) []byte) *signer {
	sum := sha256.Sum256([]byte(jwk)) // the JWK is in canonical form
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

// directory answers with a directory of the signer's key.
func (s *signer) directory() func(*http.Request) *http.Response {
	return page(`{"keys":[`+s.jwk+`]}`, "Content-Type", directoryType)
}

// request returns a signed request for https://site.test/a?b=c. agent is the value of Signature-Agent, params are the signature parameters, and
// components are lines of the signature base.
func (s *signer) request(agent, params string, components ...string) *claim.Message {
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
	return &claim.Message{Method: "GET", Scheme: "https", Host: "site.test", RequestURI: "/a?b=c", Header: header}
}

// params returns signature parameters that are valid for an hour from now, with more at the end.
func (s *signer) params(now time.Time, more string) string {
	return fmt.Sprintf(`;created=%d;expires=%d;keyid="%s";tag="web-bot-auth"%s`, now.Unix(), now.Add(time.Hour).Unix(), s.thumbprint, more)
}

// Parts of signed requests: the fields, and lines of the signature base.
const (
	authority   = `"@authority": site.test`
	agentMember = `sig1="https://agent.test"`
	coveredBot  = `"signature-agent";key="sig1": "https://agent.test"`
	directoryAt = agentURI + wellKnown
)
