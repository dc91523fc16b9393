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

// suppress drops the findings that comments suppress.
func (l *linter) suppress() {
	if !strings.Contains(l.text, "#") {
		return
	}
	ignored := map[int][]string{} // codes by line; 0: the whole file
	var waiting []string          // codes for the next line that is no comment
	for i := range l.lines {
		line := &l.lines[i]
		codes, wholeFile := suppressionsOn(line)
		if wholeFile {
			ignored[0] = append(ignored[0], codes...)
		} else {
			waiting = append(waiting, codes...)
		}
		if line.Directive != robots.DirectiveNone || isBlank(line) {
			ignored[line.Number] = waiting
			waiting = nil
		}
	}
	l.findings = slices.DeleteFunc(l.findings, func(f Finding) bool {
		return slices.Contains(ignored[f.Line], f.Code) || slices.Contains(ignored[0], f.Code)
	})
}

// suppressionsOn returns the codes that a comment on a line suppresses, and whether it
// does so in the whole file.
func suppressionsOn(line *robots.Line) (codes []string, wholeFile bool) {
	hash := strings.IndexByte(line.Raw, '#')
	if hash < 0 || !isSuppression(line.Raw[hash:]) {
		return nil, false
	}
	_, text, _ := strings.Cut(canonical.Lower(line.Raw[hash:]), ":")
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t", r) })
	if len(words) == 0 || words[0] != "ignore" && words[0] != "ignore-file" {
		return nil, false
	}
	return words[1:], words[0] == "ignore-file"
}

// isSuppression reports whether a comment suppresses findings. The comment
// starts with its #.
func isSuppression(comment string) bool {
	text := strings.TrimLeft(comment, "# \t")
	return len(text) >= len(Suppression) && strings.EqualFold(text[:len(Suppression)], Suppression)
}
