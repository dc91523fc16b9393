package suspect

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// Remember is how long signals and trap URLs are good for.
const Remember = 24 * time.Hour

// Trap is the path of a trap: what a pattern such as /calendar-all/* has before
// its star.
type Trap string

// maxTrap bounds the path of a trap.
const maxTrap = 256

// ParseTrap returns the trap of a pattern: a path that ends with a slash, or
// with a slash and a star.
func ParseTrap(pattern string) (Trap, error) {
	path := strings.TrimSuffix(pattern, "*")
	switch {
	case len(path) < 3 || path[0] != '/' || path[len(path)-1] != '/':
		return "", fmt.Errorf("trap %q: want a folder of its own, such as /calendar-all/*", pattern)
	case len(path) > maxTrap:
		return "", fmt.Errorf("trap: the path has more than %d octets", maxTrap)
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

// ErrNoTrap is what a URL that no trap has minted is.
var ErrNoTrap = errors.New("not a trap URL that was minted here")

// The octets of the token of a trap URL: when it was minted, in seconds since
// 1970; a part of the signature of the address; and one of all that and the site.
const (
	tokenTime    = 4
	tokenAddress = 8
	tokenProof   = 8
	tokenSize    = tokenTime + tokenAddress + tokenProof
)

// tokenLen is the length of a token as text.
var tokenLen = base64.RawURLEncoding.EncodedLen(tokenSize)

// Mint returns a URL below the path of the trap, for one address of a site. It
// tells nothing about the address to whoever has no key.
func (t Trap) Mint(k *Key, site string, client netip.Addr, now time.Time) string {
	token := k.token(site, client, uint32(now.Unix()))
	var text [len(t0) + maxTrap]byte
	b := append(text[:0], t...)
	return string(base64.RawURLEncoding.AppendEncode(b, token[:]))
}

// t0 has the length of a token.
const t0 = "AAAAAAAAAAAAAAAAAAAAAAAAAAA"

// token signs an address.
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

// Hit is what a request has to do with a trap.
type Hit uint8

// The hits, by how much they say.
const (
	NoHit     Hit = iota
	StaticHit     // a URL below the path that was not minted
	OtherHit      // one that was minted for another address
	MintedHit     // one that was minted for this address
)

// Hit tells what a request target has to do with the trap. A URL that was
// minted more than 24 hours ago is no hit: people keep tabs and bookmarks.
func (t Trap) Hit(k *Key, target, site string, client netip.Addr, now time.Time) Hit {
	rest, below := strings.CutPrefix(target, string(t))
	if !below {
		return NoHit
	}
	rest, _, _ = strings.Cut(rest, "?")
	at, own, err := k.open(rest, site, client)
	switch age := now.Unix() - int64(at); {
	case err != nil:
		return StaticHit
	case age > int64(Remember/time.Second) || age < -60:
		return NoHit
	case own:
		return MintedHit
	}
	return OtherHit
}

// open returns when a token was minted and whether it was for this address.
func (k *Key) open(text, site string, client netip.Addr) (at uint32, own bool, err error) {
	if len(text) != tokenLen {
		return 0, false, ErrNoTrap
	}
	var token [tokenSize + 1]byte
	n, err := base64.RawURLEncoding.Strict().Decode(token[:], []byte(text))
	if err != nil || n != tokenSize {
		return 0, false, ErrNoTrap
	}
	proof := k.proof(site, token[:tokenTime+tokenAddress])
	if subtle.ConstantTimeCompare(proof[:], token[tokenTime+tokenAddress:tokenSize]) == 0 {
		return 0, false, ErrNoTrap
	}
	at = binary.BigEndian.Uint32(token[:])
	address := k.sign(forAddress, uint64(at), Network(client), site, "")
	own = subtle.ConstantTimeCompare(address[:tokenAddress], token[tokenTime:tokenTime+tokenAddress]) == 1
	return at, own, nil
}
