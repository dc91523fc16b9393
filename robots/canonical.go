package robots

import "strings"

// RFC 9309, section 2.2.2 compares paths after encoding the octets that a URI
// may not hold and decoding those that need no encoding. The canonical form of
// this package does that, and also decodes the escapes of reserved octets
// (%3A for `:`) where these do not delimit anything at that place, since
// section 2.2.2 takes `/foo/bar?baz=http://foo.bar` and
// `/foo/bar?baz=http%3A%2F%2Ffoo.bar` for the same. A canonical text holds no
// octet outside 0x21 to 0x7E, and each of its escapes is one that means
// something else than its octet does.

// octetClass says what the canonical form does with an octet.
type octetClass uint8

const (
	encoded        octetClass = 1 << iota // always written as an escape
	pathDelimiter                         // its escape stays in a path
	queryDelimiter                        // its escape stays in a query
)

var octetClasses = func() (t [256]octetClass) {
	for c := range t {
		if c <= ' ' || c >= 0x7f {
			t[c] = encoded
		}
	}
	t['#'] = encoded
	t['%'] = encoded
	for _, c := range "/?" {
		t[c] |= pathDelimiter
	}
	for _, c := range "&=+;" {
		t[c] |= queryDelimiter
	}
	return t
}()

const upperHex = "0123456789ABCDEF"

// appendCanonical appends the canonical form of s, in which escapes of the
// octets of the class keep stay.
func appendCanonical(dst []byte, s string, keep octetClass) []byte {
	keep |= encoded
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%':
			v, ok := unescape(s, i)
			if !ok {
				dst = append(dst, "%25"...)
				continue
			}
			i += 2
			if octetClasses[v]&keep != 0 {
				dst = appendEscape(dst, v)
			} else {
				dst = append(dst, v)
			}
		case octetClasses[c]&encoded != 0:
			dst = appendEscape(dst, c)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// appendEncoded appends the canonical form of the octets of a path that is
// already decoded: a `?` or `%` in it is one that had been escaped.
func appendEncoded(dst, path []byte) []byte {
	for _, c := range path {
		if c == '?' || octetClasses[c]&encoded != 0 {
			dst = appendEscape(dst, c)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

func appendEscape(dst []byte, c byte) []byte {
	return append(dst, '%', upperHex[c>>4], upperHex[c&15])
}

// appendDecoded appends s with each of its escapes decoded once. A `%` that
// begins none stays.
func appendDecoded(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if v, ok := unescape(s, i); ok {
				c = v
				i += 2
			}
		}
		dst = append(dst, c)
	}
	return dst
}

// unescape returns the octet that the escape at s[i] stands for.
func unescape(s string, i int) (byte, bool) {
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

func load64(s string, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// unplain has a high bit set where eight octets of a target must be looked at
// one by one: for the octets below 0x26, among which `#` and `%` are the ones
// that count, for those from 0x7F, and for a slash followed by a slash or a
// dot.
func unplain(w uint64) uint64 {
	next := w>>8 | ones // the octet after each; a dot becomes a slash
	pairs := (w ^ ones*'/') | (next ^ ones*'/')
	return (w - ones*0x26) | w | (w + ones) | (pairs-ones)&^pairs
}

// isPlain reports whether a request target is its own canonical form and
// also the path that a back end would serve. It says no to some that are,
// as where `//` stands in the query.
func isPlain(s string) bool {
	if len(s) < 8 {
		return isPlainShort(s)
	}
	bad := unplain(load64(s, len(s)-8))
	for i := 0; i+8 < len(s); i += 7 { // the octet after a slash is seen with it
		bad |= unplain(load64(s, i))
	}
	return bad&highs == 0 && s[0] == '/'
}

func isPlainShort(s string) bool {
	if s == "" || s[0] != '/' {
		return false
	}
	prev := byte(0)
	for i := range len(s) {
		c := s[i]
		if octetClasses[c]&encoded != 0 || prev == '/' && (c == '/' || c == '.') {
			return false
		}
		prev = c
	}
	return true
}

// isCanonical reports whether s has nothing that the canonical form writes
// otherwise. It says no to all that has an escape.
func isCanonical(s string) bool {
	for i := range len(s) {
		if octetClasses[s[i]]&encoded != 0 {
			return false
		}
	}
	return true
}

// hasEscape reports whether s holds a `%`.
func hasEscape(s string) bool { return strings.IndexByte(s, '%') >= 0 }
