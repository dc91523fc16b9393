package visible

import (
	"net/netip"

	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// Network returns the part of a client's address that operators see: its /24
// (IPv4) or /48 (IPv6).
func Network(addr netip.Addr) netip.Prefix {
	addr = netaddr.Unmap(addr)
	bits := 48
	if addr.Is4() {
		bits = 24
	}
	return netip.PrefixFrom(addr, bits).Masked()
}
