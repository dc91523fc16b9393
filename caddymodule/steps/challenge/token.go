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
	endOfKinds
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
	late uint16  // of a pass that use has renewed: the minutes from at until then
}

// newToken returns a token for a new page.
func newToken(now time.Time) (t token) {
	t.at = uint32(now.Unix())
	_, _ = rand.Read(t.id[:]) // never fails
	return t
}

// as returns the token of another kind for the same page.
func (t token) as(k tokenKind) token { t.kind = k; return t }

// age returns the time since the page was made; a negative one is in the future.
func (t token) age(now time.Time) time.Duration { return now.Sub(time.Unix(int64(t.at), 0)) }

// isFresh reports whether a token that is not older than life may be used.
func (t token) isFresh(now time.Time, life time.Duration) bool {
	age := t.age(now)
	return age <= life && age >= -clockSlack
}

// life returns for how long after its making a pass is good that is good for a time after it
// is renewed.
func (t token) life(good time.Duration) time.Duration {
	return min(good+time.Duration(t.late)*time.Minute, mostPassFor)
}

// mayRenew reports whether use renews a pass now: when half of its time is over, until the
// last renewal that can make a difference.
func (t token) mayRenew(now time.Time, good time.Duration) bool {
	return t.kind.isPass() && t.life(good) < mostPassFor && t.age(now)-time.Duration(t.late)*time.Minute >= good/2
}

// reference returns the characters by which the page and the log name a check.
func (t token) reference() string { return base64.RawURLEncoding.EncodeToString(t.id[:6]) }

// A token is its time, id, kind, when it was renewed, and its signature, in base64.
const (
	macSize   = 16
	tokenSize = 4 + 8 + 1 + 2 + macSize
	tokenLen  = (8*tokenSize + 5) / 6
)

// bearer is the client that a token is made for.
type bearer struct {
	origin    judge.Origin
	userAgent string
	addr      netip.Addr
	target    string // path and query, for a pageToken
}

// sign returns the signature of a token. A pass belongs to a scheme and a host (cookies
// know no ports, and the servers of a fleet may have different ones) and to a User-Agent, like
// all other tokens. A styleToken belongs to the network of the client too, a pageToken to one
// page, and a trapToken to one address. The others don't: a person may have several addresses.
func (k *key) sign(t token, b *bearer) [macSize]byte {
	var octets [16]byte
	copy(octets[:], t.id[:])
	site, number := b.origin.Host, uint64(t.at)|uint64(t.late)<<40
	if b.origin.Scheme == "https" {
		number |= 1 << 32
	}
	if t.kind == styleToken {
		addr := netaddr.Unmap(b.addr)
		if network := addr.AsSlice(); addr.Is4() {
			octets[8] = 4
			copy(octets[9:12], network) // the /24
		} else if addr.Is6() {
			octets[8] = 6
			copy(octets[9:15], network) // the /48
		}
	}
	if t.kind == pageToken {
		sum := sha256.Sum256([]byte(b.target))
		site = string(sum[:]) + site
	}
	if t.kind == trapToken {
		octets := netaddr.Client(b.addr).As16()
		site = string(octets[:]) + site
	}
	sum := k.Sign(byte(t.kind), number, octets, site, b.userAgent)
	return [macSize]byte(sum[:])
}

// text returns the form of a token in URLs and cookies.
func (k *key) text(t token, b *bearer) string {
	var octets [tokenSize]byte
	out := binary.BigEndian.AppendUint32(octets[:0], t.at)
	out = append(out, t.id[:]...)
	out = append(out, byte(t.kind))
	out = binary.BigEndian.AppendUint16(out, t.late)
	mac := k.sign(t, b)
	return base64.RawURLEncoding.EncodeToString(append(out, mac[:]...))
}

// readToken reads a token, and its signature. ok is false if the text has another form.
func readToken(text string) (t token, mac []byte, ok bool) {
	var octets [tokenSize + 1]byte
	if len(text) != tokenLen || strings.ContainsAny(text, "\r\n") {
		return t, nil, false
	}
	if n, err := base64.RawURLEncoding.Strict().Decode(octets[:], []byte(text)); err != nil || n != tokenSize {
		return t, nil, false
	}
	t.at, t.kind = binary.BigEndian.Uint32(octets[:]), tokenKind(octets[12])
	copy(t.id[:], octets[4:])
	t.late = binary.BigEndian.Uint16(octets[13:])
	return t, octets[tokenSize-macSize : tokenSize], t.kind > 0 && t.kind < endOfKinds
}

// claimedOpen returns the openToken that a text claims to be, the zero token if it claims nothing
// of the kind. An openToken gives nothing, so it needs no signature: a client that meets another
// server must not go round in circles.
func claimedOpen(text string) token {
	if t, _, ok := readToken(text); ok && t.kind == openToken {
		return token{kind: openToken, at: t.at}
	}
	return token{}
}

// open reads a token. The result is the zero token unless a server with one of the keys has
// made it for this client.
func (r ring) open(text string, b *bearer) token {
	t, mac, ok := readToken(text)
	if !ok {
		return token{}
	}
	for _, k := range r {
		want := k.sign(t, b)
		if subtle.ConstantTimeCompare(mac, want[:]) == 1 {
			return t
		}
	}
	return token{}
}
