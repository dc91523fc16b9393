package output

import (
	"bufio"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Layout writes text with tables for a terminal. In a template, each line of a table
// has its cells between TABs, which Visible removes from other texts. The first line
// of a table begins with {{head}}. A table without other lines is left out.
//
// Before a column's head, marks say how to write it, in this order: a digit: the column
// is left out on a narrow terminal, those without a value first, and then those with the
// highest digit; !: a number
// other than 0 is bad; =: its texts are not cut; >: the same, and aligned to the right.
//
// The templates have the functions of funcs, and bold, faint, good, odd, bad and off
// for colours.
type Layout struct {
	Paint  Paint
	Indent string // before each line of a table
	// FaintHeads makes the heads of tables faint.
	FaintHeads bool
	// Width is the width of the terminal in columns: longer lines are wrapped, and
	// tables are narrowed. 0 means no limit.
	Width int
}

// headMark begins the first line of a table.
const headMark = "\f"

// funcs are functions of all templates.
var funcs = template.FuncMap{
	"visible": Visible,
	"join":    func(list []string) string { return strings.Join(list, ", ") },
	"clip":    func(n int, s string) string { return Clip(s, n) },
	"head":    func() string { return headMark },
	"list":    func(n int, texts []string) string { return words.List(texts, n) },
	"lines":   func(s string) []string { return strings.Split(strings.TrimRight(s, "\r\n"), "\n") },
	"count":   words.Count[int64],
	"plural":  func(n int64, what string) string { return words.Plural(n, what, what+"s") },
	"moment":  moment,
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

// moment returns a time in UTC, "-" for none.
func moment(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04")
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
	var left []string // heads of the columns that are left out
	for line := range strings.Lines(filled.String()) {
		line, isHead := strings.CutPrefix(line, headMark)
		isRow := isHead || len(rows) > 0 && strings.Contains(line, "\t")
		if isHead || !isRow {
			left = append(left, l.table(out, rows)...)
			rows = nil
		}
		switch {
		case isRow:
			rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		case strings.HasPrefix(line, copied):
			out.WriteString(line) // a command with a line break in it would be another one
		default:
			out.WriteString(l.wrap(line))
		}
	}
	if left = append(left, l.table(out, rows)...); len(left) > 0 {
		slices.Sort(left)
		out.WriteString(l.wrap(fmt.Sprintf("\nThis terminal is too narrow for these columns: %s.\n", strings.Join(slices.Compact(left), ", "))))
	}
	return out.Flush()
}

// copied is what a line begins with that people copy.
const copied = "        "

// column is a column of a table.
type column struct {
	name         string
	rank         byte // a digit; 0: always shown
	alarm, whole bool
	right        bool
	empty        bool // it has no value but 0 and -
	width        int  // in columns of the terminal; 0: left out
}

// newColumn returns the column with a head and its marks.
func newColumn(head string) (c column) {
	if head != "" && '0' < head[0] && head[0] <= '9' {
		c.rank, head = head[0], head[1:]
	}
	head, c.alarm = strings.CutPrefix(head, "!")
	head, c.whole = strings.CutPrefix(head, "=")
	c.name, c.right = strings.CutPrefix(head, ">")
	c.whole = c.whole || c.right
	return c
}

// table writes a table, and returns the names of the columns that it left out. The
// first row has the heads.
func (l Layout) table(out *bufio.Writer, rows [][]string) (left []string) {
	if len(rows) < 2 { // only heads
		return nil
	}
	columns := make([]column, len(rows[0]))
	for i, head := range rows[0] {
		columns[i] = newColumn(head)
		rows[0][i] = columns[i].name
		columns[i].empty = !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[i] != "" && row[i] != "0" && row[i] != "-" })
		for _, row := range rows {
			columns[i].width = max(columns[i].width, textWidth(row[i]))
		}
	}
	if l.Width > 0 {
		left = l.fit(columns)
	}
	for n, row := range rows {
		var line strings.Builder
		for i, c := range columns {
			if c.width > 0 {
				line.WriteString(l.cell(&c, row[i], n == 0))
				line.WriteString("  ")
			}
		}
		text := l.Indent + strings.TrimRight(line.String(), " ")
		if n == 0 && l.FaintHeads {
			text = l.Paint.Faint(text)
		}
		fmt.Fprintln(out, text)
	}
	return left
}

// cell returns the text of a cell with the width of its column.
func (l Layout) cell(c *column, text string, isHead bool) string {
	if textWidth(text) > c.width {
		text = Clip(text, c.width)
	}
	pad := strings.Repeat(" ", c.width-textWidth(text))
	switch {
	case !c.alarm || isHead || text == "-":
	case text == "0":
		text = l.Paint.Good(text)
	default:
		text = l.Paint.Bad(text)
	}
	if c.right {
		return pad + text
	}
	return text + pad
}

// order returns a number: columns with a higher one are left out first, those with 0 never.
func (c *column) order() int {
	order := 0
	if c.rank != 0 {
		order = int(c.rank - '0')
	}
	switch {
	case c.empty && c.alarm:
		return 30
	case c.empty:
		return 20 + order
	}
	return order
}

// The least widths of texts on a narrow terminal: before columns are left out, and
// after that.
const (
	enoughWidth = 16
	leastWidth  = 8
)

// fit makes the columns fit on the terminal: it leaves out columns, and then cuts texts.
// It returns the names of the columns with values that it left out.
func (l Layout) fit(columns []column) (left []string) {
	natural := slices.Clone(columns)
	l.narrow(columns, enoughWidth)
	for order := 30; order > 0; order-- {
		for i := 1; i < len(columns) && l.tooWide(columns); i++ {
			if c := &columns[i]; c.order() == order {
				c.width, natural[i].width = 0, 0
				if !c.empty {
					left = append(left, c.name)
				}
			}
		}
	}
	copy(columns, natural)
	l.narrow(columns, leastWidth)
	return left
}

// narrow makes the widest columns with texts narrower until all columns fit.
func (l Layout) narrow(columns []column, least int) {
	for l.tooWide(columns) {
		widest := &column{}
		for i := range columns {
			if c := &columns[i]; !c.whole && c.width > widest.width {
				widest = c
			}
		}
		if widest.width <= least {
			return
		}
		widest.width--
	}
}

// tooWide reports whether the columns do not fit on the terminal.
func (l Layout) tooWide(columns []column) bool {
	n := textWidth(l.Indent) - 2
	for _, c := range columns {
		if c.width > 0 {
			n += c.width + 2
		}
	}
	return n > l.Width
}

// escapes are the styles of Paint in a text.
var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Fold breaks the lines of a text at blanks so that they fit on the terminal.
func (l Layout) Fold(text string) string {
	return strings.Join(words.Map(strings.SplitAfter(text, "\n"), l.wrap), "")
}

// wrap breaks a line at blanks so that it fits on the terminal. Its other parts are
// indented.
func (l Layout) wrap(line string) string {
	if l.Width == 0 {
		return line
	}
	var b strings.Builder
	at := 0
	for i, word := range strings.Split(line, " ") {
		n := textWidth(strings.TrimSuffix(escapes.ReplaceAllString(word, ""), "\n"))
		switch {
		case i == 0:
		case at > 4 && at+1+n > l.Width:
			b.WriteString("\n    ")
			at = 4
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
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

// Note colours text that informs.
func (p Paint) Note(text string) string { return p.in(cyan, text) }

// Bold makes text bold.
func (p Paint) Bold(text string) string { return p.in(bold, text) }

// Faint makes text faint.
func (p Paint) Faint(text string) string { return p.in(faint, text) }
