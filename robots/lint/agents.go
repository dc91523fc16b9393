package lint

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/editdistance"
	"github.com/caddy-robots/caddy-robots/robots"
)

// checkUserAgent checks the value of a User-agent line.
func (l *linter) checkUserAgent(line *robots.Line) {
	value := line.Value
	token := robots.ProductToken(value)
	switch {
	case value == "":
		l.add(l.onKey("empty-user-agent", line, "write the product token of a crawler, or * for all crawlers").suggest("User-agent: *"))
	case withoutInvisible(value) != value:
		l.add(l.onValue("invisible-in-user-agent", line, "remove the invisible character: %+q", value).suggest(value))
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
		l.add(l.onValue("version-in-user-agent", line, "crawlers ignore what follows %s", token).suggest(token))
	}
	c, ok := l.crawlers.Lookup(token)
	fetcher, people := l.crawlers.People(token)
	switch {
	case people:
		f := l.onValue("people-token", line, "people's browsers or apps send %s, so the group applies to nobody", token)
		if len(fetcher) > 0 {
			f.Message += "; the fetcher of the same operator obeys " + strings.Join(fetcher, " or ")
			f.suggest(fetcher[0])
		}
		l.add(f)
	case !ok:
		l.checkSpelling(line, token)
	case c.ControlOnly:
		l.add(l.onValue("control-token", line,
			"%s is a preference and not a crawler: its operator reads this group, but no request carries the token, so a server can't enforce it",
			token))
	}
}

// wordsForAll are words that people write to mean all crawlers. No crawler has
// such a name.
var wordsForAll = []string{"all", "any", "everyone", "everybody", "all robots", "all bots", "all crawlers", "robots", "bots", "crawlers",
	"spiders"}

// wildcardInAgent reports a User-agent line in which a * is not the whole
// value.
func (l *linter) wildcardInAgent(line *robots.Line, token string) {
	value := line.Value
	switch {
	case token == "*":
		l.add(l.onValue("wildcard-in-user-agent", line, "the group applies to all crawlers: they ignore what follows the *").suggest("*"))
	case token == "":
		l.add(l.onValue("wildcard-in-user-agent", line,
			"%s matches no crawler: * has a meaning only alone. Write one User-agent line for each crawler", value))
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
// zero-width spaces, direction marks, soft hyphens and byte order marks. It changes
// nothing in other encodings than UTF-8.
func withoutInvisible(s string) string {
	if !utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == 0xa0 || r == 0xad || 0x2000 <= r && r <= 0x200f || 0x2028 <= r && r <= 0x202f ||
			0x205f <= r && r <= 0x2064 || r == 0x3000 || r == 0xfeff {
			return -1
		}
		return r
	}, s)
}

// checkSpelling reports a token that no known crawler has, if it is probably a
// misspelling of the token of a well-known crawler.
func (l *linter) checkSpelling(line *robots.Line, token string) {
	if !isWord(token) || token != line.Value && !strings.HasPrefix(line.Value, token+"/") {
		return
	}
	if l.wellKnown == nil {
		l.wellKnown = l.crawlers.WellKnown()
	}
	word := canonical.Lower(token)
	for _, known := range l.wellKnown {
		if name := canonical.Lower(known); isWord(known) && (isTypo(word, name) || isShort(word, name)) {
			l.add(l.onValue("misspelt-token", line, "no crawler is known to have the token %s; did you mean %s?", token, known).suggest(known))
			return
		}
	}
}

// isShort reports whether known is a word of four or more letters with a suffix,
// as bingbot is Bing.
func isShort(word, known string) bool {
	rest, ok := strings.CutPrefix(known, word)
	return ok && len(word) >= 4 && slices.Contains(crawlerEnds, strings.TrimPrefix(rest, "-"))
}

// Shorter tokens are not compared: there are other crawlers with similar names.
// minReplaced is the limit for tokens of the same length.
const (
	minTypo     = 6
	minReplaced = 9
)

// isTypo reports whether word is probably a misspelling of known: one letter differs, or
// two are swapped. Names of other crawlers are often similar too. Therefore the first
// letter and all digits must be equal, and a plural is none.
func isTypo(word, known string) bool {
	if len(known) < minTypo || word == "" || word[0] != known[0] || word == known+"s" {
		return false
	}
	if len(word) == len(known) && len(known) < minReplaced {
		return false
	}
	return digitsOf(word) == digitsOf(known) && editdistance.Between(word[:min(len(word), maxKey)], known) == 1
}

// digitsOf returns the digits of a token.
func digitsOf(token string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, token)
}
