package report

import (
	"strings"
	"unicode/utf8"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/output"
)

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
		text, size, n := output.Rune(raw[i:])
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
