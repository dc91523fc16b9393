package headers

import (
	"strings"
	"unicode/utf8"
)

// glob is a file name pattern: * is any characters, ? is one. A pattern's
// literal ends, before its first and after its last wildcard, lead to it in
// the tables of Rules; pattern as a whole is compared only where they are not
// all that there is to it.
type glob struct {
	pattern        string
	prefix, suffix string // the literal ends; both are all of it where there is no wildcard
	literal        bool   // no wildcard
	ends           bool   // one * between the ends, and nothing else
}

func newGlob(s string) *glob {
	first, last := strings.IndexAny(s, "*?"), strings.LastIndexAny(s, "*?")
	if first < 0 {
		return &glob{pattern: s, prefix: s, suffix: s, literal: true}
	}
	return &glob{
		pattern: s, prefix: s[:first], suffix: s[last+1:],
		ends: strings.Trim(s[first:last+1], "*") == "",
	}
}

// match reports whether the pattern matches the whole name. It takes time
// proportional to the product of both lengths at worst, and goes back to the
// last * only.
func (g *glob) match(name string) bool {
	switch {
	case g.literal:
		return name == g.prefix
	case g.ends:
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
