package crawler

import (
	"regexp"
	"strings"
)

// What a robot says in so many words, by patterns that have nothing in common with the pass over a User-Agent: a measure of it must not
// repeat its mistakes.
var (
	declaredAddress = regexp.MustCompile(`(?i)(?:https?://|www\.)[^\s);,"'<>]*|[\w.+-]+@[\w.-]+`)
	declaredContact = regexp.MustCompile(`(?i)\+\s*(?:https?://|www\.)`)
	declaredName    = regexp.MustCompile(`(?i)compatible[;,]\s*([^;/)\s]+)`)
	declaredWord    = regexp.MustCompile(`(?i)(?:bot|spider|crawler)s?(?:[^a-z0-9]|$)`)
	comparison      = regexp.MustCompile(`(?i)\blike\s+\S+`)
)

// DeclaresRobot reports whether a User-Agent states that it is a robot's, by a simple reading of its text: a word that ends in bot, spider or
// crawler, a contact with a `+` before it, or a name behind `compatible;` that browsers don't send. Words in an address or after `like` do
// not count, and neither does an app in its platform's form. It serves to measure how [Matcher.Identify] classifies such robots. It is
// slower, and safe for concurrent use.
func DeclaresRobot(ua string) bool {
	if platformForm(ua) {
		return false
	}
	if declaredContact.MatchString(ua) {
		return true
	}
	text := declaredAddress.ReplaceAllString(ua, " ")
	if m := declaredName.FindStringSubmatch(text); m != nil && !BrowserWord(strings.TrimRight(m[1], "0123456789.")) {
		return true
	}
	return declaredWord.MatchString(comparison.ReplaceAllString(text, " "))
}
