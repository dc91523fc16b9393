package crawler

import (
	"regexp"
	"strings"
)

// Patterns of declarations. They are independent of the scan in Matcher.Identify, because they measure its results and must not repeat its
// mistakes.
var (
	declaredAddress = regexp.MustCompile(`(?i)(?:https?://|www\.)[^\s);,"'<>]*|[\w.+-]+@[\w.-]+`)
	declaredContact = regexp.MustCompile(`(?i)\+\s*(?:https?://|www\.)`)
	declaredName    = regexp.MustCompile(`(?i)compatible[;,]\s*([^;/)\s]+)`)
	declaredWord    = regexp.MustCompile(`(?i)(?:bot|spider|crawler)s?(?:[^a-z0-9]|$)`)
	comparison      = regexp.MustCompile(`(?i)\blike\s+\S+`)
)

// DeclaresRobot reports whether a User-Agent declares that a crawler sent it. It uses simple patterns: a word that ends with bot, spider or
// crawler; a contact with a `+` before it; or a name after `compatible;` that browsers don't send. Words in an address or after `like` do not
// count, and neither does an app whose User-Agent has the form of its platform. Tests use it to check how [Matcher.Identify] classifies such
// crawlers.
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
