package throttle

import (
	"encoding/binary"
	"math/bits"
	"net/netip"

	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// Key identifies a budget with its first 128 bits. It is the same in every
// process, so that several can share the budget. The other 128 bits are those of
// its home; see In.
//
// Client derives the keys of single clients from the key of a crawler.
type Key [4]uint64

// clientBit is set in the second word of a Key made by Client or Disposable.
const clientBit = 1

// KeyOf returns a key with the 128 bits of a hash that the caller has computed.
// It clears one of the bits, which is the mark of Disposable.
func KeyOf(a, b uint64) Key { return Key{a, b &^ clientBit} }

// In returns the key of the budget k with another home: that of home or, if it
// has none, home itself. A cluster of servers stores budgets with the same home on
// one master, so that one request can use them together. Two keys that differ only
// in their home are the same budget in a Memory, but not in such a cluster.
func (k Key) In(home Key) Key {
	if home[2]|home[3] == 0 {
		home[2], home[3] = home[0], home[1]
	}
	if k[2], k[3] = home[2], home[3]; k[2] == k[0] && k[3] == k[1] {
		k[2], k[3] = 0, 0
	}
	return k
}

// Client returns the key of one client of k, with the same home. A client is an IPv4 address, also
// one in 64:ff9b::/96 (NAT64), or the /64 network of an IPv6 address. The key is
// marked as by Disposable. Client allocates nothing.
func (k Key) Client(addr netip.Addr) Key {
	addr = netaddr.Client(addr)
	b := addr.As16()
	network := binary.BigEndian.Uint64(b[:])
	if addr.Is4() {
		network = 4<<32 | uint64(binary.BigEndian.Uint32(b[12:]))
	}
	k[0] = mix(k[0]^network, 0x9e3779b97f4a7c15)
	k[1] = mix(k[1]^network, 0xd1342543de82ef95) | clientBit
	return k
}

// Disposable returns k with a mark for keys that clients can invent, such as
// addresses or names that are not in the registry. If there is no room, a
// Memory forgets such keys first, so that invented keys never displace those of
// known crawlers. A client that can invent keys gains nothing if one is
// forgotten.
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
