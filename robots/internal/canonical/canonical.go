// Package canonical converts paths and queries to the form in which package
// robots compares rules with request targets.
package canonical

import "strings"

// RFC 9309, section 2.2.2: before a comparison, octets that a URI may not
// contain are encoded, and escapes of octets that need no encoding are decoded.
// The canonical form of this package does both. It also decodes escapes of
// reserved octets (%3A for `:`) unless the octet is a delimiter at that place:
// according to section 2.2.2, `/foo/bar?baz=http://foo.bar` and
// `/foo/bar?baz=http%3A%2F%2Ffoo.bar` are equal.
//
// A canonical text has only octets from 0x21 to 0x7E. It has an escape only if
// the octet itself would have another meaning at that place.

// Octets is a set of classes of octets. The canonical form writes each class in
// a different way.
type Octets uint8

const (
	encoded Octets = 1 << iota // octets that are always written as escapes
	Path                       // delimiters in a path: their escapes are not decoded
	Query                      // delimiters in a query: their escapes are not decoded
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

// Append appends the canonical form of s to dst. keep is Path or Query: the
// class of octets whose escapes it does not decode.
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

// AppendEncoded appends the canonical form of a path that is already
// percent-decoded. A `?` or `%` in such a path was escaped before, so
// AppendEncoded escapes it.
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

// AppendEscape appends the percent-encoded form of an octet, with upper-case
// digits.
func AppendEscape(dst []byte, c byte) []byte {
	return append(dst, '%', upperHex[c>>4], upperHex[c&15])
}

// AppendDecoded appends s after decoding each escape once. It keeps a `%` that
// does not start an escape.
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

// Unescape returns the octet that the escape at s[i:] encodes, and false if the
// two octets after s[i] are not hexadecimal digits. It does not check that s[i]
// is a `%`.
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

// suspectOctets tests eight octets at once, with the well-known bit tests for
// "has a zero octet" and "has an octet below n". Both tests find every such
// octet. They may also report the octet after it, so IsPlain then checks the
// text octet by octet.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// Load64 returns the eight octets of s from index i on, the first one in the
// lowest bits. It panics if s has fewer.
func Load64(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// suspectOctets sets the high bit of each octet in w that may not be plain:
// octets below 0x26 (blanks, control octets, `#`, `%` and a few plain ones),
// octets from 0x7F on, and a slash that is followed by a slash or a dot.
func suspectOctets(w uint64) uint64 {
	next := w>>8 | ones // the following octets; the lowest bit turns a dot into a slash
	pairs := (w ^ ones*'/') | (next ^ ones*'/')
	return (w - ones*0x26) | w | (w + ones) | (pairs-ones)&^pairs
}

// IsPlain reports whether a request target is already in canonical form and a
// back end would serve exactly its path. It may return false for such a target,
// for example if the query has `//`.
func IsPlain(s string) bool {
	if len(s) < 8 {
		return isPlainSlow(s)
	}
	bad := suspectOctets(Load64(s, len(s)-8))
	for i := 0; i+8 < len(s); i += 7 { // steps of seven: a slash and the next octet are in the same word
		bad |= suspectOctets(Load64(s, i))
	}
	if bad&highs != 0 {
		return isPlainSlow(s)
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

// Is reports whether s is in canonical form and has no escapes.
func Is(s string) bool {
	for i := range len(s) {
		if classes[s[i]]&encoded != 0 {
			return false
		}
	}
	return true
}

// Plain reports whether the canonical form contains the octet itself, and not
// its escape.
func Plain(c byte) bool { return classes[c]&encoded == 0 }

// HasEscape reports whether s contains a `%`.
func HasEscape(s string) bool { return strings.IndexByte(s, '%') >= 0 }

// GoogleEscape converts a pattern as google/robotstxt does
// (MaybeEscapePattern): it escapes octets above 0x7F, and writes the digits of
// escapes in upper case.
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

// LowerOctet returns an ASCII letter in lower case, and any other octet
// unchanged.
func LowerOctet(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// Fold changes the ASCII letters of b to lower case.
func Fold(b []byte) {
	for i, c := range b {
		b[i] = LowerOctet(c)
	}
}

// Lower returns s with its ASCII letters in lower case and all other octets
// unchanged.
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
