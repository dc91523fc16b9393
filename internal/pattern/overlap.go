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
	if !p.Anchored {
		texts = append(texts, "")
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

// IndexFolder returns the pattern of a folder if p is the pattern of its
// index.htm or index.html. google/robotstxt applies an Allow line for such a
// file to the folder too.
func IndexFolder(p string) (folder string, ok bool) {
	slash := strings.LastIndexByte(p, '/')
	if slash < 0 || !strings.HasPrefix(p[slash:], "/index.htm") {
		return "", false
	}
	return p[:slash+1] + "$", true
}

// maxServed is the maximal length, in octets, of a pattern that Served
// rewrites.
const maxServed = 4096

// Served returns the pattern for paths as served: it decodes escaped slashes
// and dots, merges repeated slashes, and removes dot segments. It keeps a `..`
// segment behind a segment with a `*`. It also reports whether the result
// differs from p.
func Served(p string) (string, bool) {
	if len(p) > maxServed {
		return p, false
	}
	path, query, hasQuery := strings.Cut(p, "?")
	s := decodeSlashes.Replace(path)
	for strings.Contains(s, "//") {
		s = strings.ReplaceAll(s, "//", "/")
	}
	for strings.Contains(s, "/./") {
		s = strings.ReplaceAll(s, "/./", "/")
	}
	for {
		i := strings.Index(s, "/../")
		if i < 0 {
			break
		}
		from := max(strings.LastIndexByte(s[:i], '/'), 0)
		if strings.Contains(s[from:i], "*") {
			break
		}
		s = s[:from] + s[i+len("/.."):]
	}
	if hasQuery {
		s += "?" + query
	}
	return s, s != p
}

var decodeSlashes = strings.NewReplacer("%2F", "/", "%2f", "/", "%2E", ".", "%2e", ".")
