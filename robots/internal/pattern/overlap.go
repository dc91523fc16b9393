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

// MaxProduct bounds the work to find a path that two patterns have in common.
const MaxProduct = 1 << 14

// Common returns a path that both p and q match. It is not ok if there is none,
// or none was found within MaxProduct steps; certain tells which.
func Common(p, q *Pattern) (path string, ok, certain bool) {
	if n := min(len(p.Prefix), len(q.Prefix)); p.Prefix[:n] != q.Prefix[:n] {
		return "", false, true
	}
	if !p.Wild && !q.Wild {
		if path = p.Prefix; len(q.Prefix) > len(path) {
			path = q.Prefix
		}
		return path, p.Matches(path) && q.Matches(path), true
	}
	a, b := p.tokens(), q.tokens()
	n, m := len(a)+1, len(b)+1
	if n*m > MaxProduct {
		return "", false, false
	}
	// A state is how far each pattern has come; from holds how each state was
	// first reached.
	type step struct {
		from  int32
		octet int16 // -1: none
	}
	seen := make([]step, n*m)
	seen[0].from = -1
	queue := make([]int32, 1, n+m)
	goal := int32(n*m - 1)
	for ; len(queue) > 0 && seen[goal] == (step{}); queue = queue[1:] {
		at := queue[0]
		i, j := int(at)/m, int(at)%m
		reach := func(i, j int, octet int16) {
			if to := i*m + j; to != 0 && seen[to] == (step{}) {
				seen[to] = step{at + 1, octet}
				queue = append(queue, int32(to))
			}
		}
		x, y := int16(-2), int16(-2) // at the end
		if i < len(a) {
			x = a[i]
		}
		if j < len(b) {
			y = b[j]
		}
		if x == star {
			reach(i+1, j, -1)
			if y >= 0 {
				reach(i, j+1, y)
			}
		}
		if y == star {
			reach(i, j+1, -1)
			if x >= 0 {
				reach(i+1, j, x)
			}
		}
		if x >= 0 && x == y {
			reach(i+1, j+1, x)
		}
	}
	if seen[goal] == (step{}) {
		return "", false, true
	}
	var octets []byte
	for at := goal; at != 0; at = seen[at].from - 1 {
		if o := seen[at].octet; o >= 0 {
			octets = append(octets, byte(o))
		}
	}
	for i, j := 0, len(octets)-1; i < j; i, j = i+1, j-1 {
		octets[i], octets[j] = octets[j], octets[i]
	}
	if len(octets) == 0 || octets[0] != '/' {
		if p.Prefix != "" || q.Prefix != "" {
			return "", false, true
		}
		return "/" + string(octets), true, true
	}
	return string(octets), true, true
}

const star = -1

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
