package headers

import (
	"strings"
	"unicode/utf8"
)

// glob is a pattern for file names: * matches any characters, ? matches one.
// The tables of Rules find a pattern by its literal prefix (before the first
// wildcard) or its literal suffix (after the last wildcard). The whole pattern
// must be compared only if more than one * is between the two.
type glob struct {
	pattern        string
	prefix, suffix string // the literal prefix and suffix; both are the pattern if it has no wildcard
	literal        bool   // the pattern has no wildcard
	oneStar        bool   // only a * is between prefix and suffix
}

func newGlob(s string) *glob {
	first, last := strings.IndexAny(s, "*?"), strings.LastIndexAny(s, "*?")
	if first < 0 {
		return &glob{pattern: s, prefix: s, suffix: s, literal: true}
	}
	return &glob{
		pattern: s, prefix: s[:first], suffix: s[last+1:],
		oneStar: strings.Trim(s[first:last+1], "*") == "",
	}
}

// match reports whether the pattern matches the whole name. It backtracks only
// to the last *, so that its time is at most proportional to the product of
// both lengths.
func (g *glob) match(name string) bool {
	switch {
	case g.literal:
		return name == g.prefix
	case g.oneStar:
		return len(name) >= len(g.prefix)+len(g.suffix) &&
			strings.HasPrefix(name, g.prefix) && strings.HasSuffix(name, g.suffix)
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
