package lint

import (
	"fmt"
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
	for _, s := range list {
		at[s.target] = append(at[s.target], s)
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
	for _, s := range list {
		code, message := "unknown-suppression", ""
		known := checkFor(s.code) != nil
		switch {
		case s.unknownVerb:
			message = fmt.Sprintf("%q is unknown: write \"ignore CODE\" or \"ignore-file CODE\"", s.code)
		case !known:
			message = fmt.Sprintf("the linter has no check named %q", s.code)
		case !s.used && l.selects(s.code):
			code, message = "unused-suppression", fmt.Sprintf("there is no finding %s to suppress", s.code)
		default:
			continue
		}
		l.add(l.at(code, s.line, s.col, s.line.Raw[s.col:s.col+len(s.code)], "%s", message))
	}
}

// suppressions returns the codes of all comments that suppress findings.
func (l *linter) suppressions() (list []*suppression) {
	if !strings.Contains(l.text, "#") {
		return nil
	}
	waiting := 0 // the first element of list that may apply to the next line
	for i := range l.lines {
		line := &l.lines[i]
		alone := line.Directive == robots.DirectiveNone
		if !alone || isBlank(line) {
			for _, s := range list[waiting:] {
				if s.target < 0 {
					s.target = line.Number
				}
			}
			waiting = len(list)
		}
		target := line.Number
		if alone {
			target = -1
		}
		list = append(list, suppressionsOn(line, target)...)
	}
	return list
}

var suppressionWord = lazy(`[^, \t]+`)

// suppressionsOn returns the codes that a comment on a line suppresses. target
// is the line that they apply to if they do not apply to the whole file.
func suppressionsOn(line *robots.Line, target int) (list []*suppression) {
	hash := strings.IndexByte(line.Raw, '#')
	if hash < 0 || !isSuppression(line.Raw[hash:]) {
		return nil
	}
	start := hash + strings.IndexByte(line.Raw[hash:], ':') + 1
	for i, at := range suppressionWord().FindAllStringIndex(line.Raw[start:], -1) {
		s := &suppression{line: line, target: target, col: start + at[0]}
		s.code = canonical.Lower(line.Raw[s.col : start+at[1]])
		switch {
		case i > 0:
			list = append(list, s)
		case s.code == "ignore-file":
			target = 0
		case s.code != "ignore":
			s.unknownVerb = true
			return []*suppression{s}
		}
	}
	return list
}

// isSuppression reports whether a comment suppresses findings. The comment
// starts with its #.
func isSuppression(comment string) bool {
	text := strings.TrimLeft(comment, "# \t")
	return len(text) >= len(Suppression) && strings.EqualFold(text[:len(Suppression)], Suppression)
}
