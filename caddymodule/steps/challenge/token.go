package challenge

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"net/netip"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/internal/seal"
)

// tokenKind says what a token is for. A token of one kind is never valid as another.
type tokenKind byte

const (
	styleToken   tokenKind = iota + 1 // of the style sheet, which sets the cookie
	openToken                         // of the URL that the page opens by itself
	buttonToken                       // of the button
	pageToken                         // of the redirect after the button, for clients that keep no cookie
	passByStyle                       // the cookie's value, if the style sheet set it
	passByButton                      // the cookie's value, if the button set it
	trapToken                         // of a trap URL
)

// isPass reports whether a token is a cookie's value.
func (k tokenKind) isPass() bool { return k == passByStyle || k == passByButton }

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

// isFresh reports whether a token that is not older than life may be used.
func (t token) isFresh(now time.Time, life time.Duration) bool {
	age := now.Sub(time.Unix(int64(t.at), 0))
	return age <= life && age >= -clockSlack
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
	target    string // path and query, for a pageToken
}

// network returns the network of an address: the /24, or the /48 of an IPv6 address.
func network(addr netip.Addr) [16]byte {
	addr = netaddr.Unmap(addr)
	bits := 48
	if addr.Is4() {
		bits = 24
	}
	prefix, _ := addr.Prefix(bits) // fails for no address, which has no network
	return prefix.Addr().As16()
}

// sign returns the signature of a token. A pass belongs to a scheme and a host (cookies
// know no ports, and the servers of a fleet may have different ones) and to a User-Agent, like
// all other tokens. A styleToken belongs to the network of the client too, a pageToken to one
// page, and a trapToken to one address. The others don't: a person may have several addresses.
func sign(k *seal.Key, t token, b *bearer) [macSize]byte {
	site, number := b.origin.Host, uint64(t.at)
	if b.origin.Scheme == "https" {
		number |= 1 << 32
	}
	switch t.kind {
	case styleToken:
		of := network(b.addr)
		site = string(of[:]) + site
	case pageToken:
		of := sha256.Sum256([]byte(b.target))
		site = string(of[:]) + site
	case trapToken:
		of := netaddr.Client(b.addr).As16()
		site = string(of[:]) + site
	}
	var id [16]byte
	copy(id[:], t.id[:])
	sum := k.Sign(byte(t.kind), number, id, site, b.userAgent)
	return [macSize]byte(sum[:])
}

// text returns the form of a token in URLs and cookies.
func (r ring) text(t token, b *bearer) string {
	var octets [tokenSize]byte
	out := binary.BigEndian.AppendUint32(octets[:0], t.at)
	out = append(out, t.id[:]...)
	out = append(out, byte(t.kind))
	mac := sign(r[0], t, b)
	return base64.RawURLEncoding.EncodeToString(append(out, mac[:]...))
}

// open reads a token. The result is the zero token unless a server with one of the keys has
// made it for this client. An openToken gives nothing, so it needs no signature: a client that
// meets another server must not go round in circles.
func (r ring) open(text string, b *bearer) token {
	var octets [tokenSize + 1]byte
	if len(text) != tokenLen || strings.ContainsAny(text, "\r\n") {
		return token{}
	}
	if n, err := base64.RawURLEncoding.Strict().Decode(octets[:], []byte(text)); err != nil || n != tokenSize {
		return token{}
	}
	t := token{kind: tokenKind(octets[12]), at: binary.BigEndian.Uint32(octets[:]), id: [8]byte(octets[4:])}
	if t.kind == openToken {
		return t
	}
	for _, k := range r {
		want := sign(k, t, b)
		if subtle.ConstantTimeCompare(octets[tokenSize-macSize:tokenSize], want[:]) == 1 {
			return t
		}
	}
	return token{}
}
