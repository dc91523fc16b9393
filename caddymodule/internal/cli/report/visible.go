package report

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/caddy-robots/caddy-robots/internal/visible"
)

// Visible returns s with escapes instead of control characters and invisible
// characters, so that text from a file can't send commands to the terminal.
func Visible(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		text, size, _ := visibleRune(s[i:])
		b.WriteString(text)
		i += size
	}
	return b.String()
}

// visibleRune returns the first rune of s as Visible writes it, the rune's length in
// octets, and the width of the text on a terminal in columns.
func visibleRune(s string) (text string, size, columns int) {
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

// textWidth returns the width of a text on a terminal, in columns.
func textWidth(s string) int {
	n := 0
	for i := 0; i < len(s); {
		_, size, columns := visibleRune(s[i:])
		i += size
		n += columns
	}
	return n
}

// clipped returns Visible(s), cut to at most n columns.
func clipped(s string, n int) string {
	s = Visible(s)
	if textWidth(s) <= n {
		return s
	}
	width := 1
	for i := 0; i < len(s); {
		_, size, columns := visibleRune(s[i:])
		if width += columns; width > n {
			return s[:i] + "…"
		}
		i += size
	}
	return s
}

// The size of an excerpt of a long line, in columns. With the line's number, it fits on
// a terminal of 80 columns.
const (
	maxColumns    = 69
	columnsBefore = 20 // before the marked text
)

// excerpt is the part of a line that is shown, with the position of the text to mark.
type excerpt struct {
	text string
	from int // columns before the marked text
	mark int // columns of the marked text, at least 1
}

// newExcerpt returns the part of raw around raw[from:to].
func newExcerpt(raw string, from, to int) excerpt {
	from = min(max(from, 0), len(raw))
	to = min(max(to, from), len(raw))
	start := 0
	if from > maxColumns-columnsBefore {
		start = runeStart(raw, from-columnsBefore)
	}
	e := excerpt{mark: -1}
	var b strings.Builder
	columns := 0
	if start > 0 {
		b.WriteString("…")
		columns = 1
	}
	i := start
	for i < len(raw) && columns < maxColumns {
		text, size, n := visibleRune(raw[i:])
		if i <= from && from < i+size {
			e.from, e.mark = columns, 0
		}
		b.WriteString(text)
		columns += n
		if e.mark >= 0 && i < to {
			e.mark += n
		}
		i += size
	}
	if e.mark < 0 { // the marked text is after the end of the line
		e.from = columns
	}
	if i < len(raw) {
		b.WriteString("…")
	}
	e.text, e.mark = b.String(), max(e.mark, 1)
	return e
}

// runeStart returns the first octet at or after i that begins a rune.
func runeStart(s string, i int) int {
	for n := 0; i < len(s) && !utf8.RuneStart(s[i]) && n < utf8.UTFMax; n++ {
		i++
	}
	return i
}
