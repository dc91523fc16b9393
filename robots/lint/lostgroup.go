package lint

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// lostGroup is a group whose User-agent lines the parser does not know, because
// their keys are misspelt. One finding for each of these lines replaces the
// findings for the rules below, which belong to no group or to the wrong one.
type lostGroup struct {
	begun   bool // the last User-agent line is a misspelt one
	waiting []lostAgent
}

// lostAgent is a misspelt User-agent line above which no rule of the group is.
type lostAgent struct {
	line *robots.Line
	f    *Finding // nil if checkGoogle reports the line
}

func (g *lostGroup) add(line *robots.Line, f *Finding) {
	g.begun = true
	g.waiting = append(g.waiting, lostAgent{line, f})
}

// isAgent reports whether a line that the parser does not know is meant as a
// User-agent line. f is the finding about it.
func (l *linter) isAgent(line *robots.Line, f *Finding) bool {
	var text string
	switch {
	case f == nil:
		text = l.google[line.Number].Google
	case f.Replacement == nil:
		return false
	case f.Code == "unknown-key":
		text = *f.Replacement + ": " + line.Value
	default:
		text = *f.Replacement
	}
	return directiveOf(text) == robots.DirectiveUserAgent
}

// reportLost reports the misspelt User-agent lines of a group with rules.
// inGroup reports whether there is another group above.
func (l *linter) reportLost(g *lostGroup, inGroup bool) {
	where := "no group"
	if inGroup {
		where = "the group above"
	}
	for _, a := range g.waiting {
		if a.f == nil {
			l.lost[a.line.Number] = "; for these, the rules below it belong to " + where
			continue
		}
		if a.f.Code != "invisible-in-key" {
			a.f.Code = "misspelt-user-agent-key"
		}
		then := "; until"
		if strings.HasSuffix(a.f.Message, "?") {
			then = " Until"
		}
		a.f.Message += then + " this is corrected, the rules below it belong to " + where
		l.add(a.f)
	}
	g.waiting = nil
}

// endLost reports the misspelt User-agent lines of a group without rules, and
// ends the group.
func (l *linter) endLost(g *lostGroup) {
	for _, a := range g.waiting {
		if a.f != nil {
			l.add(a.f)
		}
	}
	*g = lostGroup{}
}
