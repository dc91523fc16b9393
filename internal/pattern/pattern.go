// Package pattern compiles the patterns of robots.txt: those of Allow and Disallow
// lines, and others in the same syntax. It matches paths, and compares the sets of
// paths that two patterns match.
package pattern

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// Syntax is the syntax in which a pattern is written.
type Syntax uint8

const (
	// RFC9309: `*` matches any octets, `$` at the end matches the end of the
	// path, and canonical forms are compared (RFC 9309, sections 2.2.2 and
	// 2.2.3).
	RFC9309 Syntax = iota
	// Literal: no octet has a special meaning (Koster 1994).
	Literal
	// Google: as RFC9309, but escapes are not decoded. They are compared as
	// written, with digits in upper case, and only octets above 0x7F are
	// encoded (google/robotstxt, MaybeEscapePattern).
	Google
)

// Pattern is a compiled pattern. A pattern that has no `*`, or only one that
// has no effect, has only a Prefix. A Pattern does not change after Compile.
type Pattern struct {
	Prefix   string   // text before the first `*`
	Octets   int      // length with `*` and `$`; of two rules, the one with more octets decides
	Parts    []string // texts between the `*` and after the last one, without empty ones
	Wild     bool     // has a `*` that is not at the end
	Anchored bool     // ends in a `$` that has an effect
	Query    bool     // has a `?`: the text after it is compared with the query
}

// Compile compiles a pattern. If fold is set, it converts letters to lower
// case. ok is false for a pattern that can never match, because it starts
// with neither a slash nor a `*`.
func Compile(s string, syntax Syntax, fold bool) (p Pattern, ok bool) {
	if s == "" || s[0] != '/' && (s[0] != '*' || syntax == Literal) {
		return p, false
	}
	if fold {
		defer p.fold()
	}
	p.Query = strings.Contains(s, "?")
	switch syntax {
	case Literal:
		b, _ := appendPart(nil, s, canonical.Path)
		p.Prefix = string(b)
		p.Octets = len(p.Prefix)
		return p, true
	case Google:
		s = string(canonical.AppendGoogle(nil, s))
	}
	s, anchored := strings.CutSuffix(s, "$")
	p.Anchored = anchored
	if syntax == Google {
		p.Octets = len(s)
		p.split(s, func(part string) string { return part })
	} else {
		p.compileParts(s, anchored)
	}
	if anchored {
		p.Octets++
	}
	return p, true
}

// split sets Prefix, Parts, Wild and Anchored from a pattern without its `$`. It
// calls read for each part between the `*`; read returns the form in which the
// part is compared. A `*` or `$` that has no effect is not set.
func (p *Pattern) split(s string, read func(part string) string) {
	part, rest, more := strings.Cut(s, "*")
	p.Prefix = read(part)
	for more {
		part, rest, more = strings.Cut(rest, "*")
		if text := read(part); text != "" {
			p.Parts = append(p.Parts, text)
		} else if !more {
			p.Anchored = false // `*$` matches what `*` matches, and a `*` at the end has no effect
		}
	}
	p.Wild = len(p.Parts) > 0
}

// compileParts sets the fields from a pattern without its `$`, in canonical
// form. anchored reports whether it had one.
func (p *Pattern) compileParts(s string, anchored bool) {
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
		// RFC 9309, section 2.2.3: a literal `*` is written as %2A, which has
		// three octets.
		p.Octets += len(last) + 2*strings.Count(last, "*")
		return last
	})
	p.Octets += strings.Count(s, "*")
	if strings.HasSuffix(last, "$") && !anchored {
		p.Octets += 2 // the pattern ends in %24, a literal `$` of three octets
	}
}

// appendPart appends the canonical form of a part of a pattern. keep is the
// class for the beginning of the part; appendPart returns the class for the
// next part. The first `?` of a pattern begins its query.
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
	p.Prefix = string(canonical.AppendLower(nil, p.Prefix))
	for i, part := range p.Parts {
		p.Parts[i] = string(canonical.AppendLower(nil, part))
	}
}

// Matches reports whether p matches s. s must be in the form for the syntax of
// p. It searches for the first occurrence of each part behind the part before. It need
// not try later occurrences, since these leave less text for the following parts.
func (p *Pattern) Matches(s string) bool {
	if !strings.HasPrefix(s, p.Prefix) {
		return false
	}
	if !p.Wild {
		return !p.Anchored || len(s) == len(p.Prefix)
	}
	s = s[len(p.Prefix):]
	for k, part := range p.Parts {
		if p.Anchored && k == len(p.Parts)-1 {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}

// Grams returns a set of the pairs of adjacent octets in a text. Each pair is
// one of 64 bits, so if a text contains another one, its set contains the
// other's, and rarely else.
func Grams(s string) (set uint64) {
	for i := 1; i < len(s); i++ {
		set |= 1 << ((s[i-1]*5 + s[i]) & 63)
	}
	return set
}

// Grams returns the pairs that each text has that the pattern matches.
func (p *Pattern) Grams() uint64 {
	set := Grams(p.Prefix)
	for _, part := range p.Parts {
		set |= Grams(part)
	}
	return set
}

// Equal reports whether the compiled forms of p and q are equal. If so, both
// match the same paths and have the same length.
func (p *Pattern) Equal(q *Pattern) bool {
	return p.Prefix == q.Prefix && slices.Equal(p.Parts, q.Parts) &&
		p.Wild == q.Wild && p.Anchored == q.Anchored && p.Query == q.Query && p.Octets == q.Octets
}
