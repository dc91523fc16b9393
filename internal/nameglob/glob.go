package nameglob

import (
	"strings"
	"unicode/utf8"
)

// Glob is a pattern for file names: * matches any characters, ? matches one.
type Glob struct {
	pattern string
	// Prefix is the text before the first wildcard, Suffix the text after the
	// last. Both are the pattern if it has no wildcard. The whole pattern must be
	// compared only if more than one * is between the two.
	Prefix, Suffix string
	Literal        bool // the pattern has no wildcard
	OneStar        bool // only a * is between Prefix and Suffix
}

// New returns the glob of a pattern. Every text is one.
func New(s string) *Glob {
	first, last := strings.IndexAny(s, "*?"), strings.LastIndexAny(s, "*?")
	if first < 0 {
		return &Glob{pattern: s, Prefix: s, Suffix: s, Literal: true}
	}
	return &Glob{
		pattern: s, Prefix: s[:first], Suffix: s[last+1:],
		OneStar: strings.Trim(s[first:last+1], "*") == "",
	}
}

// Match reports whether the pattern matches the whole name. It backtracks only
// to the last *, so that its time is at most proportional to the product of
// both lengths.
func (g *Glob) Match(name string) bool {
	switch {
	case g.Literal:
		return name == g.Prefix
	case g.OneStar:
		return len(name) >= len(g.Prefix)+len(g.Suffix) &&
			strings.HasPrefix(name, g.Prefix) && strings.HasSuffix(name, g.Suffix)
	}
	p, n, star, from := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(g.pattern) && g.pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(g.pattern) && g.pattern[p] == '?':
			_, size := utf8.DecodeRuneInString(name[n:])
			p, n = p+1, n+size
		case p < len(g.pattern) && g.pattern[p] == name[n]:
			p, n = p+1, n+1
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(g.pattern[p:], "*") == ""
}
