package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Layout writes text with tables for a terminal. In a template, each line of a table
// has its cells between TABs, which Visible removes from other texts. The first line
// of a table begins with {{head}}. A table without other lines is left out.
//
// Before a column's head, marks say how to write it, in this order: !: a number other than
// 0 is bad; >: aligned to the right.
//
// The templates have the functions of funcs, and bold, faint, good, odd, note, bad and off
// for colours.
type Layout struct {
	Paint  Paint
	Indent string // before each line of a table
	// FaintHeads makes the heads of tables faint.
	FaintHeads bool
	// Narrow leaves out the columns that have no value but 0 and -.
	Narrow bool
}

// headMark begins the first line of a table.
const headMark = "\f"

// funcs are functions of all templates.
var funcs = template.FuncMap{
	"visible": Visible,
	"join":    func(list []string) string { return strings.Join(list, ", ") },
	"clip":    func(n int, s string) string { return Clip(s, n) },
	"head":    func() string { return headMark },
	"lines":   func(s string) []string { return strings.Split(strings.TrimRight(s, "\r\n"), "\n") },
	"count":   words.Count[int64],
	"plural":  func(n int64, what string) string { return words.Plural(n, what, what+"s") },
	"first":   func(n int, list []string) []string { return list[:min(n, len(list))] },
	"more": func(n int, list []string) string {
		if len(list) <= n {
			return ""
		}
		return fmt.Sprintf("  and %d more, which --json shows\n", len(list)-n)
	},
}

// styles are the functions of a template for colours. They return nothing without
// paint.
func (p Paint) styles() template.FuncMap {
	m := template.FuncMap{}
	for name, s := range map[string]style{"bold": bold, "faint": faint, "good": green, "odd": yellow, "note": cyan, "bad": red, "off": endOfStyle} {
		if !p {
			s = ""
		}
		m[name] = func() style { return s }
	}
	return m
}

// Execute writes data with a template that has more functions, and aligns the tables.
func (l Layout) Execute(w io.Writer, text string, more template.FuncMap, data any) error {
	t, err := template.New("").Funcs(funcs).Funcs(l.Paint.styles()).Funcs(more).Parse(text)
	if err != nil {
		return err
	}
	var filled strings.Builder
	if err := t.Execute(&filled, data); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	var rows [][]string
	for line := range strings.Lines(filled.String()) {
		line, isHead := strings.CutPrefix(line, headMark)
		isRow := isHead || len(rows) > 0 && strings.Contains(line, "\t")
		if isHead || !isRow {
			l.table(out, rows)
			rows = nil
		}
		if isRow {
			rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		} else {
			out.WriteString(line)
		}
	}
	l.table(out, rows)
	return out.Flush()
}

// column is a column of a table.
type column struct {
	alarm, right bool
	width        int // in columns of the terminal; 0: left out
}

// table writes a table. The first row has the heads.
func (l Layout) table(out *bufio.Writer, rows [][]string) {
	if len(rows) < 2 { // only heads
		return
	}
	columns := make([]column, len(rows[0]))
	for i, head := range rows[0] {
		c := &columns[i]
		head, c.alarm = strings.CutPrefix(head, "!")
		rows[0][i], c.right = strings.CutPrefix(head, ">")
		hasValue := func(row []string) bool { return row[i] != "" && row[i] != "0" && row[i] != "-" }
		if l.Narrow && !slices.ContainsFunc(rows[1:], hasValue) {
			continue
		}
		for _, row := range rows {
			c.width = max(c.width, Width(row[i]))
		}
	}
	for n, row := range rows {
		var cells []string
		for i, c := range columns {
			if c.width > 0 {
				cells = append(cells, l.cell(&c, row[i], n == 0))
			}
		}
		text := l.Indent + strings.TrimRight(strings.Join(cells, "  "), " ")
		if n == 0 && l.FaintHeads {
			text = l.Paint.in(faint, text)
		}
		fmt.Fprintln(out, text)
	}
}

// cell returns the text of a cell with the width of its column.
func (l Layout) cell(c *column, text string, isHead bool) string {
	pad := strings.Repeat(" ", c.width-Width(text))
	switch {
	case !c.alarm || isHead || text == "-":
	case text == "0":
		text = l.Paint.in(green, text)
	default:
		text = l.Paint.in(red, text)
	}
	if c.right {
		return pad + text
	}
	return text + pad
}

// Paint colours text for a terminal if it is true.
type Paint bool

// style is an escape sequence for a colour or font (SGR; ECMA-48, section 8.3.117).
type style string

const (
	bold   style = "\x1b[1m"
	faint  style = "\x1b[2m"
	red    style = "\x1b[1;31m"
	green  style = "\x1b[1;32m"
	yellow style = "\x1b[1;33m"
	cyan   style = "\x1b[36m"

	endOfStyle = "\x1b[0m"
)

func (p Paint) in(s style, text string) string {
	if !p || text == "" {
		return text
	}
	return string(s) + text + endOfStyle
}
