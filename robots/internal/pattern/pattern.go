// Package pattern compiles the patterns of Allow and Disallow lines and
// answers questions about the sets of paths that they match.
package pattern

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots/internal/canonical"
)

// Syntax says how the text of a pattern is read.
type Syntax uint8

const (
	// RFC9309 has `*` for any octets and `$` for the end of the path, and
	// compares canonical forms (RFC 9309, sections 2.2.2 and 2.2.3).
	RFC9309 Syntax = iota
	// Literal has no special octets (Koster 1994).
	Literal
	// Google is RFC9309 without decoding: escapes are compared as they are
	// written, in upper case, and only octets above 0x7F are encoded
	// (google/robotstxt, MaybeEscapePattern).
	Google
)

// Pattern is a compiled pattern. One without a `*` that counts has only a
// Prefix. It does not change after Compile.
type Pattern struct {
	Prefix   string   // up to the first `*`
	Parts    []string // between one `*` and the next, none empty
	Last     string   // after the last `*`; only where Anchored
	Wild     bool     // there is a `*` with something after it
	Anchored bool     // ends in `$`
	Query    bool     // has a `?`, so its end is compared with the query
	Octets   int      // its length, `*` and `$` included, by which rules are ordered
}

// Compile compiles a pattern. With fold, ASCII letters are in lower case. It
// is not ok for a pattern that can never match: paths start with a slash.
func Compile(s string, syntax Syntax, fold bool) (p Pattern, ok bool) {
	if s == "" || s[0] != '/' && (s[0] != '*' || syntax == Literal) {
		return p, false
	}
	if fold {
		defer p.fold()
	}
	path, query, hasQuery := strings.Cut(s, "?")
	p.Query = hasQuery
	switch syntax {
	case Literal:
		b := canonical.Append(nil, path, canonical.Path)
		if hasQuery {
			b = canonical.Append(append(b, '?'), query, canonical.Query)
		}
		p.Prefix = string(b)
		p.Octets = len(p.Prefix)
		return p, true
	case Google:
		s = canonical.GoogleEscape(s)
	}
	if p.Anchored = strings.HasSuffix(s, "$"); p.Anchored {
		s = s[:len(s)-1]
	}
	if syntax == Google {
		p.Octets = len(s)
		p.split(s, func(part string) string { return part })
	} else {
		p.compileParts(s)
	}
	if p.Anchored {
		p.Octets++
	}
	p.finish()
	return p, true
}

// split cuts a pattern without its `$` at each `*`, and has read give the
// form of each part that is compared.
func (p *Pattern) split(s string, read func(part string) string) {
	first := true
	for {
		part, rest, found := strings.Cut(s, "*")
		text := read(part)
		switch {
		case first:
			p.Prefix = text
		case found && text != "":
			p.Parts = append(p.Parts, text)
		case !found:
			p.Last = text
		}
		if !found {
			break
		}
		first, s = false, rest
		p.Wild = true
	}
}

// compileParts reads a pattern without its `$` in canonical form.
func (p *Pattern) compileParts(s string) {
	keep, last := canonical.Path, ""
	p.split(s, func(part string) string {
		last = part
		if !canonical.Is(part) {
			var b []byte
			b, keep = appendPart(nil, part, keep)
			last = string(b)
		} else if strings.Contains(part, "?") {
			keep = canonical.Query
		}
		// RFC 9309, section 2.2.3 writes a literal `*` as %2A: three octets.
		p.Octets += len(last) + 2*strings.Count(last, "*")
		return last
	})
	p.Octets += strings.Count(s, "*")
	if strings.HasSuffix(last, "$") && !p.Anchored {
		p.Octets += 2 // so it has a `$` at the end as %24
	}
}

// finish says what the `*` and the `$` of a pattern count for.
func (p *Pattern) finish() {
	if !p.Wild {
		return
	}
	if p.Last == "" {
		p.Anchored = false // `*$` is `*`, and a `*` at the end adds nothing
	} else if !p.Anchored {
		p.Parts = append(p.Parts, p.Last)
		p.Last = ""
	}
	p.Wild = len(p.Parts) > 0 || p.Anchored
}

// appendPart appends the canonical form of a part of a pattern. The first `?`
// of the pattern begins its query.
func appendPart(b []byte, s string, keep canonical.Octets) ([]byte, canonical.Octets) {
	if keep == canonical.Path {
		path, query, found := strings.Cut(s, "?")
		b = canonical.Append(b, path, keep)
		if !found {
			return b, keep
		}
		b = append(b, '?')
		s, keep = query, canonical.Query
	}
	return canonical.Append(b, s, keep), keep
}

func (p *Pattern) fold() {
	p.Prefix = canonical.Lower(p.Prefix)
	p.Last = canonical.Lower(p.Last)
	for i, part := range p.Parts {
		p.Parts[i] = canonical.Lower(part)
	}
}

// Matches reports whether p matches s, which is in the form that p is
// compared with.
func (p *Pattern) Matches(s string) bool {
	if !strings.HasPrefix(s, p.Prefix) {
		return false
	}
	if !p.Wild {
		return !p.Anchored || len(s) == len(p.Prefix)
	}
	return p.MatchesRest(s)
}

// MatchesRest reports whether p, which is Wild and whose Prefix s is known to
// start with, matches s. Each part is taken where it first occurs, which
// leaves the most for those after it, so that no other place need be tried.
func (p *Pattern) MatchesRest(s string) bool {
	s = s[len(p.Prefix):]
	for _, part := range p.Parts {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return !p.Anchored || strings.HasSuffix(s, p.Last)
}

// Equal reports whether p and q match the same and rank the same, as their
// compiled forms show.
func (p *Pattern) Equal(q *Pattern) bool {
	return p.Prefix == q.Prefix && slices.Equal(p.Parts, q.Parts) && p.Last == q.Last &&
		p.Wild == q.Wild && p.Anchored == q.Anchored && p.Query == q.Query && p.Octets == q.Octets
}
