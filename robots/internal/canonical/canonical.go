// Package canonical writes paths and queries in the form in which rules and
// request targets are compared.
package canonical

import "strings"

// RFC 9309, section 2.2.2 compares paths after encoding the octets that a URI
// may not hold and decoding those that need no encoding. The canonical form of
// this package does that, and also decodes the escapes of reserved octets
// (%3A for `:`) where these do not delimit anything at that place, since
// section 2.2.2 takes `/foo/bar?baz=http://foo.bar` and
// `/foo/bar?baz=http%3A%2F%2Ffoo.bar` for the same. A canonical text holds no
// octet outside 0x21 to 0x7E, and each of its escapes is one that means
// something else than its octet does.

// Octets is a class of octets, by what the canonical form does with them.
type Octets uint8

const (
	encoded Octets = 1 << iota // always written as an escape
	Path                       // its escape stays in a path
	Query                      // its escape stays in a query
)

var classes = func() (t [256]Octets) {
	for c := range t {
		if c <= ' ' || c >= 0x7f {
			t[c] = encoded
		}
	}
	t['#'] = encoded
	t['%'] = encoded
	for _, c := range "/?" {
		t[c] |= Path
	}
	for _, c := range "&=+;" {
		t[c] |= Query
	}
	return t
}()

const upperHex = "0123456789ABCDEF"

// Append appends the canonical form of s, in which escapes of the
// octets of the class keep stay.
func Append(dst []byte, s string, keep Octets) []byte {
	keep |= encoded
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%':
			v, ok := Unescape(s, i)
			if !ok {
				dst = append(dst, "%25"...)
				continue
			}
			i += 2
			if classes[v]&keep != 0 {
				dst = AppendEscape(dst, v)
			} else {
				dst = append(dst, v)
			}
		case classes[c]&encoded != 0:
			dst = AppendEscape(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// AppendEncoded appends the canonical form of the octets of a path that is
// already decoded: a `?` or `%` in it is one that had been escaped.
func AppendEncoded(dst, path []byte) []byte {
	for _, c := range path {
		if c == '?' || classes[c]&encoded != 0 {
			dst = AppendEscape(dst, c)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// AppendEscape appends the escape of an octet.
func AppendEscape(dst []byte, c byte) []byte {
	return append(dst, '%', upperHex[c>>4], upperHex[c&15])
}

// AppendDecoded appends s with each of its escapes decoded once. A `%` that
// begins none stays.
func AppendDecoded(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if v, ok := Unescape(s, i); ok {
				c = v
				i += 2
			}
		}
		dst = append(dst, c)
	}
	return dst
}

// Unescape returns the octet that the escape at s[i] stands for.
func Unescape(s string, i int) (byte, bool) {
	if i+2 >= len(s) {
		return 0, false
	}
	hi, lo := unhex(s[i+1]), unhex(s[i+2])
	if hi > 15 || lo > 15 {
		return 0, false
	}
	return hi<<4 | lo, true
}

func unhex(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 16
}

// Words of eight octets are looked at at once, by the well-known tests for
// "has a zero octet" and "has an octet below n". Both may report an octet too
// many above a true one, never one too few: what they report is looked at
// again octet by octet.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// Load64 returns the eight octets of s at i, the first in the lowest bits.
func Load64(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// suspectOctets has a high bit set where eight octets of a target must be looked at
// one by one: for the octets below 0x26, among which `#` and `%` are the ones
// that count, for those from 0x7F, and for a slash followed by a slash or a
// dot.
func suspectOctets(w uint64) uint64 {
	next := w>>8 | ones // the octet after each; a dot becomes a slash
	pairs := (w ^ ones*'/') | (next ^ ones*'/')
	return (w - ones*0x26) | w | (w + ones) | (pairs-ones)&^pairs
}

// IsPlain reports whether a request target is its own canonical form and
// also the path that a back end would serve. It says no to some that are,
// as where `//` stands in the query.
func IsPlain(s string) bool {
	if len(s) < 8 {
		return isPlainSlow(s)
	}
	bad := suspectOctets(Load64(s, len(s)-8))
	for i := 0; i+8 < len(s); i += 7 { // the octet after a slash is seen with it
		bad |= suspectOctets(Load64(s, i))
	}
	if bad&highs != 0 {
		return isPlainSlow(s) // there are octets that unplain is not sure of
	}
	return s[0] == '/'
}

func isPlainSlow(s string) bool {
	if s == "" || s[0] != '/' {
		return false
	}
	prev := byte(0)
	for i := range len(s) {
		c := s[i]
		if classes[c]&encoded != 0 || prev == '/' && (c == '/' || c == '.') {
			return false
		}
		prev = c
	}
	return true
}

// Is reports whether s has nothing that the canonical form writes
// otherwise. It says no to all that has an escape.
func Is(s string) bool {
	for i := range len(s) {
		if classes[s[i]]&encoded != 0 {
			return false
		}
	}
	return true
}

// Plain reports whether the canonical form writes an octet as it is.
func Plain(c byte) bool { return classes[c]&encoded == 0 }

// HasEscape reports whether s holds a `%`.
func HasEscape(s string) bool { return strings.IndexByte(s, '%') >= 0 }

// GoogleEscape writes a pattern as google/robotstxt has it (MaybeEscapePattern):
// octets above 0x7F as escapes, and the digits of escapes in upper case.
func GoogleEscape(s string) string {
	if !HasEscape(s) && !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) {
		return s
	}
	b := make([]byte, 0, len(s)+8)
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			b = AppendEscape(b, s[i])
		} else if v, ok := Unescape(s, i); ok && s[i] == '%' {
			b = AppendEscape(b, v)
			i += 2
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// LowerOctet returns an ASCII letter in lower case, any other octet as it is.
func LowerOctet(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// Fold writes the ASCII letters of b in lower case.
func Fold(b []byte) {
	for i, c := range b {
		b[i] = LowerOctet(c)
	}
}

// Lower returns s with its ASCII letters in lower case, all other octets as
// they are.
func Lower(s string) string {
	for i := range len(s) {
		if LowerOctet(s[i]) != s[i] {
			b := []byte(s)
			Fold(b)
			return string(b)
		}
	}
	return s
}
