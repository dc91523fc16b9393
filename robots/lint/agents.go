package lint

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

// checkUserAgent checks the value of a User-agent line.
func (l *linter) checkUserAgent(line *robots.Line) {
	value := line.Value
	token := robots.ProductToken(value)
	switch {
	case value == "":
		l.add(l.onKey("empty-user-agent", line, "write the product token of a crawler, or * for all crawlers").suggest("User-agent: *"))
	case withoutInvisible(value) != value && utf8.ValidString(value):
		l.add(l.onValue("invisible-in-user-agent", line, "remove the invisible character: %+q", value).suggest(withoutInvisible(value)))
	case value[0] == '/' || strings.HasPrefix(value, "*/"):
		l.add(l.onValue("path-in-user-agent", line, "%s is a path, not the name of a crawler", value).
			suggest("*\nDisallow: " + strings.TrimPrefix(value, "*")))
	case l.lists():
	case l.checkSeveral(line):
	case strings.Contains(value, "*") && value != "*" && !(token != "*" && l.known(token)):
		l.wildcardInAgent(line, token)
	case token == "", strings.EqualFold(token, "Mozilla") && token != value, strings.Contains(token, "://"):
		f := l.onValue("whole-user-agent", line, "crawlers look for their product token, and this is not one")
		if inner := l.innerToken(value); inner != "" {
			f.suggest(inner)
		}
		l.add(f)
	case slices.Contains(wordsForAll, canonical.Lower(token)):
		l.add(l.onValue("all-in-user-agent", line, "crawlers read %s as the name of one crawler; write * for all crawlers", value).suggest("*"))
	case token != value && token != "*":
		end := line.ValueCol + len(value)
		f := l.onValue("version-in-user-agent", line, "crawlers ignore what follows %s", token).suggest(token)
		if robots.ProductToken(token) == token {
			f.edit(Unsafe, line, line.ValueCol, end, token)
		}
		l.add(f)
	}
	c, ok := l.crawlers.Lookup(token)
	switch {
	case !ok:
		l.checkSpelling(line, token)
	case c.ControlOnly:
		l.add(l.onValue("control-token", line, "%s is a preference and not a crawler: its operator reads this group, but no request carries the token, so a server can't enforce it", token))
	}
}

// wordsForAll are words that people write to mean all crawlers. No crawler has
// such a name.
var wordsForAll = []string{"all", "any", "everyone", "everybody", "all robots", "all bots", "all crawlers", "robots", "bots", "crawlers", "spiders"}

// wildcardInAgent reports a User-agent line in which a * is not the whole
// value.
func (l *linter) wildcardInAgent(line *robots.Line, token string) {
	value := line.Value
	switch {
	case token == "*":
		l.add(l.onValue("wildcard-in-user-agent", line, "the group applies to all crawlers: they ignore what follows the *").suggest("*"))
	case token == "":
		l.add(l.onValue("wildcard-in-user-agent", line, "%s matches no crawler: * has a meaning only alone. Write one User-agent line for each crawler", value))
	default:
		l.add(l.onValue("wildcard-in-user-agent", line, "crawlers read %s as %s, not as every name that starts with %s", value, token, token))
	}
}

// checkSeveral reports a User-agent line that names several crawlers, and
// returns whether it did. Commas, semicolons and bars separate names. Blanks
// separate names only if each word is a known crawler.
func (l *linter) checkSeveral(line *robots.Line) bool {
	words := strings.FieldsFunc(line.Value, func(r rune) bool { return strings.ContainsRune(",;|", r) })
	for i, w := range words {
		words[i] = strings.TrimSpace(w)
	}
	words = slices.DeleteFunc(words, func(s string) bool { return s == "" })
	if len(words) < 2 && !l.known(line.Value) {
		if words = strings.Fields(line.Value); slices.ContainsFunc(words, func(w string) bool { return !l.known(w) }) {
			return false
		}
	}
	if len(words) < 2 || slices.ContainsFunc(words, func(s string) bool {
		return !l.known(s) && !isName(s) || strings.Count(s, "(") != strings.Count(s, ")") // a separator in a comment
	}) {
		return false
	}
	l.add(l.onValue("several-user-agents", line, "write one User-agent line for each of the %d crawlers", len(words)).
		suggest(strings.Join(words, "\nUser-agent: ")))
	return true
}

// isName reports whether s may be the name of a crawler: one word with at least
// one letter. It ignores a version.
func isName(s string) bool {
	name, _, _ := strings.Cut(s, "/")
	return isWord(name) && strings.Trim(name, "0123456789-_.") != ""
}

func (l *linter) known(token string) bool {
	_, ok := l.crawlers.Lookup(token)
	return ok
}

// innerToken returns the product token that a User-Agent contains, "" if it
// recognises none. For a value in quotes or brackets it returns the text
// inside.
func (l *linter) innerToken(value string) string {
	if s := strings.Trim(value, "\"'`“”<>[]"); s != value && robots.ProductToken(s) == s {
		return s
	}
	for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" ();,", r) }) {
		if name, _, _ := strings.Cut(word, "/"); l.crawlerName(name) {
			return name
		}
	}
	return ""
}

// isWord reports whether s could be a product token of one word: it has only
// letters, digits and the characters - _ and dot.
func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// withoutInvisible returns s without invisible characters: no-break and
// zero-width spaces, direction marks, soft hyphens and byte order marks.
func withoutInvisible(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 0xa0 || r == 0xad || 0x2000 <= r && r <= 0x200f || 0x2028 <= r && r <= 0x202f || 0x205f <= r && r <= 0x2064 || r == 0x3000 || r == 0xfeff {
			return -1
		}
		return r
	}, s)
}
