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
