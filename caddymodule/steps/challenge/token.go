package challenge

import (
	"crypto/rand"
	"crypto/sha3"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/internal/visible"
)

// tokenKind says what a token is for. A token of one kind is never valid as another.
type tokenKind byte

const (
	styleToken  tokenKind = iota + 1 // of the style sheet, which sets the cookie
	openToken                        // of the URL that the page opens by itself
	buttonToken                      // of the button
	pageToken                        // of the redirect after the button, for clients that keep no cookie
	passToken                        // the cookie's value
	trapToken                        // of a trap URL
)

// Lives of tokens that are in a URL.
const (
	tokenLife  = time.Minute
	buttonLife = time.Hour // who reads the page slowly
	// clockSlack is by how much the clocks of two servers may differ.
	clockSlack = 10 * time.Second
)

// token is what a client sends back. It is stateless: the text of a token proves that
// this server, or one with the same key, has made it.
type token struct {
	kind tokenKind
	at   uint32  // when the page was made, in seconds since 1970
	id   [8]byte // random; the same for all tokens of a page, and for the pass that it gives
}

// newToken returns a token for a new page.
func newToken(now time.Time) (t token) {
	t.at = uint32(now.Unix())
	_, _ = rand.Read(t.id[:]) // never fails
	return t
}

// as returns the token of another kind for the same page.
func (t token) as(k tokenKind) token { t.kind = k; return t }

// isFresh reports whether a token is of a kind, and not older than life.
func (t token) isFresh(k tokenKind, now time.Time, life time.Duration) bool {
	age := now.Sub(time.Unix(int64(t.at), 0))
	return t.kind == k && age <= life && age >= -clockSlack
}

// reference returns the characters by which the page and the log name a check.
func (t token) reference() string { return base64.RawURLEncoding.EncodeToString(t.id[:6]) }

// A token is its time, id, kind and signature, in base64.
const (
	macSize   = 16
	tokenSize = 4 + 8 + 1 + macSize
	tokenLen  = (8*tokenSize + 5) / 6
)

// bearer is the client that a token is made for.
type bearer struct {
	origin    judge.Origin
	userAgent string
	addr      netip.Addr
	target    string // path and query
}

// Octets of a client's fields that are signed. The rest is cut.
const (
	maxSecret = 64
	maxHost   = 256
	maxAgent  = 2048
)

// sign returns the signature of a token: SHA-3 of a secret and of all that the token belongs to,
// which needs no more, unlike SHA-2 (RFC 2104). A pass belongs to a scheme and a host (cookies
// know no ports, and the servers of a fleet may have different ones) and to a User-Agent, like
// all other tokens. A styleToken belongs to the network of the client too, a pageToken to one
// page, and a trapToken to one address. The others don't: a person may have several addresses.
func sign(secret string, t token, b *bearer) [macSize]byte {
	var of [16]byte
	switch t.kind {
	case styleToken:
		of = visible.Network(b.addr).Addr().As16()
	case pageToken:
		sum := sha3.Sum256([]byte(b.target))
		of = [16]byte(sum[:])
	case trapToken:
		of = netaddr.Client(b.addr).As16()
	}
	var buf [maxSecret + tokenSize + len(of) + len("https") + maxHost + 2 + maxAgent]byte
	copy(buf[:maxSecret], secret)
	signed := append(t.appendTo(buf[:maxSecret]), of[:]...)
	signed = append(append(signed, b.origin.Scheme...), 0)
	signed = append(append(signed, b.origin.Host[:min(len(b.origin.Host), maxHost)]...), 0)
	signed = append(signed, b.userAgent[:min(len(b.userAgent), maxAgent)]...)
	sum := sha3.Sum256(signed)
	return [macSize]byte(sum[:])
}

// appendTo appends the octets of a token without its signature.
func (t token) appendTo(octets []byte) []byte {
	octets = binary.BigEndian.AppendUint32(octets, t.at)
	return append(append(octets, t.id[:]...), byte(t.kind))
}

// text returns the form of a token in URLs and cookies.
func (r ring) text(t token, b *bearer) string {
	mac := sign(r[0], t, b)
	return base64.RawURLEncoding.EncodeToString(append(t.appendTo(nil), mac[:]...))
}

// open reads a token. The result is the zero token unless a server with one of the secrets has
// made it for this client. An openToken gives nothing, so it needs no signature: a client that
// meets another server must not go round in circles.
func (r ring) open(text string, b *bearer) token {
	var octets [tokenSize]byte
	if len(text) != tokenLen {
		return token{}
	}
	if n, err := base64.RawURLEncoding.Strict().Decode(octets[:], []byte(text)); err != nil || n != tokenSize {
		return token{}
	}
	t := token{kind: tokenKind(octets[12]), at: binary.BigEndian.Uint32(octets[:]), id: [8]byte(octets[4:])}
	isSigned := func(secret string) bool {
		want := sign(secret, t, b)
		return subtle.ConstantTimeCompare(octets[tokenSize-macSize:], want[:]) == 1
	}
	if t.kind == openToken || slices.ContainsFunc(r, isSigned) {
		return t
	}
	return token{}
}
