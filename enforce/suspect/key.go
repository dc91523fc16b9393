package suspect

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net/netip"
)

// KeySize is the number of octets of a Key's secret.
const KeySize = 32

// Key signs trap URLs and the buttons of refusals, and names clients to the
// servers of a fleet, by HMAC-SHA-256 (RFC 2104). All servers of a fleet need
// the same. It is safe for concurrent use.
type Key struct {
	inner, outer [sha256.BlockSize]byte
}

// NewKey returns the key with a secret of KeySize random octets.
func NewKey(secret []byte) (*Key, error) {
	if len(secret) != KeySize {
		return nil, errors.New("the key of trap URLs is not 32 octets long")
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

// What a signature is for.
const (
	forAddress = 1 + iota // of a trap URL
	forTrap
	forButton
	forClient
)

// maxSigned is how many octets of a text are signed: longer ones are cut.
const maxSigned = 2048

// sign returns the HMAC of what it is for, a time, an address and two texts.
// It allocates nothing.
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

// Network returns whose requests are taken for one client's: an IPv4 address,
// or the /64 of an IPv6 address.
func Network(addr netip.Addr) (network [16]byte) {
	addr = addr.Unmap()
	network = addr.As16()
	if !addr.Is4() {
		clear(network[8:])
	}
	return network
}
