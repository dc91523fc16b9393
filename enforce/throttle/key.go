package throttle

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// Key names the holder of a budget in 128 bits. It is the same in every
// process, so that a fleet can share it.
//
// Build the keys of crawlers with NewKey when a policy is loaded, and derive
// those of single clients from them with Client, which is cheap.
type Key [2]uint64

// clientBit is set in the second word of a Key made by Client or Disposable.
const clientBit = 1

// NewKey returns the key of the given parts, such as the origin, the policy
// and the crawler's token, in that order. The same parts give the same key;
// parts are kept apart, so that "a", "bc" and "ab", "c" differ.
func NewKey(parts ...string) Key {
	h := sha256.New()
	var n [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return Key{binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:]) &^ clientBit}
}

// Client returns the key of one client of k: an IPv4 address, or the /64 of
// an IPv6 address. It allocates nothing. The result is Disposable.
func (k Key) Client(addr netip.Addr) Key {
	addr = addr.Unmap()
	b := addr.As16()
	network := binary.BigEndian.Uint64(b[:])
	if addr.Is4() {
		network = 4<<32 | uint64(binary.BigEndian.Uint32(b[12:]))
	}
	return Key{
		mix(k[0]^network, 0x9e3779b97f4a7c15),
		mix(k[1]^network, 0xd1342543de82ef95) | clientBit,
	}
}

// Disposable marks k as one of many that a client can invent, such as an
// address or a name that is in no registry. When there is no room, the memory
// engine forgets such keys first. A client that can invent keys gains nothing
// when one is forgotten, and a flood of them must not displace the keys of
// known crawlers.
func (k Key) Disposable() Key {
	k[1] |= clientBit
	return k
}

// mix is one round of the multiply-and-finalise of MurmurHash3 and
// SplitMix64 (public domain): a bijection for each odd multiplier.
func mix(x, m uint64) uint64 {
	x = (x ^ x>>32) * m
	x = (x ^ bits.RotateLeft64(x, 25) ^ bits.RotateLeft64(x, 47)) * 0xff51afd7ed558ccd
	return x ^ x>>29
}

// KeyOf returns a key from 128 bits of a hash that the caller has computed. One
// of them is replaced by the mark of Disposable.
func KeyOf(a, b uint64) Key { return Key{a, b &^ clientBit} }
