package suspect

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/netip"

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
