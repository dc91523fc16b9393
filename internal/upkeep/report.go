package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// write writes the report. Strangers choose the text of errors and of proposals,
// so it stands quoted in blocks of code, which no backtick can end.
func (r *report) write(w io.Writer) error {
	var gone, changed, rows []string
	for _, d := range r.documents {
		switch before, known := r.before[d.url]; {
		case d.err != nil:
			gone = append(gone, fmt.Sprintf("%s: %s (%s)", stranger(d.url), stranger(d.err.Error()), stranger(strings.Join(d.rows, ", "))))
		case d.kind == list && known && before != d.size:
			changed = append(changed, fmt.Sprintf("%s: %d prefixes, %d before (%s)", stranger(d.url), d.size, before, stranger(strings.Join(d.rows, ", "))))
		case d.kind == list && !known:
			changed = append(changed, fmt.Sprintf("%s: %d prefixes, for the first time (%s)", stranger(d.url), d.size, stranger(strings.Join(d.rows, ", "))))
		}
	}
	for _, p := range r.proposals {
		rows = append(rows, p.row) // of letters, digits and the registry's own URL
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# The registry's documents\n\n%d documents were read.\n", len(r.documents))
	section(&b, "Gone or unreadable", gone)
	section(&b, "Lists that changed", changed)
	section(&b, "Names that the registry lacks", rows)
	_, err := io.WriteString(w, b.String())
	return err
}

func section(b *strings.Builder, title string, lines []string) {
	fmt.Fprintf(b, "\n## %s: %d\n", title, len(lines))
	if len(lines) > 0 {
		fmt.Fprintf(b, "\n```text\n%s\n```\n", strings.Join(lines, "\n"))
	}
}

// stranger returns text that strangers chose, on one line and without control
// characters and backticks.
func stranger(s string) string {
	s = strconv.QuoteToGraphic(s[:min(len(s), 500)])
	return strings.ReplaceAll(s[1:len(s)-1], "`", "'")
}
