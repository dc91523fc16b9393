package lint

import (
	"cmp"
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
	var lost lostGroup
	sitemaps := map[string]int{}
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
			l.endLost(&lost)
			blank = -1
			l.checkUserAgent(line)
			continue
		case robots.DirectiveUnknown:
			if f := l.unknownLine(line); l.isAgent(line, f) {
				lost = lostGroup{true, append(lost.waiting, lostAgent{line, f})}
				blank = -1
			} else if f != nil {
				l.add(f)
			}
			continue
		}
		if group != nil {
			group.body = append(group.body, line)
			group.hasRules = group.hasRules || isRule(line)
		}
		if !isRule(line) {
			l.checkField(line, group != nil || lost.begun, sitemaps)
			continue
		}
		l.reportLost(&lost, group != nil)
		if !lost.begun { // else it is reported with the misspelt line
			l.checkPlace(i, group, blank)
		}
		blank = -1
		l.checkRuleLine(line)
	}
	l.endLost(&lost)
}

// checkPlace checks where the rule at index i is: whether it is in a group, and
// not after a blank line.
func (l *linter) checkPlace(i int, group *block, blank int) {
	switch line := &l.lines[i]; {
	case group == nil && len(l.blocks) > 0:
		l.add(l.onKey("rule-outside-group", line, "a blank line ended the group above this rule"))
	case group == nil:
		l.add(l.onKey("rule-outside-group", line, "there is no User-agent line above this rule"))
	case blank >= 0:
		l.blankInGroup(blank, i)
	}
}

// blankInGroup reports the blank lines from index i up to index end. The line
// at end belongs to the group above them.
func (l *linter) blankInGroup(i, end int) {
	number := l.lines[end].Number
	f := l.at("blank-line-in-group", &l.lines[i], 0, "", "line %d still belongs to the group above this blank line", number).relateTo(number)
	for ; i < end; i++ {
		if line := &l.lines[i]; isBlank(line) {
			f.edit(Unsafe, line, 0, len(line.Raw)+len(line.Ending), "")
		}
	}
	l.add(f.suggest(""))
}

// checkShape checks the form of a line: its length, encoding, blanks, key and
// comment.
func (l *linter) checkShape(line *robots.Line) {
	if len(line.Raw) > maxLine {
		l.add(l.at("line-too-long", line, maxLine, "", "the line has %d octets; Google's parser ignores the rest from here", len(line.Raw)))
	}
	if !utf8.ValidString(line.Raw) && !(line.Number == 1 && utf8.ValidString(line.Raw[canonical.MarkLen(line.Raw):])) {
		f := l.at("not-utf-8", line, 0, line.Raw, "the line is not valid UTF-8")
		if escaped, ok := escapeWindows1252(line.Value); ok && isRule(line) {
			end := line.ValueCol + len(line.Value)
			f = l.onValue("not-utf-8", line, "URLs have %s here, if this is Windows-1252", escaped).
				suggest(escaped).edit(Unsafe, line, line.ValueCol, end, escaped)
		}
		l.add(f)
	}
	if line.Directive == robots.DirectiveNone || line.Directive == robots.DirectiveUnknown {
		return
	}
	if start := start(line); line.KeyCol > start {
		l.add(l.at("leading-blanks", line, start, line.Raw[start:line.KeyCol], "remove the blanks before %s", line.Key).
			suggest("").edit(Unsafe, line, start, line.KeyCol, ""))
	}
	l.checkKey(line)
	l.checkComment(line)
}

func (l *linter) checkKey(line *robots.Line) {
	name, end := line.Directive.String(), line.KeyCol+len(line.Key)
	switch {
	case !strings.EqualFold(line.Key, name):
		format := "only some crawlers read %q as %s"
		if isRule(line) || line.Directive == robots.DirectiveUserAgent || line.Directive == robots.DirectiveSitemap {
			format = "only Google accepts the spelling %q; write %s"
		}
		l.add(l.onKey("misspelt-key", line, format, line.Key, name).
			suggest(name).edit(Unsafe, line, line.KeyCol, end, name))
	case strings.ToUpper(line.Key) == line.Key && len(line.Key) > 1:
		l.add(l.onKey("upper-case-key", line, "%s is usually written %s", line.Key, name).
			suggest(name).edit(Safe, line, line.KeyCol, end, name))
	}
	if !line.HasColon {
		l.add(l.onKey("missing-colon", line, "put a colon after %s: most crawlers ignore the line without it", line.Key).
			suggest(line.Key+":").edit(Unsafe, line, end, line.ValueCol, ": "))
	}
}

// checkComment checks the text after the value.
func (l *linter) checkComment(line *robots.Line) {
	end := line.ValueCol + len(line.Value)
	i := strings.IndexByte(line.Raw[end:], '#')
	if i < 0 || isSuppression(line.Raw[end+i:]) {
		return
	}
	comment := line.Raw[end+i:]
	if isRule(line) && (hashInPath(line.Raw, end+i, line.Value) || i == 0 && line.Value != "" && l.coversSite(line.Value)) {
		l.reportHash(line, end+i, comment)
		return
	}
	moved := comment + cmp.Or(line.Ending, "\n")
	if strings.Trim(comment, "# \t") == "" {
		moved = ""
	}
	at, grade := start(line), Safe
	if at > 0 || strings.Trim(line.Raw[end:end+i], blanks) != "" {
		grade = Unsafe // parsers that do not skip the mark or the control octets may now read the line
	}
	l.add(l.at("trailing-comment", line, end+i, comment, "put the comment on a separate line above %s", line.Key).
		suggest("").edit(grade, line, at, at, moved).edit(grade, line, end, len(line.Raw), ""))
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
func (l *linter) reportHash(line *robots.Line, col int, comment string) {
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
