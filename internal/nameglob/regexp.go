package nameglob

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// maxLiterals is the maximal number of literals to which a regular expression
// is converted.
const maxLiterals = 256

// FromRegexp returns globs that together match the same names as a regular
// expression that is anchored to the start or the end of the name. It returns
// nil if there are no such globs or too many.
func FromRegexp(s string) []*Glob {
	re, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return nil
	}
	re = re.Simplify()
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	parts := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		parts = re.Sub
	}
	begin := len(parts) > 0 && parts[0].Op == syntax.OpBeginText
	if begin {
		parts = parts[1:]
	}
	end := len(parts) > 0 && parts[len(parts)-1].Op == syntax.OpEndText
	if end {
		parts = parts[:len(parts)-1]
	}
	// The search is not anchored, so a .* at the beginning or the end has no
	// effect.
	for !begin && len(parts) > 0 && isAnything(parts[0]) {
		parts = parts[1:]
	}
	for !end && len(parts) > 0 && isAnything(parts[len(parts)-1]) {
		parts = parts[:len(parts)-1]
	}
	if !begin && !end {
		return nil
	}
	literals, ok := literalsOf(&syntax.Regexp{Op: syntax.OpConcat, Sub: parts})
	if !ok {
		return nil
	}
	globs := make([]*Glob, len(literals))
	for i, l := range literals {
		switch {
		case begin && end:
			globs[i] = &Glob{Prefix: l, Suffix: l, Literal: true}
		case begin:
			globs[i] = &Glob{Prefix: l, OneStar: true}
		default:
			globs[i] = &Glob{Suffix: l, OneStar: true}
		}
	}
	return globs
}

// isAnything reports whether re is .* with or without the flag s.
func isAnything(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar && (re.Sub[0].Op == syntax.OpAnyChar || re.Sub[0].Op == syntax.OpAnyCharNotNL)
}

// literalsOf returns all strings that re matches, and false if there are more
// than maxLiterals or if they can't be listed.
func literalsOf(re *syntax.Regexp) ([]string, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpCapture:
		return literalsOf(re.Sub[0])
	case syntax.OpQuest:
		literals, ok := literalsOf(re.Sub[0])
		return append(literals, ""), ok
	case syntax.OpLiteral:
		return literalsOfRunes(re.Rune, re.Flags&syntax.FoldCase != 0)
	case syntax.OpCharClass:
		var literals []string
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if len(literals) == maxLiterals || r == utf8.RuneError {
					return nil, false
				}
				literals = append(literals, string(r))
			}
		}
		return literals, literals != nil
	case syntax.OpAlternate:
		var literals []string
		for _, sub := range re.Sub {
			l, ok := literalsOf(sub)
			if literals = append(literals, l...); !ok || len(literals) > maxLiterals {
				return nil, false
			}
		}
		return literals, true
	case syntax.OpConcat:
		literals := []string{""}
		for _, sub := range re.Sub {
			l, ok := literalsOf(sub)
			if !ok || len(literals)*len(l) > maxLiterals {
				return nil, false
			}
			literals = product(literals, l)
		}
		return literals, true
	}
	return nil, false
}

// literalsOfRunes returns the strings that a literal matches: one, or all its
// spellings in upper and lower case if fold is set.
func literalsOfRunes(runes []rune, fold bool) ([]string, bool) {
	if slices.Contains(runes, utf8.RuneError) { // it also matches octets that are not UTF-8
		return nil, false
	}
	if !fold {
		return []string{string(runes)}, true
	}
	literals := []string{""}
	for _, r := range runes {
		spellings := []string{string(r)}
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			spellings = append(spellings, string(f))
		}
		if len(literals)*len(spellings) > maxLiterals {
			return nil, false
		}
		literals = product(literals, spellings)
	}
	return literals, true
}

// product returns every string of a followed by every string of b.
func product(a, b []string) []string {
	all := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			all = append(all, x+y)
		}
	}
	return all
}
