package verify

import (
	"net/netip"
	"testing"

	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// special gives the same result as the table of special prefixes, at both ends of each prefix and for all first two octets.
func TestSpecialAgreesWithTheTable(t *testing.T) {
	check := func(addr netip.Addr) {
		if addr.IsValid() && !addr.Is4In6() && netaddr.IsSpecial(addr) != specialPrefixes.Contains(addr) {
			t.Errorf("netaddr.IsSpecial(%s) = %v, the table has %v", addr, netaddr.IsSpecial(addr), specialPrefixes.Contains(addr))
		}
	}
	for p := range specialPrefixes.All() {
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
