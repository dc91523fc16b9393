package pattern

import "strings"

// A pattern is the set of paths that it matches. Packages lint and diff need
// answers to two questions about two such sets: does one contain the other, and
// do they have a path in common?

// Anything is the octet that replaces each `*` in a witness. No canonical text
// contains it, so only a `*` of another pattern can match it. Therefore a
// pattern matches the witness of p if and only if it matches every path that p
// matches.
const Anything = "\x01"

// Witness returns an example that stands for all paths that p matches: the text
// of p, with Anything in place of each `*`. A pattern without a `$` is treated
// as if it ended in a `*`.
func (p *Pattern) Witness() string {
	texts := append([]string{p.Prefix}, p.Parts...)
	if p.Wild || !p.Anchored {
		texts = append(texts, p.Last) // empty unless Anchored
	}
	return strings.Join(texts, Anything)
}

// Common returns a path that both p and q match. ok is false if it found none.
// In this case, certain is true if there is none, and false if the search
// stopped at its limit (see MaxProduct).
func Common(p, q *Pattern) (path string, ok, certain bool) {
	budget := 4 * MaxProduct
	certain = Merge(p, q, "", &budget, func(text string) bool {
		path, ok = text, true
		return false
	})
	return path, ok, certain || ok
}

// tokens returns the octets of p, with star for each `*`. A pattern without a
// `$` is treated as if it ended in a `*`.
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

// Examples returns paths that p matches and that look like paths of a site: they
// have short texts in place of each `*`, and no repeated slashes unless p has
// them.
func (p *Pattern) Examples() []string {
	parts := strings.Split(p.Witness(), Anything)
	if p.Wild {
		return []string{example(parts, "x"), example(parts, "/x"), example(parts, "")}
	}
	return []string{example(parts, ""), example(parts, "x"), example(parts, "/x")}
}

// example joins parts with fill between them.
func example(parts []string, fill string) string {
	var b strings.Builder
	for i, part := range parts {
		text := fill
		if strings.HasSuffix(b.String(), "/") {
			if text = strings.TrimPrefix(fill, "/"); text == "" && strings.HasPrefix(part, "/") {
				text = "x"
			}
		}
		if i > 0 {
			b.WriteString(text)
		}
		b.WriteString(part)
	}
	if s := b.String(); strings.HasPrefix(s, "/") {
		return s
	}
	return "/" + b.String()
}
