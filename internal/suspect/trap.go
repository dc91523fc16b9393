package suspect

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// Remember is the time after which signals are forgotten and trap URLs expire.
const Remember = 24 * time.Hour

// Trap is a path with a slash at its end, such as /calendar-all/. A site links to
// URLs below that path where people do not see the links, and its robots.txt
// disallows the path to every crawler. Only robots that ignore robots.txt request
// such URLs.
type Trap string

// maxTrap is the largest length of a Trap in octets.
const maxTrap = 256

// ParseTrap parses a trap: a path that ends with a slash, or with a slash and a
// star, such as /calendar-all/*. The error says what is wrong with the pattern.
func ParseTrap(pattern string) (Trap, error) {
	path := strings.TrimSuffix(pattern, "*")
	switch {
	case len(path) < 3 || path[0] != '/' || path[len(path)-1] != '/':
		return "", fmt.Errorf("trap %q: want a folder of its own, such as /calendar-all/*", pattern)
	case len(path) > maxTrap:
		return "", fmt.Errorf("trap: the path has %d octets: at most %d are allowed", len(path), maxTrap)
	case strings.Contains(path, "//"):
		return "", fmt.Errorf("trap %q has an empty segment", pattern)
	case strings.HasPrefix(path, "/.well-known/"):
		return "", fmt.Errorf("trap %q: paths below /.well-known/ are never denied", pattern)
	}
	for _, c := range []byte(path) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"#$%&'*+,;<=>?@[\]^{|}`, c) >= 0 {
			return "", fmt.Errorf("trap %q: want letters, digits, slashes, dots and hyphens, with a star at the end only", pattern)
		}
	}
	return Trap(path), nil
}

// The parts of the token of a trap URL, in octets: the time at which it was minted,
// in seconds since 1970; the beginning of the signature of the address; and the
// beginning of the signature of both and the site.
const (
	tokenTime    = 4
	tokenAddress = 8
	tokenProof   = 8
	tokenSize    = tokenTime + tokenAddress + tokenProof

	tokenLen = (8*tokenSize + 5) / 6 // of a token in a URL, in base64
)

// Mint returns a URL (path only) below the path of the trap, for one client address
// (see Network) at one site. It is valid for 24 hours. Nobody can find the address
// in it without the key, which must not be nil.
func (t Trap) Mint(k *Key, site string, client netip.Addr, now time.Time) string {
	token := k.token(site, client, uint32(now.Unix()))
	var text [tokenLen + maxTrap]byte
	b := append(text[:0], t...)
	return string(base64.RawURLEncoding.AppendEncode(b, token[:]))
}

// token makes the token for an address and a time in seconds since 1970.
func (k *Key) token(site string, client netip.Addr, at uint32) (token [tokenSize]byte) {
	binary.BigEndian.PutUint32(token[:], at)
	address := k.sign(forAddress, uint64(at), Network(client), site, "")
	copy(token[tokenTime:], address[:tokenAddress])
	proof := k.proof(site, token[:tokenTime+tokenAddress])
	copy(token[tokenTime+tokenAddress:], proof[:])
	return token
}

// proof signs the other parts of a token.
func (k *Key) proof(site string, parts []byte) (proof [tokenProof]byte) {
	var octets [16]byte
	copy(octets[:], parts[tokenTime:])
	sum := k.sign(forTrap, uint64(binary.BigEndian.Uint32(parts)), octets, site, "")
	copy(proof[:], sum[:])
	return proof
}

// Hit says whether a request is for a trap URL, and for which kind.
type Hit uint8

// The kinds of hits, the weakest evidence first.
const (
	NoHit     Hit = iota // not a trap URL, or one that has expired
	StaticHit            // any other URL below the path: it was not minted with this key for this site
	OtherHit             // a URL that was minted for another client address
	MintedHit            // a URL that was minted for this client address
)

// Hit returns the kind of hit that a request target is. A URL that was minted more
// than 24 hours ago is no hit, because people keep tabs and bookmarks. The key must
// not be nil.
func (t Trap) Hit(k *Key, target, site string, client netip.Addr, now time.Time) Hit {
	rest, below := strings.CutPrefix(target, string(t))
	if !below {
		return NoHit
	}
	rest, _, _ = strings.Cut(rest, "?")
	at, own, minted := k.open(rest, site, client)
	switch age := now.Unix() - int64(at); {
	case !minted:
		return StaticHit
	case age > int64(Remember/time.Second) || age < -60:
		return NoHit
	case own:
		return MintedHit
	}
	return OtherHit
}

// open returns when a token was minted, in seconds since 1970, and whether it was
// minted for this client. minted is false if it was not minted with this key.
func (k *Key) open(text, site string, client netip.Addr) (at uint32, own, minted bool) {
	var token [tokenSize + 1]byte
	if len(text) != tokenLen {
		return 0, false, false
	}
	if n, err := base64.RawURLEncoding.Strict().Decode(token[:], []byte(text)); err != nil || n != tokenSize {
		return 0, false, false
	}
	proof := k.proof(site, token[:tokenTime+tokenAddress])
	if subtle.ConstantTimeCompare(proof[:], token[tokenTime+tokenAddress:tokenSize]) == 0 {
		return 0, false, false
	}
	at = binary.BigEndian.Uint32(token[:])
	address := k.sign(forAddress, uint64(at), Network(client), site, "")
	own = subtle.ConstantTimeCompare(address[:tokenAddress], token[tokenTime:tokenTime+tokenAddress]) == 1
	return at, own, true
}

// KeySize is the length of a Key's secret in octets.
const KeySize = 32

// Key computes HMAC-SHA-256 (RFC 2104). It signs trap URLs and the tokens of
// Button, and it makes the hashes that stand for visitors in a Mark. All servers
// that share suspects need the same key. It is safe for concurrent use.
type Key struct {
	inner, outer [sha256.BlockSize]byte
}

// NewKey returns the key for a secret. The secret must be KeySize random octets;
// another length is an error.
func NewKey(secret []byte) (*Key, error) {
	if len(secret) != KeySize {
		return nil, fmt.Errorf("the key of trap URLs has %d octets: want %d", len(secret), KeySize)
	}
	k := new(Key)
	copy(k.inner[:], secret)
	copy(k.outer[:], secret)
	for i := range k.inner {
		k.inner[i] ^= 0x36
		k.outer[i] ^= 0x5c
	}
	return k, nil
}

// The first octet of what is signed. It keeps a signature from being used for
// something else.
const (
	forAddress = 1 + iota // the address in a trap URL
	forTrap               // a whole trap URL
	forButton
	forClient
)

// maxSigned is the number of octets of a text that are signed. The rest is cut.
const maxSigned = 2048

// sign returns the HMAC of a purpose, a time, an address and two texts. It
// allocates no memory.
func (k *Key) sign(what byte, at uint64, network [16]byte, site, text string) [sha256.Size]byte {
	var buf [sha256.BlockSize + 1 + 8 + 16 + 2 + 256 + maxSigned]byte
	b := append(buf[:0], k.inner[:]...)
	b = append(b, what)
	b = binary.BigEndian.AppendUint64(b, at)
	b = append(b, network[:]...)
	site = site[:min(len(site), 256)]
	b = binary.BigEndian.AppendUint16(b, uint16(len(site)))
	b = append(b, site...)
	b = append(b, text[:min(len(text), maxSigned)]...)
	inner := sha256.Sum256(b)
	var last [sha256.BlockSize + sha256.Size]byte
	copy(last[:], k.outer[:])
	copy(last[sha256.BlockSize:], inner[:])
	return sha256.Sum256(last[:])
}

// Network returns what counts as one client address, IPv4 in IPv6 form.
// Suspect.Network is shorter, because people read it.
func Network(addr netip.Addr) [16]byte { return netaddr.Client(addr).As16() }

// buttonLife is the least time for which the token of a button is valid.
const buttonLife = time.Hour

// buttonSize is the length of a button's token in octets.
const buttonSize = 16

// Button returns a token for the button on the page that refuses a suspect's
// request. A person presses the button to read the page in spite of the refusal. If
// Pressed accepts the token, the caller should set a cookie, because See ignores
// requests with a Cookie. The token is valid for at least one hour and at most two,
// and only for the same Network, User-Agent and site. A form on another site cannot
// know it.
func (k *Key) Button(site string, client netip.Addr, userAgent string, now time.Time) string {
	return k.button(site, client, userAgent, hour(now))
}

func (k *Key) button(site string, client netip.Addr, userAgent string, hour uint64) string {
	sum := k.sign(forButton, hour, Network(client), site, userAgent)
	return base64.RawURLEncoding.EncodeToString(sum[:buttonSize])
}

// Pressed reports whether a token is still valid, and whether Button returned it for
// the Network of this address, this User-Agent and this site.
func (k *Key) Pressed(token, site string, client netip.Addr, userAgent string, now time.Time) bool {
	if len(token) != base64.RawURLEncoding.EncodedLen(buttonSize) || strings.ContainsAny(token, "\r\n") {
		return false
	}
	for _, h := range [...]uint64{hour(now), hour(now) - 1} {
		if subtle.ConstantTimeCompare([]byte(token), []byte(k.button(site, client, userAgent, h))) == 1 {
			return true
		}
	}
	return false
}

func hour(now time.Time) uint64 { return uint64(now.Unix()) / uint64(buttonLife/time.Second) }
