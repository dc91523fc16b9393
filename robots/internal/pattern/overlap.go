package pattern

import "strings"

// Patterns are sets of paths. What the linter and the diff say of rules rests
// on two questions about such sets: is one within the other, and have two a
// path in common.

// Anything stands in a witness for what a `*` takes. It is in no canonical
// text, so that only a `*` of another pattern takes it. A pattern that matches
// the witness of p therefore matches whatever p does, and the other way round.
const Anything = "\x01"

// Witness returns the text of p with each `*` taken by Anything, also the one
// that follows every pattern without a `$`.
func (p *Pattern) Witness() string {
	var b strings.Builder
	b.WriteString(p.Prefix)
	if p.Wild {
		b.WriteString(Anything)
	}
	for i, part := range p.Parts {
		if i > 0 {
			b.WriteString(Anything)
		}
		b.WriteString(part)
	}
	if !p.Anchored {
		b.WriteString(Anything)
		return b.String()
	}
	if len(p.Parts) > 0 {
		b.WriteString(Anything)
	}
	b.WriteString(p.Last)
	return b.String()
}

// Common returns a path that both p and q match. It is not ok if there is none,
// or none was found within MaxProduct; certain tells which.
func Common(p, q *Pattern) (path string, ok, certain bool) {
	budget := 4 * MaxProduct
	certain = Merge(p, q, "", &budget, func(text string) bool {
		path, ok = text, true
		return false
	})
	return path, ok, certain || ok
}

// tokens returns the octets of p and a star for each `*`, also the one that
// follows every pattern without a `$`.
func (p *Pattern) tokens() []int16 {
	var list []int16
	for _, c := range []byte(p.Witness()) {
		if c == Anything[0] {
			list = append(list, star)
		} else {
			list = append(list, int16(c))
		}
	}
	return list
}

// Example returns a path that p matches, with fill for each `*`.
func (p *Pattern) Example(fill string) string {
	s := strings.ReplaceAll(p.Witness(), Anything, fill)
	if s == "" || s[0] != '/' {
		s = "/" + s
	}
	return s
}
