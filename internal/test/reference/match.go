// Package reference is a second implementation of robots.txt matching, for
// tests that compare it with package robots. It is simple and slow: it was
// written from the text of RFC 9309, and compares each rule with the path,
// octet by octet.
package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Rule is an Allow or Disallow line.
type Rule struct {
	Allow   bool
	Pattern string // as written
}

// symbol is a unit of a path in a comparison: an octet, an escape that must not
// be decoded, or "any" for a `*` in a pattern.
type symbol string

// symbols splits a path or a pattern into symbols (RFC 9309, section 2.2.2). It
// decodes escapes, except for delimiters: `/` and `?` in a path, and `&=+;` in
// a query. query means that s starts in the query, and star that s is a
// pattern, in which `*` has a special meaning.
func symbols(s string, query, star bool) (list []symbol) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '*' && star {
			list = append(list, "any")
			continue
		}
		if c == '?' && !query {
			list = append(list, "?")
			rest := symbols(s[i+1:], true, star)
			return append(list, rest...)
		}
		if c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			n, _ := strconv.ParseUint(s[i+1:i+3], 16, 8)
			v := byte(n)
			i += 2
			delimiters := "/?"
			if query {
				delimiters = "&=+;"
			}
			if v == '%' || v == '#' || strings.IndexByte(delimiters, v) >= 0 {
				list = append(list, symbol(fmt.Sprintf("%%%02X", v)))
			} else {
				list = append(list, symbol([]byte{v}))
			}
			continue
		}
		if c == '%' || c == '#' { // not allowed in a URI path: the same as its escape
			list = append(list, symbol(fmt.Sprintf("%%%02X", c)))
		} else {
			list = append(list, symbol([]byte{c}))
		}
	}
	return list
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

// pathSymbols splits a target for the comparison with a pattern without a `?`:
// the query is read as a part of the path.
func pathSymbols(s string) (list []symbol) {
	for i, part := range strings.SplitN(s, "?", 2) {
		if i > 0 {
			list = append(list, "?")
			for j, p := range strings.Split(part, "?") {
				if j > 0 {
					list = append(list, "?")
				}
				list = append(list, symbols(p, false, false)...)
			}
			continue
		}
		list = append(list, symbols(part, false, false)...)
	}
	return list
}

// expandEscapes converts symbols to the octets of a URI, in which an escape has
// three octets. It keeps "any".
func expandEscapes(list []symbol) (spelt []symbol) {
	for _, s := range list {
		if len(s) == 1 && (s[0] <= ' ' || s[0] >= 0x7f) {
			s = symbol(fmt.Sprintf("%%%02X", s[0]))
		}
		if s == "any" {
			spelt = append(spelt, s)
			continue
		}
		for i := range len(s) {
			spelt = append(spelt, s[i:i+1])
		}
	}
	return spelt
}

// matchSymbols reports whether pattern matches text: the whole text if anchored
// is set, otherwise the start of it.
func matchSymbols(pattern, text []symbol, anchored bool) bool {
	// row[j] is set if the pattern so far matches the first j symbols of text.
	row := make([]bool, len(text)+1)
	row[0] = true
	for _, p := range pattern {
		next := make([]bool, len(text)+1)
		for j := range next {
			if p == "any" {
				next[j] = row[j] || j > 0 && next[j-1]
			} else {
				next[j] = j > 0 && row[j-1] && text[j-1] == p
			}
		}
		row = next
	}
	if anchored {
		return row[len(text)]
	}
	return slices.Contains(row, true)
}

// patternLength returns the length of a pattern in octets. An octet that must
// be escaped in a URI counts as three.
func patternLength(pattern []symbol, anchored bool) int {
	n := 0
	for i, s := range pattern {
		switch {
		case s == "any":
			n++
		case len(s) > 1: // an escape
			n += 3
		case s[0] <= ' ' || s[0] >= 0x7f || s == "*":
			n += 3
		case s == "$" && i+1 == len(pattern) && !anchored:
			n += 3
		default:
			n++
		}
	}
	if anchored {
		n++
	}
	return n
}

// Match reports whether a pattern matches a request target, and returns the
// length of the pattern in octets. A pattern that starts with neither / nor *
// never matches, and has length 0.
func Match(pattern, target string) (bool, int) {
	if !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "*") {
		return false, 0
	}
	text := symbols(target, false, false)
	if !strings.Contains(pattern, "?") {
		text = pathSymbols(target)
	}
	p, anchored := strings.CutSuffix(pattern, "$")
	list := symbols(p, false, true)
	return matchSymbols(expandEscapes(list), expandEscapes(text), anchored), patternLength(list, anchored)
}

// Verdict reports whether a request target is allowed, and returns the length
// of the rule that decides, 0 if none matches: of the rules that match, the
// longest one decides, and Allow if an Allow and a Disallow rule have the same
// length. The path /robots.txt is always allowed.
func Verdict(rules []Rule, target string) (allowed bool, length int) {
	allowed = true
	for _, r := range rules {
		ok, n := Match(r.Pattern, target)
		if ok && (n > length || n == length && r.Allow) {
			allowed, length = r.Allow, n
		}
	}
	if path, _, _ := strings.Cut(target, "?"); path == "/robots.txt" {
		return true, length
	}
	return allowed, length
}
