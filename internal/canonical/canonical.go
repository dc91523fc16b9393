// Package canonical converts paths and queries to the form in which package
// robots compares rules with request targets, and to the form in which a server
// reads them.
package canonical

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
	for i := 0; i < len(s); i++ {
		c, escapes := s[i], encoded
		if v, ok := Unescape(s, i); ok {
			c, escapes = v, encoded|keep
			i += 2
		}
		if classes[c]&escapes != 0 {
			dst = AppendEscape(dst, c)
		} else {
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
func AppendEscape(dst []byte, c byte) []byte { return append(dst, '%', upperHex[c>>4], upperHex[c&15]) }

// AppendDecoded appends s after decoding each escape once. It keeps a `%` that
// does not start an escape.
func AppendDecoded(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if v, ok := Unescape(s, i); ok {
			c = v
			i += 2
		}
		dst = append(dst, c)
	}
	return dst
}

// Unescape returns the octet that the escape at s[i:] encodes, and false if
// there is no escape: a `%` and two hexadecimal digits.
func Unescape(s string, i int) (byte, bool) {
	if s[i] != '%' || i+2 >= len(s) {
		return 0, false
	}
	h, l := hexDigits[s[i+1]], hexDigits[s[i+2]]
	return h<<4 | l&15, h|l < 16
}

// hexDigits are the values of hexadecimal digits, 16 for other octets.
var hexDigits = func() (t [256]byte) {
	for c := range t {
		t[c] = 16
	}
	for v, c := range upperHex {
		t[c], t[LowerOctet(byte(c))] = byte(v), byte(v)
	}
	return t
}()

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

// OriginForm returns the path and the query of a request target. The target may be
// in origin form (/path?query), in absolute form with any scheme
// (http://user@host/path), or have a path without a host (http:private/x). The
// path of `*` and of the empty target is `/`; any other text counts as a path.
func OriginForm(target string) string {
	if target == "" || target == "*" {
		return "/"
	}
	if target[0] == '/' {
		return target
	}
	rest, ok := cutScheme(target)
	if !ok {
		return target
	}
	if rest, ok = strings.CutPrefix(rest, "//"); !ok {
		return rest
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return rest[i:]
	}
	return "/"
}

// cutScheme returns what follows the scheme of a URI (RFC 3986, section 3.1).
func cutScheme(s string) (string, bool) {
	const octets = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-."
	scheme, rest, found := strings.Cut(s, ":")
	return rest, found && scheme != "" && strings.Trim(scheme, octets) == "" && scheme[0] >= 'A' // a letter
}

// CleanPath removes dot segments in place, as path.Clean does, and empty segments
// if merge is set. The path must begin with a slash. Unlike path.Clean, it keeps the
// last slash of a path that ends in a slash or in such a segment.
func CleanPath(b []byte, merge bool) []byte {
	out := b[:0]
	for i := 0; i < len(b); {
		i++ // b[i] is a slash
		for merge && i < len(b) && b[i] == '/' {
			i++
		}
		from := i
		for i < len(b) && b[i] != '/' {
			i++
		}
		switch segment := b[from:i]; string(segment) {
		case "..":
			out = out[:max(bytes.LastIndexByte(out, '/'), 0)]
		case ".":
		default: // or an empty one: if merge is set, behind the path's last slash
			out = append(append(out, '/'), segment...)
			continue
		}
		if i == len(b) {
			out = append(out, '/')
		}
	}
	if len(out) == 0 {
		out = append(out, '/')
	}
	return out
}

// Windows changes a path in place to the form in which file servers on Windows
// read it: `\` is a slash, dots and blanks at the end of a segment have no effect
// (except in `.` and `..`), and neither have the names of NTFS streams such as
// `::$DATA`. The path must begin with a slash. blank is the form of a blank in
// the path.
func Windows(b []byte, blank string) []byte {
	out := b[:0]
	for i := 0; i < len(b); {
		out = append(out, '/')
		i++
		from := i
		for i < len(b) && b[i] != '/' && b[i] != '\\' {
			i++
		}
		out = append(out, windowsName(b[from:i], blank)...)
	}
	return out
}

func windowsName(s []byte, blank string) []byte {
	if i := bytes.IndexByte(s, ':'); i >= 0 && bytes.Contains(s[i:], []byte(":$")) {
		s = s[:i]
	}
	for bytes.HasSuffix(s, []byte(blank)) {
		s = s[:len(s)-len(blank)]
	}
	for string(s) != "." && string(s) != ".." {
		n := len(s)
		if s = bytes.TrimRight(s, "."); bytes.HasSuffix(s, []byte(blank)) {
			s = s[:len(s)-len(blank)]
		}
		if len(s) == n {
			break
		}
	}
	return s
}

// AppendGoogle appends a pattern or target as google/robotstxt converts patterns
// (MaybeEscapePattern): it escapes octets above 0x7F, and writes the digits of
// escapes in upper case.
func AppendGoogle(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			dst = AppendEscape(dst, s[i])
		} else if v, ok := Unescape(s, i); ok {
			dst = AppendEscape(dst, v)
			i += 2
		} else {
			dst = append(dst, s[i])
		}
	}
	return dst
}

// LowerOctet returns an ASCII letter in lower case, and any other octet
// unchanged.
func LowerOctet(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// Lower returns s with its ASCII letters in lower case and all other octets
// unchanged.
func Lower(s string) string {
	for i := range len(s) {
		if LowerOctet(s[i]) != s[i] {
			b := []byte(s)
			for i, c := range b {
				b[i] = LowerOctet(c)
			}
			return string(b)
		}
	}
	return s
}

// AppendLower appends a path or query in canonical form in lower case: its letters,
// and the letters outside ASCII that it has as escapes of UTF-8.
func AppendLower(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		if s[i] != '%' {
			dst = append(dst, LowerOctet(s[i]))
			i++
			continue
		}
		var octets [utf8.UTFMax]byte
		n := 0
		for n < len(octets) && i+3*n < len(s) {
			v, ok := Unescape(s, i+3*n)
			if !ok || v < utf8.RuneSelf {
				break
			}
			octets[n] = v
			n++
		}
		r, size := utf8.DecodeRune(octets[:n])
		if r == utf8.RuneError { // no letter, or no UTF-8
			dst = append(dst, s[i:min(i+3, len(s))]...)
			i += 3
			continue
		}
		lower := octets[:utf8.EncodeRune(octets[:], unicode.ToLower(unicode.ToUpper(r)))]
		for _, c := range lower {
			if c < utf8.RuneSelf {
				dst = append(dst, c)
			} else {
				dst = AppendEscape(dst, c)
			}
		}
		i += 3 * size
	}
	return dst
}

// FirstWord returns the first word of a product token. A word has letters, digits,
// `-`, `_` and dots.
func FirstWord(token string) string {
	rest := strings.TrimLeft(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
	if rest == "" {
		return token
	}
	return strings.TrimRight(token[:len(token)-len(rest)], "-.")
}

// Unreserved are the octets that need no escape (RFC 3986, section 2.3).
const Unreserved = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"

// AppendUnescaped appends s after decoding the escapes of some octets.
func AppendUnescaped(dst []byte, s, octets string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if v, ok := Unescape(s, i); ok && strings.IndexByte(octets, v) >= 0 {
			c = v
			i += 2
		}
		dst = append(dst, c)
	}
	return dst
}

// ByteOrderMark is the byte order mark in UTF-8.
const ByteOrderMark = "\xef\xbb\xbf"

// MarkLen returns the length of the byte order mark, or of the first part of one,
// that a file starts with. Google's parser skips both.
func MarkLen(file string) (n int) {
	for n < min(len(file), len(ByteOrderMark)) && file[n] == ByteOrderMark[n] {
		n++
	}
	return n
}
