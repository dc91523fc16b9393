// Package visible prepares what clients send for the eyes of operators. It
// escapes untrusted text so that all its characters are visible, and none can
// control a terminal or change the order of text on a page. It masks addresses.
package visible

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/internal/netaddr"
)

// Rune returns a visible text for the first rune of s, and the size of that
// rune in octets. s must not be empty. The text is the rune itself if it is
// printable, and a blank for a tab. For other runes, such as control
// characters, characters that change the direction of text, and octets that are
// not UTF-8, the text is an escape as in Go string literals, and escaped is
// true.
func Rune(s string) (text string, size int, escaped bool) {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size <= 1:
		return fmt.Sprintf(`\x%02x`, s[0]), 1, true
	case r == '\t':
		return " ", size, false
	case !unicode.IsPrint(r):
		return strings.Trim(fmt.Sprintf("%+q", r), "'"), size, true
	}
	return s[:size], size, false
}

// Text returns s with the text of Rune for each of its runes.
func Text(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		text, size, _ := Rune(s[i:])
		b.WriteString(text)
		i += size
	}
	return b.String()
}

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
