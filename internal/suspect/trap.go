package suspect

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/netaddr"
	"github.com/caddy-robots/caddy-robots/internal/seal"
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
	address := k.Sign(forAddress, uint64(at), Network(client), site, "")
	copy(token[tokenTime:], address[:tokenAddress])
	proof := k.proof(site, token[:tokenTime+tokenAddress])
	copy(token[tokenTime+tokenAddress:], proof[:])
	return token
}

// proof signs the other parts of a token.
func (k *Key) proof(site string, parts []byte) (proof [tokenProof]byte) {
	var octets [16]byte
	copy(octets[:], parts[tokenTime:])
	sum := k.Sign(forTrap, uint64(binary.BigEndian.Uint32(parts)), octets, site, "")
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
	address := k.Sign(forAddress, uint64(at), Network(client), site, "")
	own = subtle.ConstantTimeCompare(address[:tokenAddress], token[tokenTime:tokenTime+tokenAddress]) == 1
	return at, own, true
}

// Key signs trap URLs, and makes the hashes that stand for visitors in a Mark. All
// servers that share suspects need the same key. It is safe for concurrent use.
type Key struct{ *seal.Key }

// NewKey returns the key for a secret of seal.Size random octets.
func NewKey(secret []byte) (*Key, error) {
	k, err := seal.NewKey(secret)
	return &Key{k}, err
}

// The first octet of what is signed. It keeps a signature from being used for
// something else.
const (
	forAddress = 1 + iota // the address in a trap URL
	forTrap               // a whole trap URL
	forClient  = 4        // the hash of a Mark: servers of a fleet share it
)

// Network returns what counts as one client address, IPv4 in IPv6 form.
// Suspect.Network is shorter, because people read it.
func Network(addr netip.Addr) [16]byte { return netaddr.Client(addr).As16() }
