package lint

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

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
	if !ok || len(word) < 4 {
		return false
	}
	return slices.Contains(crawlerEnds, strings.TrimPrefix(rest, "-"))
}

// Shorter tokens are not compared: there are other crawlers with similar names.
// minReplaced is the limit for tokens in which one letter is replaced.
const (
	minTypo     = 6
	minReplaced = 9
)

// isTypo reports whether word is probably a misspelling of known: one letter is
// missing, added or replaced, or two adjacent letters are swapped. Names of
// other crawlers are often similar too. Therefore the first letter must be
// equal, digits must not differ, and only a repeated letter may follow known.
func isTypo(word, known string) bool {
	if len(known) < minTypo || word == "" || word[0] != known[0] {
		return false
	}
	n := 0
	for n < min(len(word), len(known)) && word[n] == known[n] {
		n++
	}
	w, k := word[n:], known[n:]
	for len(w) > 0 && len(k) > 0 && w[len(w)-1] == k[len(k)-1] {
		w, k = w[:len(w)-1], k[:len(k)-1]
	}
	if strings.ContainsAny(w+k, "0123456789") {
		return false
	}
	switch {
	case len(w) == 1 && k == "":
		return n < len(known) || w[0] == word[n-1]
	case w == "" && len(k) == 1:
		return true
	case len(w) == 1 && len(k) == 1:
		return len(known) >= minReplaced
	}
	return len(w) == 2 && len(k) == 2 && w[0] == k[1] && w[1] == k[0]
}
