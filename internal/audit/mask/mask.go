// Package mask removes the addresses of clients and the values of queries from what a
// report shows, and shortens it.
package mask

import (
	"net/netip"
	"regexp"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/visible"
)

// Masker removes the addresses of clients and the values of queries from what a report
// shows, unless Full is set.
type Masker struct{ Full bool }

// Hidden stands in place of what is masked.
const Hidden = "…"

// Client masks an address to its /24 (IPv4) or /48 (IPv6). It hides a host name
// completely.
func (m Masker) Client(s string) string {
	if m.Full || s == "" || s == "-" {
		return strings.Clone(s)
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return Hidden
	}
	return visible.Network(addr).String()
}

// MaxShown is the largest length of a target or User-Agent in the report, in octets.
const MaxShown = 500

// parameter is a parameter of a query: its name with =, if it has one, and its value.
var parameter = regexp.MustCompile(`([^&;=]*=)[^&;]*|[^&;=]+`)

// Target masks the values of a query, and shortens the target.
func (m Masker) Target(s string) string {
	path, query, hasQuery := strings.Cut(s[:min(len(s), 4*MaxShown)], "?")
	if hasQuery && !m.Full {
		s = path + "?" + parameter.ReplaceAllString(query, "${1}"+Hidden)
	}
	return Shortened(s)
}

// Shortened returns a copy of at most MaxShown octets.
func Shortened(s string) string {
	if len(s) <= MaxShown {
		return strings.Clone(s)
	}
	return strings.ToValidUTF8(s[:MaxShown], "") + Hidden
}
