package lint

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Suppression is the first word of a comment that suppresses findings. Such a
// comment has one of two forms:
//
//	# robots-lint: ignore CODE[, CODE …]
//	# robots-lint: ignore-file CODE[, CODE …]
//
// At the end of a line, the first form suppresses findings on that line. On a
// line of its own, it suppresses findings on the next line that is not a
// comment. The second form suppresses findings in the whole file; it may be on
// any line. Upper and lower case are equal, and blanks may replace the commas.
const Suppression = "robots-lint:"

// suppression is one code of such a comment.
type suppression struct {
	line        *robots.Line // the line of the comment
	target      int          // number of the line that it applies to; 0: the whole file
	code        string
	col         int // of the code in the line
	used        bool
	unknownVerb bool // code stands where ignore or ignore-file belongs
}

// suppress drops the findings that comments suppress, and reports comments that
// have no effect.
func (l *linter) suppress() {
	list := l.suppressions()
	if len(list) == 0 {
		return
	}
	at := map[int][]*suppression{}
	for i := range list {
		at[list[i].target] = append(at[list[i].target], &list[i])
	}
	l.findings = slices.DeleteFunc(l.findings, func(f Finding) bool {
		drop := false
		for _, s := range slices.Concat(at[f.Line], at[0]) {
			if s.code == f.Code {
				s.used, drop = true, true
			}
		}
		return drop
	})
	for i := range list {
		s := &list[i]
		if s.unknownVerb {
			l.add(l.at("unknown-suppression", s.line, s.col, s.line.Raw[s.col:s.col+len(s.code)], "%q is unknown: write \"ignore CODE\" or \"ignore-file CODE\"", s.code))
		} else if _, ok := byCode[s.code]; !ok {
			l.add(l.at("unknown-suppression", s.line, s.col, s.line.Raw[s.col:s.col+len(s.code)], "the linter has no check named %q", s.code))
		} else if !s.used && l.selects(s.code) {
			l.add(l.at("unused-suppression", s.line, s.col, s.line.Raw[s.col:s.col+len(s.code)], "there is no finding %s to suppress", s.code))
		}
	}
}

// suppressions returns the codes of all comments that suppress findings.
func (l *linter) suppressions() []suppression {
	if !strings.Contains(l.text, "#") {
		return nil
	}
	var list []suppression
	waiting := 0 // the first element of list that may apply to the next line
	for i := range l.lines {
		line := &l.lines[i]
		found, whole := suppressionsOn(line)
		alone := line.Directive == robots.DirectiveNone
		if !alone || isBlank(line) {
			for k := waiting; k < len(list); k++ {
				if list[k].target < 0 {
					list[k].target = line.Number
				}
			}
			waiting = len(list)
		}
		for _, s := range found {
			switch {
			case whole:
				s.target = 0
			case alone:
				s.target = -1
			default:
				s.target = line.Number
			}
			list = append(list, s)
		}
	}
	return list
}

// suppressionsOn returns the codes that a comment on a line suppresses, and
// whether it does for the whole file.
func suppressionsOn(line *robots.Line) (list []suppression, whole bool) {
	hash := strings.IndexByte(line.Raw, '#')
	if hash < 0 || !isSuppression(line.Raw[hash:]) {
		return nil, false
	}
	col := hash + strings.IndexByte(line.Raw[hash:], ':') + 1
	first := true
	for col < len(line.Raw) {
		n := strings.IndexAny(line.Raw[col:], ", \t")
		if n < 0 {
			n = len(line.Raw) - col
		}
		word := line.Raw[col : col+n]
		switch {
		case word == "":
		case first:
			first, whole = false, strings.EqualFold(word, "ignore-file")
			if !whole && !strings.EqualFold(word, "ignore") {
				return []suppression{{line: line, code: canonical.Lower(word), col: col, unknownVerb: true}}, false
			}
		default:
			list = append(list, suppression{line: line, code: canonical.Lower(word), col: col})
		}
		col += n + 1
	}
	return list, whole
}

// isSuppression reports whether a comment suppresses findings. The comment
// starts with its #.
func isSuppression(comment string) bool {
	text := strings.TrimLeft(comment, "# \t")
	return len(text) >= len(Suppression) && strings.EqualFold(text[:len(Suppression)], Suppression)
}
