package lint

import (
	"strings"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

// maxLine is the longest line, in octets, that is not reported. Google's parser
// reads 16,663 octets of a line; maxLine is a round number below that.
const maxLine = 16660

// checkLines checks each line alone and together with the line before it, and
// collects the blocks.
func (l *linter) checkLines() {
	var group *block // the group that the line belongs to; nil for none
	blank := -1      // the first blank line since a line of the group
	for i := range l.lines {
		line := &l.lines[i]
		l.checkShape(line)
		switch line.Directive {
		case robots.DirectiveNone:
			switch {
			case group == nil || !isBlank(line):
			case !l.wildcards(): // a blank line ends a record of the older dialects
				group = nil
			case blank < 0:
				blank = i
			}
			continue
		case robots.DirectiveUserAgent:
			if group == nil || group.hasRules {
				group = &block{}
				l.blocks = append(l.blocks, group)
			} else if blank >= 0 {
				group.continued = append(group.continued, continuedLine{line, l.lines[blank].Number})
			}
			group.agents = append(group.agents, line)
			blank = -1
			l.checkUserAgent(line)
			continue
		case robots.DirectiveUnknown:
			l.checkUnknown(line)
			continue
		}
		if group != nil {
			group.body = append(group.body, line)
			group.hasRules = group.hasRules || isRule(line)
		}
		if !isRule(line) {
			l.checkField(line, group != nil)
			continue
		}
		if group == nil {
			l.checkPlace(line)
		}
		blank = -1
		l.checkRuleLine(line)
	}
}

// checkPlace reports a rule that is in no group.
func (l *linter) checkPlace(line *robots.Line) {
	why := "there is no User-agent line above this rule"
	if len(l.blocks) > 0 {
		why = "a blank line ended the group above this rule"
	}
	l.add(l.onKey("rule-outside-group", line, "%s", why))
}

// checkShape checks the form of a line: its length, encoding, key and comment.
func (l *linter) checkShape(line *robots.Line) {
	if len(line.Raw) > maxLine {
		l.add(l.at("line-too-long", line, maxLine, "", "the line has %d octets; Google's parser ignores the rest from here", len(line.Raw)))
	}
	if !utf8.ValidString(line.Raw) && !(line.Number == 1 && utf8.ValidString(line.Raw[canonical.MarkLen(line.Raw):])) {
		l.add(l.at("not-utf-8", line, 0, line.Raw, "the line is not valid UTF-8"))
	}
	if line.Directive == robots.DirectiveNone || line.Directive == robots.DirectiveUnknown {
		return
	}
	l.checkKey(line)
	l.checkComment(line)
}

func (l *linter) checkKey(line *robots.Line) {
	name := line.Directive.String()
	if !strings.EqualFold(line.Key, name) {
		format := "only some crawlers read %q as %s"
		if isRule(line) || line.Directive == robots.DirectiveUserAgent || line.Directive == robots.DirectiveSitemap {
			format = "only Google accepts the spelling %q; write %s"
		}
		l.add(l.onKey("misspelt-key", line, format, line.Key, name).suggest(name))
	}
	if !line.HasColon {
		l.add(l.onKey("missing-colon", line, "put a colon after %s: most crawlers ignore the line without it", line.Key).suggest(line.Key + ":"))
	}
}

// checkComment reports a comment after the value that may be meant as a part of a path.
func (l *linter) checkComment(line *robots.Line) {
	end := line.ValueCol + len(line.Value)
	i := strings.IndexByte(line.Raw[end:], '#')
	if i < 0 || !isRule(line) || isSuppression(line.Raw[end+i:]) {
		return
	}
	if hashInPath(line.Raw, end+i, line.Value) || i == 0 && line.Value != "" && l.coversSite(line.Value) {
		l.reportHash(line, end+i)
	}
}

// hashInPath reports whether the author of a rule may mean the # at column col
// as a part of the path. This is so if no blank is between the path and the #,
// or if the path is missing and the # is in its place, and if the text after
// the # does not look like a comment.
func hashInPath(raw string, col int, value string) bool {
	if col+1 >= len(raw) {
		return false
	}
	next := raw[col+1]
	if value == "" {
		return next == '/' || next == '!'
	}
	return !strings.ContainsRune(" \t#", rune(next)) && !strings.ContainsRune(blanks, rune(raw[col-1]))
}

// reportHash reports a # that may be meant as a part of a path.
func (l *linter) reportHash(line *robots.Line, col int) {
	from := line.ValueCol
	if line.Value == "" {
		from = col
	}
	text := line.Raw[from:]
	rule := strings.TrimSpace(line.Directive.String() + ": " + line.Value)
	code, end := "hash-in-path", ""
	if l.coversSite(line.Value) {
		code, end = "hash-covers-site", ": it covers the whole site"
	}
	l.add(l.at(code, line, from, text, "the text from # on is a comment, so the rule is %q%s", rule, end))
}
