package verify

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// IsSpecial gives the same result as the special prefixes, at both ends of each prefix and for all first two octets.
func TestSpecialAgreesWithThePrefixes(t *testing.T) {
	check := func(addr netip.Addr) {
		listed := slices.ContainsFunc(specialPrefixes, func(p netip.Prefix) bool { return p.Contains(addr) })
		if addr.IsValid() && !addr.Is4In6() && netaddr.IsSpecial(addr) != listed {
			t.Errorf("netaddr.IsSpecial(%s) = %v, the list has %v", addr, netaddr.IsSpecial(addr), listed)
		}
	}
	for _, p := range specialPrefixes {
		first := p.Addr()
		last := lastOf(p)
		for _, addr := range []netip.Addr{first, first.Prev(), last, last.Next()} {
			check(addr)
		}
	}
	for i := range 65536 {
		check(netip.AddrFrom4([4]byte{byte(i >> 8), byte(i), 3, 4}))
		check(netip.AddrFrom16([16]byte{byte(i >> 8), byte(i), 3, 4}))
	}
}

// lastOf returns the last address of p.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	addr, _ := netip.AddrFromSlice(b)
	return addr
}
