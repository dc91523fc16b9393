package report

import (
	"strings"
)

// column is a column of a table.
type column struct {
	name string
	left bool // align to the left
}

// table writes rows below the names of the columns.
func (t *auditText) table(columns []column, rows [][]string) {
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = len(c.name)
		for _, row := range rows {
			widths[i] = max(widths[i], textWidth(row[i]))
		}
	}
	head := make([]string, len(columns))
	for i, c := range columns {
		head[i] = c.name
	}
	t.row(columns, widths, head, faint)
	for _, row := range rows {
		t.row(columns, widths, row, "")
	}
}

func (t *auditText) row(columns []column, widths []int, row []string, s style) {
	var b strings.Builder
	for i, cell := range row {
		pad := strings.Repeat(" ", max(widths[i]-textWidth(cell), 0))
		b.WriteString("  ")
		if columns[i].left {
			b.WriteString(cell + pad)
		} else {
			b.WriteString(pad + cell)
		}
	}
	line := strings.TrimRight(b.String(), " ")
	if s != "" {
		line = t.paint.in(s, line)
	}
	t.printf("%s\n", line)
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
