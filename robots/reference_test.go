package robots

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/caddy-robots/caddy-robots/robots/internal/canonical"
)

// What follows is a second implementation of the language, written from the
// text of RFC 9309 to be obviously right and of no other use: it looks at
// each rule of a group, and compares it with each octet of the path.

// symbol is an octet of a path as comparison sees it: itself, or an escape
// that must stay one.
type symbol string

// symbols reads a path (RFC 9309, section 2.2.2). What is escaped is read as
// the octet, but not where that octet delimits: a `/` or `?` in a path, one
// of `&=+;` in a query.
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
		var v byte
		if n, _ := fmt.Sscanf(s[i+1:min(i+3, len(s))]+"!", "%02x!", &v); c == '%' && n == 1 && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
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
		if c == '%' || c == '#' { // not part of a path in a URI: as if escaped
			list = append(list, symbol(fmt.Sprintf("%%%02X", c)))
		} else {
			list = append(list, symbol([]byte{c}))
		}
	}
	return list
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

// pathSymbols reads a target as a pattern without a query sees it: the `?`
// is an octet like others.
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

// spell writes symbols as the octets of a URI, in which an escape is three.
func spell(list []symbol) (spelt []symbol) {
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

// matchSymbols fills the table of which beginnings of the pattern match which
// beginnings of the text.
func matchSymbols(pattern, text []symbol, anchored bool) bool {
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

// octets is the length of a pattern: what is never written raw counts three.
func octets(pattern []symbol, anchored bool) int {
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

// referenceRule returns whether the rule matches, and its length.
func referenceRule(pattern, target string) (bool, int) {
	if !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "*") {
		return false, 0
	}
	text := symbols(target, false, false)
	if !strings.Contains(pattern, "?") {
		text = pathSymbols(target)
	}
	p, anchored := strings.CutSuffix(pattern, "$")
	list := symbols(p, false, true)
	return matchSymbols(spell(list), spell(text), anchored), octets(list, anchored)
}

// referenceVerdict returns whether the target is allowed by the longest rule
// that matches, Allow before Disallow, and that rule's length.
func referenceVerdict(rules []Rule, target string) (allowed bool, length int) {
	allowed = true
	for _, r := range rules {
		ok, n := referenceRule(r.Pattern, target)
		if ok && (n > length || n == length && r.Allow) {
			allowed, length = r.Allow, n
		}
	}
	if path, _, _ := strings.Cut(target, "?"); path == "/robots.txt" {
		return true, length
	}
	return allowed, length
}

// referenceRules returns the rules of a token: those below each run of
// User-agent lines that names it (RFC 9309, section 2.2.1).
func referenceRules(f *File, token string) (rules []Rule, found bool) {
	reading, in := false, false // in a run of User-agent lines; the token is named
	for l := range f.Lines() {
		switch l.Directive {
		case DirectiveUserAgent:
			if !reading {
				reading, in = true, false
			}
			if canonical.Lower(ProductToken(l.Value)) == canonical.Lower(token) {
				in, found = true, true
			}
		case DirectiveAllow, DirectiveDisallow:
			reading = false
			if in && l.Value != "" {
				rules = append(rules, Rule{Allow: l.Directive == DirectiveAllow, Pattern: l.Value, Line: l.Number})
			}
		}
	}
	return rules, found
}

func checkAgainstReference(t *testing.T, text []byte, target string) {
	t.Helper()
	f := Parse(text)
	tokens := append([]string{"*"}, f.Tokens()...)
	for _, token := range tokens[:min(len(tokens), 4)] {
		rules, found := referenceRules(f, token)
		g := f.Named(token)
		if token == "*" {
			g = f.Star()
		}
		if found != (g != nil) {
			t.Fatalf("group of %q: %v, want %v", token, g != nil, found)
		}
		if !slices.Equal(g.Rules(), rules) {
			t.Fatalf("rules of %q: %v, want %v", token, g.Rules(), rules)
		}
		path := originForm(target)
		if !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
		allowed, length := referenceVerdict(rules, path)
		v := g.Match(target)
		if v.Allowed != allowed {
			t.Fatalf("Match(%q) for %q = %v by %v, want %v by %d octets\n%s", target, token, v.Allowed, v.Rule, allowed, length, text)
		}
	}
}

func FuzzMatchAgrees(f *testing.F) {
	rules := []string{
		"Disallow: /a\nAllow: /a/b$\nDisallow: /*b*c$\n",
		"Allow: /*?x=\nDisallow: /*%2f*/\nDisallow: /a%2A$\nDisallow: *a*b*c*d\n",
		"Disallow: /%7e%C3%A9é\nAllow: /~\nDisallow: /a*\nAllow: /a**\nDisallow: /$\n",
		"Disallow: /*ab*\nDisallow: /*bc\nDisallow: /*cd*\nDisallow: /*da*\nDisallow: /*ee*\nAllow: /*abc\n",
		"Disallow: /a?b=%2f&c=%26\nAllow: /a?b=*&\nDisallow: /*=*%3f\n",
	}
	targets := []string{"/", "/a/b", "/abcd", "/aab?x=%2f/", "/a?b=/&c=%26d?e=%3f", "/%c3%A9", "/a*$", "/ab%", "x:y", "*"}
	for i, r := range rules {
		for _, target := range targets {
			f.Add([]byte("User-agent: *\n"+r), target)
			f.Add([]byte("User-agent: a\nUser-agent: B/1\n"+rules[(i+1)%len(rules)]+"User-agent: *\n"+r), target)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, target string) {
		if len(text) > 2000 || len(target) > 300 {
			return
		}
		checkAgainstReference(t, text, target)
	})
}

// Small alphabets find the ways in which wildcards interact.
func TestMatchAgreesWithReference(t *testing.T) {
	const alphabet = "ab/*$?%2Ff"
	next := uint32(1)
	random := func(n int) int {
		next = next*1664525 + 1013904223
		return int(next>>8) % n
	}
	word := func(longest int) string {
		var b strings.Builder
		b.WriteByte('/')
		for range random(longest) {
			b.WriteByte(alphabet[random(len(alphabet))])
		}
		return b.String()
	}
	for range 300 {
		var b strings.Builder
		b.WriteString("User-agent: *\n")
		for range 1 + random(30) {
			b.WriteString([]string{"Allow: ", "Disallow: "}[random(2)])
			if random(8) == 0 {
				b.WriteByte('*')
			}
			b.WriteString(word(8))
			b.WriteByte('\n')
		}
		for range 10 {
			checkAgainstReference(t, []byte(b.String()), word(14))
		}
	}
}
