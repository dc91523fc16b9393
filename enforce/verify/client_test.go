package verify

import (
	"net/netip"
	"testing"
)

// The fast test of an address says the same as the table of special prefixes, at the edges of all of them and across all first octets.
func TestSpecialAgreesWithTable(t *testing.T) {
	check := func(addr netip.Addr) {
		if addr.IsValid() && !addr.Is4In6() && special(addr) != specials.Contains(addr) {
			t.Errorf("%s: %v, by the table %v", addr, special(addr), specials.Contains(addr))
		}
	}
	for p := range specials.All() {
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
