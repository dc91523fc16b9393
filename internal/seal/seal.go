// Package seal signs small values that clients send back: tokens of URLs, cookies,
// and hashes that stand for clients.
package seal

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Size is the length of a secret in octets.
const Size = 32

// Key computes HMAC-SHA-256 (RFC 2104). It is safe for concurrent use.
type Key struct {
	inner, outer [sha256.BlockSize]byte
}

// NewKey returns the key for a secret. The secret must be Size random octets; another
// length is an error.
func NewKey(secret []byte) (*Key, error) {
	if len(secret) != Size {
		return nil, fmt.Errorf("a key has %d octets: want %d", len(secret), Size)
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

// maxSigned is the number of octets of a text that are signed. The rest is cut.
const maxSigned = 2048

// Sign returns the HMAC of what is signed, which keeps a signature from being used for
// something else, a number, 16 octets and two texts of which at most 256 and 2,048 octets
// count. It allocates no memory.
func (k *Key) Sign(what byte, number uint64, octets [16]byte, site, text string) [sha256.Size]byte {
	var buf [sha256.BlockSize + 1 + 8 + 16 + 2 + 256 + maxSigned]byte
	b := append(buf[:0], k.inner[:]...)
	b = append(b, what)
	b = binary.BigEndian.AppendUint64(b, number)
	b = append(b, octets[:]...)
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
