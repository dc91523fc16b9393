package cli

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/caddy-robots/caddy-robots/internal/visible"
)

// Visible returns s with escapes instead of control characters and invisible
// characters, so that text from a file can't send commands to the terminal.
func Visible(s string) string { return visible.Text(s) }

// runeOf returns the first rune of s as Visible writes it, the rune's length in octets, and
// the width of the text on a terminal in columns.
func runeOf(s string) (text string, size, columns int) {
	text, size, escaped := visible.Rune(s)
	if escaped {
		return text, size, len(text)
	}
	r, _ := utf8.DecodeRuneInString(text)
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return text, size, 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return text, size, 2
	}
	return text, size, 1
}

// Width returns the width of a text on a terminal, in columns.
func Width(s string) int {
	n := 0
	for i := 0; i < len(s); {
		_, size, columns := runeOf(s[i:])
		i += size
		n += columns
	}
	return n
}

// Clip returns Visible(s), cut to at most n columns.
func Clip(s string, n int) string {
	s = Visible(s)
	if Width(s) <= n {
		return s
	}
	width := 1
	for i := 0; i < len(s); {
		_, size, columns := runeOf(s[i:])
		if width += columns; width > n {
			return s[:i] + "…"
		}
		i += size
	}
	return s
}
