package report

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/template"

	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// Layout writes text with tables for a terminal. In a template, each line of a table
// has its cells between TABs, which Visible removes from other texts. The first line
// of a table begins with {{head}}. Columns whose heads begin with > are aligned to the
// right. A table without other lines is left out.
//
// The templates have the functions of funcs, and bold, faint, good, odd, bad and off
// for colours.
type Layout struct {
	Paint  Paint
	Indent string // before each line of a table
	Heads  style  // of the heads of tables
	// Cell is the largest width of a cell that is not the last one of its line, in
	// columns; 0: no limit.
	Cell int
}

// headMark begins the first line of a table.
const headMark = "\f"

// funcs are functions of all templates.
var funcs = template.FuncMap{
	"visible": Visible,
	"join":    func(list []string) string { return strings.Join(list, ", ") },
	"clip":    func(n int, s string) string { return clipped(s, n) },
	"head":    func() string { return headMark },
	"first":   first,
	"more": func(n int, list any) string {
		if more := reflect.ValueOf(list).Len() - n; more > 0 {
			return fmt.Sprintf("  and %d more, which --json shows\n", more)
		}
		return ""
	},
}

// first returns at most n elements of a list.
func first(n int, list any) any {
	v := reflect.ValueOf(list)
	return v.Slice(0, min(n, v.Len())).Interface()
}

// styles are the functions of a template for colours. They return nothing without
// paint.
func (p Paint) styles() template.FuncMap {
	m := template.FuncMap{}
	for name, s := range map[string]style{"bold": bold, "faint": faint, "good": green, "odd": yellow, "bad": red, "off": endOfStyle} {
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

// table writes a table. The first row has the heads.
func (l Layout) table(out *bufio.Writer, rows [][]string) {
	if len(rows) < 2 { // only heads
		return
	}
	right := make([]bool, len(rows[0]))
	for i, name := range rows[0] {
		rows[0][i], right[i] = strings.CutPrefix(name, ">")
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range row {
			if l.Cell > 0 && i < len(row)-1 {
				row[i] = clipped(row[i], l.Cell)
			}
			widths[i] = max(widths[i], textWidth(row[i]))
		}
	}
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-textWidth(cell))
			if right[i] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		text := l.Indent + strings.TrimRight(line.String(), " ")
		if n == 0 && l.Heads != "" {
			text = l.Paint.in(l.Heads, text)
		}
		fmt.Fprintln(out, text)
	}
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

// Good colours text about a normal state.
func (p Paint) Good(text string) string { return p.in(green, text) }

// Bad colours text about a problem.
func (p Paint) Bad(text string) string { return p.in(red, text) }

// Odd colours text about something unusual.
func (p Paint) Odd(text string) string { return p.in(yellow, text) }

func (p Paint) severity(s lint.Severity, text string) string {
	return p.in([...]style{lint.Info: cyan, lint.Warning: yellow, lint.Error: red}[min(s, lint.Error)], text)
}
