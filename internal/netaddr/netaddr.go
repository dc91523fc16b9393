// Package netaddr says which addresses are one client, and which no client has.
package netaddr

import "net/netip"

// nat64 is the prefix of IPv4 addresses that a translator between IPv4 and IPv6
// made IPv6 ones: NAT64 and SIIT (RFC 6052, section 2.1).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// Unmap returns the IPv4 address that an IPv6 address stands for, in ::ffff:0:0/96
// or 64:ff9b::/96; any other address without its zone.
func Unmap(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if nat64.Contains(addr) {
		b := addr.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return addr
}

// Client returns what counts as one client: an IPv4 address, or the first one of
// the /64 network of an IPv6 address.
func Client(addr netip.Addr) netip.Addr {
	addr = Unmap(addr)
	if addr.Is6() {
		b := addr.As16()
		clear(b[8:])
		return netip.AddrFrom16(b)
	}
	return addr
}

// IsSpecial reports whether addr is not valid, or an address that no client on
// the internet has: private, shared (100.64.0.0/10), loopback, link-local,
// multicast, reserved or unspecified. addr must not be IPv4 in IPv6 form.
func IsSpecial(addr netip.Addr) bool {
	if !addr.Is4() {
		b := addr.As16()
		return !addr.IsValid() || b[0] == 0 || b[0]&0xfe == 0xfc || b[0] == 0xfe && b[1]&0x80 != 0 || b[0] == 0xff
	}
	b := addr.As4()
	shared := b[0] == 100 && b[1]&0xc0 == 64
	return shared || b[0] == 0 || b[0] >= 224 || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast()
}
