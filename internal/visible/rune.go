// Package visible escapes untrusted text: all characters become visible, and
// none controls a terminal or changes the order of text on a page.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Rune returns how the first rune of s, which is not empty, is shown and how
// many octets it has. Control and format characters, such as those that
// reverse the direction of text, and octets that are no UTF-8 are shown as
// escapes, as in Go's string literals: then escaped is true. A tab is shown as
// a blank.
func Rune(s string) (text string, size int, escaped bool) {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size <= 1:
		return fmt.Sprintf(`\x%02x`, s[0]), 1, true
	case r == '\t':
		return " ", size, false
	case !unicode.IsPrint(r):
		return strings.Trim(fmt.Sprintf("%+q", r), "'"), size, true
	}
	return s[:size], size, false
}
