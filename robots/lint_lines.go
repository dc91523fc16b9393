package robots

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/robots/internal/canonical"
)

// checkLines looks at each line by itself and at the line before it.
func (l *linter) checkLines() {
	inGroup, ruled := false, false // after a User-agent line; after a rule of its group
	blank := -1                    // the last blank line since a line of the group
	sitemaps := map[string]int{}
	for i := range l.lines {
		line := &l.lines[i]
		l.checkShape(line)
		switch line.Directive {
		case DirectiveNone:
			if inGroup && line.blank() && blank < 0 {
				blank = i
			}
			continue
		case DirectiveUserAgent:
			if blank >= 0 && inGroup && !ruled {
				l.joined(blank, line)
			}
			inGroup, ruled, blank = true, false, -1
			l.checkUserAgent(line)
		case DirectiveAllow, DirectiveDisallow:
			if !inGroup {
				l.add(l.onKey("rule-outside-group", line, "no User-agent line stands above it"))
			} else if blank >= 0 {
				l.blankInGroup(blank, i)
			}
			ruled, blank = true, -1
			l.checkRuleLine(line)
		case DirectiveUnknown:
			l.checkUnknown(line)
		default:
			l.checkField(line, inGroup, sitemaps)
		}
	}
}

// blankInGroup reports the blank lines from line i to line end, which belongs
// to the same group.
func (l *linter) blankInGroup(i, end int) {
	f := l.at("blank-line-in-group", &l.lines[i], 0, "", "line %d belongs to the group above", l.lines[end].Number)
	f.Related = l.lines[end].Number
	for ; i < end; i++ {
		if line := &l.lines[i]; line.blank() {
			f.safely(line, 0, len(line.Raw)+len(line.Ending), "")
		}
	}
	l.add(f.suggest(""))
}

// joined reports a group that goes on after a blank line, though its author
// began another one there.
func (l *linter) joined(blank int, line *Line) {
	f := l.onValue("joined-groups", line, "the rules below are for the crawlers above the blank line %d too", l.lines[blank].Number)
	f.Related = l.lines[blank].Number
	l.add(f)
}

// checkShape looks at how a line is written.
func (l *linter) checkShape(line *Line) {
	if len(line.Raw) > 16664 {
		l.add(l.at("line-too-long", line, 16664, "", "%d octets", len(line.Raw)))
	}
	if !utf8.ValidString(line.Raw) && !(line.Number == 1 && utf8.ValidString(line.Raw[bomLen(line.Raw):])) {
		l.add(l.at("not-utf-8", line, 0, line.Raw, "the line is not UTF-8"))
	}
	if line.Directive == DirectiveNone || line.Directive == DirectiveUnknown {
		return
	}
	start := 0
	if line.Offset == 0 {
		start = bomLen(line.Raw)
	}
	if line.KeyCol > start {
		l.add(l.at("leading-blanks", line, start, line.Raw[start:line.KeyCol], "blanks before %s", line.Key).
			suggest("").safely(line, start, line.KeyCol, ""))
	}
	l.checkKey(line)
	l.checkComment(line)
}

func (l *linter) checkKey(line *Line) {
	name, end := line.Directive.String(), line.KeyCol+len(line.Key)
	switch {
	case !standardSpelling(line.Key, line.Directive):
		l.add(l.onKey("misspelt-key", line, "%q is read as %s by few", line.Key, name).
			suggest(name).safely(line, line.KeyCol, end, name))
	case strings.ToUpper(line.Key) == line.Key && len(line.Key) > 1:
		l.add(l.onKey("upper-case-key", line, "%s is usually written %s", line.Key, name).
			suggest(name).safely(line, line.KeyCol, end, name))
	}
	if !line.HasColon {
		l.add(l.at("missing-colon", line, end, line.Raw[end:line.ValueCol], "no colon after %s", line.Key).
			suggest(": ").safely(line, end, line.ValueCol, ": "))
	}
}

// checkComment looks at what follows the value. A # right after a path may be
// meant as a part of it.
func (l *linter) checkComment(line *Line) {
	end := line.ValueCol + len(line.Value)
	i := strings.IndexByte(line.Raw[end:], '#')
	if i < 0 {
		return
	}
	rule := line.Directive == DirectiveAllow || line.Directive == DirectiveDisallow
	comment := line.Raw[end+i:]
	if i == 0 && rule && line.Value != "" && len(comment) > 1 && comment[1] != ' ' && comment[1] != '#' {
		l.add(l.at("hash-in-path", line, end, comment, "the rule is for %s without %s", line.Value, comment).
			suggest("%23" + comment[1:]))
		return
	}
	ending := line.Ending
	if ending == "" {
		ending = "\n"
	}
	moved := comment + ending
	if strings.Trim(comment, "# \t") == "" {
		moved = ""
	}
	start := 0
	if line.Offset == 0 {
		start = bomLen(line.Raw)
	}
	l.add(l.at("trailing-comment", line, end+i, comment, "a comment on the line of %s", line.Key).
		suggest("").safely(line, start, start, moved).safely(line, end, len(line.Raw), ""))
}

func (l *linter) checkUserAgent(line *Line) {
	value := line.Value
	token := ProductToken(value)
	switch {
	case value == "":
		l.add(l.onKey("empty-user-agent", line, "no product token; * is for all crawlers").suggest("User-agent: *"))
	case value[0] == '/' || strings.HasPrefix(value, "*/"):
		l.add(l.onValue("path-in-user-agent", line, "%s is a path; to disallow it to all crawlers, write two lines", value).
			suggest("*" + "\nDisallow: " + strings.TrimPrefix(value, "*")))
	case l.file.dialect.lists():
	case severalTokens(value):
		l.add(l.onValue("several-user-agents", line, "one User-agent line for each of %s", value).
			suggest(strings.Join(splitTokens(value), "\nUser-agent: ")))
	case token == "":
		l.add(l.onValue("whole-user-agent", line, "%q names no crawler", value))
	case wholeUserAgent(value):
		f := l.onValue("whole-user-agent", line, "crawlers that send this look for their product token")
		if inner := innerToken(value); inner != "" {
			f.suggest(inner)
		}
		l.add(f)
	case strings.Contains(value, "/") && token != "*":
		end := line.ValueCol + len(value)
		l.add(l.onValue("version-in-user-agent", line, "the group is for every version of %s", token).
			suggest(token).safely(line, line.ValueCol, end, token))
	}
	for _, c := range l.control {
		if strings.EqualFold(c, token) {
			l.add(l.onValue("control-token", line, "%s is no crawler of its own", token))
		}
	}
}

// severalTokens reports whether a value lists crawlers, separated by commas.
func severalTokens(value string) bool {
	return strings.Contains(value, ",") && !strings.ContainsAny(value, "()") && len(splitTokens(value)) > 1
}

func splitTokens(value string) []string {
	var list []string
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// wholeUserAgent reports whether a value is what a client sends in its
// User-Agent header, and not only its product token.
func wholeUserAgent(value string) bool {
	return strings.HasPrefix(value, "Mozilla/") || strings.Contains(value, "(") || strings.Contains(value, "+http")
}

// innerToken returns the crawler's token in a User-Agent: the first product
// that is no browser's.
func innerToken(value string) string {
	for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" ();,", r) }) {
		name, _, _ := strings.Cut(word, "/")
		switch strings.ToLower(name) {
		case "mozilla", "compatible", "applewebkit", "khtml", "like", "gecko", "chrome", "safari", "version", "mobile":
			continue
		}
		if name != "" && leadingWord(name) == name && strings.Contains(word, "/") && !strings.HasPrefix(word, "http") {
			return name
		}
	}
	return ""
}

func (l *linter) checkRuleLine(line *Line) {
	value := line.Value
	if value == "" {
		return
	}
	words := strings.Fields(value)
	switch {
	case l.file.dialect.lists():
	case len(words) > 1 && allPaths(words):
		l.add(l.onValue("several-paths", line, "%d paths on one line", len(words)).
			suggest(strings.Join(words, "\n"+line.Directive.String()+": ")))
		return
	}
	for _, word := range l.patterns(value) {
		l.checkPattern(line, word)
	}
}

// patterns returns the patterns of a rule's value.
func (l *linter) patterns(value string) []string {
	if l.file.dialect.lists() {
		return strings.Fields(value)
	}
	return []string{value}
}

func allPaths(words []string) bool {
	for _, w := range words {
		if w[0] != '/' && w[0] != '*' {
			return false
		}
	}
	return true
}

func (l *linter) checkPattern(line *Line, p string) {
	if p[0] != '/' && (p[0] != '*' || l.file.dialect.firstMatch()) {
		l.checkRootless(line, p)
		return
	}
	if path, _, _ := strings.Cut(p, "?"); path == "/robots.txt" {
		l.add(l.onValue("robots-txt-rule", line, "/robots.txt is always allowed"))
	}
	if p == "*" {
		l.add(l.onValue("disallow-star", line, "%s: / says the same", line.Directive).
			suggest("/").safely(line, line.ValueCol, line.ValueCol+len(line.Value), "/"))
		return
	}
	l.checkSigns(line, p)
}

// checkRootless looks at a pattern that does not start as one does.
func (l *linter) checkRootless(line *Line, p string) {
	u, err := url.Parse(p)
	switch {
	case err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https"):
		path := u.RequestURI()
		l.add(l.onValue("url-as-path", line, "a rule holds a path: %s", path).suggest(path))
	case p != "all" && p != "none" && knownCrawler(p):
		l.add(l.onValue("inverted-syntax", line, "%s is a crawler; below \"User-agent: %s\", \"Disallow: /\" shuts it out", p, p).
			suggest("/"))
	default:
		l.add(l.onValue("missing-slash", line, "the path of %s has no leading slash", p).suggest("/" + p))
	}
}

// knownCrawler reports whether a value looks like a crawler's token: by its
// last syllable, as most have it.
func knownCrawler(p string) bool {
	s := strings.ToLower(p)
	if leadingWord(s) != s || strings.Contains(strings.TrimSuffix(s, ".org_bot"), ".") {
		return false
	}
	for _, end := range []string{"bot", "spider", "crawler", "scooter", "slurp", "httrack", "wget", "ia_archiver"} {
		if strings.HasSuffix(s, end) {
			return true
		}
	}
	return false
}

// checkSigns looks at the octets of a pattern.
func (l *linter) checkSigns(line *Line, p string) {
	special := !l.file.dialect.firstMatch()
	for _, sign := range []string{".*", "^", "[0-9", "[a-z", "\\d", "\\.", "(.", "|"} {
		if special && strings.Contains(p, sign) && !(sign == ".*" && !strings.Contains(p, "/.*")) {
			l.add(l.onValue("regular-expression", line, "%s stands for itself", sign))
			break
		}
	}
	if i := strings.IndexByte(p, '$'); special && i >= 0 && i < len(p)-1 {
		l.add(l.onValue("dollar-within", line, "$ is special only at the end").suggest(strings.ReplaceAll(p[:len(p)-1], "$", "%24") + p[len(p)-1:]))
	}
	if special && len(p) > 1 && strings.HasSuffix(p, "*") {
		short := strings.TrimRight(p, "*")
		if short != "" {
			l.add(l.onValue("trailing-star", line, "%s matches the same", short).suggest(short))
		}
	}
	end := line.ValueCol + len(line.Value)
	escaped := encodePath(p)
	visible := strings.Map(func(r rune) rune {
		if r == 0xa0 || 0x200b <= r && r <= 0x200f || r == 0x2060 || r == 0xfeff {
			return -1
		}
		return r
	}, p)
	switch {
	case visible != p && utf8.ValidString(p):
		l.add(l.onValue("invisible-character", line, "in URLs it is %s", escaped).suggest(visible))
	case invalidEscape(p):
		f := l.onValue("invalid-escape", line, "a %% that is not followed by two hexadecimal digits").suggest(escaped)
		if p == line.Value {
			f.safely(line, line.ValueCol, end, escaped)
		}
		l.add(f)
	case strings.ContainsAny(p, " \t"):
		l.add(l.onValue("blank-in-path", line, "write a blank as %%20").suggest(escaped).safely(line, line.ValueCol, end, escaped))
	case escaped != p:
		f := l.onValue("unencoded-path", line, "in URLs it is %s", escaped).suggest(escaped)
		if p == line.Value {
			f.safely(line, line.ValueCol, end, escaped)
		}
		l.add(f)
	}
}

func invalidEscape(p string) bool {
	for i := range len(p) {
		if p[i] == '%' {
			if _, ok := canonical.Unescape(p, i); !ok {
				return true
			}
		}
	}
	return false
}

// encodePath writes the octets of a pattern that a URI does not hold as
// escapes, and nothing else.
func encodePath(p string) string {
	var b []byte
	for i := range len(p) {
		c := p[i]
		if _, ok := canonical.Unescape(p, i); c == '%' && ok || canonical.Plain(c) {
			b = append(b, c)
		} else {
			b = canonical.AppendEscape(b, c)
		}
	}
	return string(b)
}
