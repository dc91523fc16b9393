package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize/english"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/output"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// Document is a robots.txt and the findings in it.
type Document struct {
	Name     string // file name, URL, or - for standard input
	File     *robots.File
	Findings []lint.Finding
	Hidden   int // number of findings with severity info that are not reported
}

// Worst returns the severity of the worst finding. It returns false if there are no
// findings.
func (d *Document) Worst() (lint.Severity, bool) {
	worst := lint.Info
	for i := range d.Findings {
		worst = max(worst, d.Findings[i].Severity)
	}
	return worst, len(d.Findings) > 0
}

// label returns the display name.
func (d *Document) label() string {
	if d.Name == "-" {
		return "standard input"
	}
	return output.Visible(d.Name)
}

// lines returns the lines that have findings or are related to one, by number.
func (d *Document) lines() map[int]robots.Line {
	wanted := map[int]robots.Line{}
	for i := range d.Findings {
		wanted[d.Findings[i].Line] = robots.Line{}
		wanted[d.Findings[i].Related] = robots.Line{}
	}
	for l := range d.File.Lines() {
		if _, ok := wanted[l.Number]; ok {
			wanted[l.Number] = l
		}
	}
	return wanted
}

// Text writes findings as text: each with its line, carets below the text that
// was found, the reason (once for each code) and the correction, and a summary
// at the end.
func Text(w io.Writer, d *Document, paint output.Paint) error {
	t := textWriter{Writer: bufio.NewWriter(w), paint: paint, lines: d.lines(), explained: map[string]bool{}}
	for i := range d.Findings {
		t.finding(d.label(), &d.Findings[i])
	}
	t.summary(d)
	return t.Flush()
}

// textWriter writes findings or changes as text.
type textWriter struct {
	*bufio.Writer
	paint     output.Paint
	lines     map[int]robots.Line
	explained map[string]bool // codes of rules whose reason was written
}

func (t *textWriter) finding(name string, f *lint.Finding) {
	fmt.Fprintf(t, "%s %s: %s %s\n",
		t.paint.Bold(fmt.Sprintf("%s:%d:%d:", name, f.Line, f.Column)),
		t.severity(f.Severity, f.Severity.String()), output.Visible(f.Message),
		t.paint.Faint("["+f.Code+"]"))
	if l := t.lines[f.Line]; isOn(f, &l) {
		t.source(l.Number, excerpt(l.Raw))
		before := output.Width(l.Raw[:f.Column-1])
		if mark := min(output.Width(f.Text), maxColumns-before); mark > 0 || before < maxColumns {
			t.note(strings.Repeat(" ", before) + t.severity(f.Severity, strings.Repeat("^", max(mark, 1))))
		}
	}
	if l, ok := t.lines[f.Related]; ok && l.Number > 0 {
		t.source(l.Number, excerpt(l.Raw))
	}
	if !t.explained[f.Code] {
		t.explained[f.Code] = true
		t.note("why: " + f.Why)
	}
	if f.Replacement != nil {
		t.replacement(f)
	}
	t.WriteByte('\n')
}

// maxColumns is the width of a line of a file: with its number, it fits on a terminal of 80
// columns.
const maxColumns = 69

// excerpt returns the begin of a line.
func excerpt(raw string) string { return output.Clip(raw, maxColumns) }

// severity colours text about a finding.
func (t *textWriter) severity(s lint.Severity, text string) string {
	switch s {
	case lint.Info:
		return t.paint.Note(text)
	case lint.Warning:
		return t.paint.Odd(text)
	}
	return t.paint.Bad(text)
}

// isOn reports whether a finding is about this line. Some findings are about the
// whole file or its end.
func isOn(f *lint.Finding, l *robots.Line) bool {
	return l.Number > 0 && f.Column-1 <= len(l.Raw) && strings.HasPrefix(l.Raw[f.Column-1:], f.Text)
}

// replacement writes what to write instead of the text that was found.
func (t *textWriter) replacement(f *lint.Finding) {
	if *f.Replacement == "" {
		t.note("remove it")
		return
	}
	lines := strings.Split(*f.Replacement, "\n")
	t.note("write: " + t.paint.Good(excerpt(lines[0])))
	for _, l := range lines[1:min(len(lines), maxReplacementLines)] {
		t.note("       " + t.paint.Good(excerpt(l)))
	}
	if more := len(lines) - maxReplacementLines; more > 0 {
		t.note(fmt.Sprintf("       … and %d lines more", more))
	}
}

// maxReplacementLines is the maximum number of lines of a replacement that are shown.
const maxReplacementLines = 8

// source writes a line of the file.
func (t *textWriter) source(number int, text string) {
	fmt.Fprintf(t, "%s %s\n", t.paint.Faint(fmt.Sprintf("%6d |", number)), text)
}

// note writes a note below a line of the file.
func (t *textWriter) note(text string) {
	fmt.Fprintf(t, "%s %s\n", t.paint.Faint("       |"), text)
}

// summary writes how many findings there are.
func (t *textWriter) summary(d *Document) {
	text := cmp.Or(t.bySeverity(d.Findings), t.paint.Good("nothing to report"))
	if d.Hidden > 0 {
		text += fmt.Sprintf("; %d info not shown (--info)", d.Hidden)
	}
	fmt.Fprintf(t, "%s: %s\n", d.label(), text)
}

// bySeverity returns the number of findings of each severity in words, "" for no
// findings.
func (t *textWriter) bySeverity(findings []lint.Finding) string {
	var counts [lint.Error + 1]int
	for i := range findings {
		counts[min(findings[i].Severity, lint.Error)]++
	}
	plurals := map[lint.Severity]string{lint.Info: "info"} // the others are regular
	var parts []string
	for _, s := range []lint.Severity{lint.Error, lint.Warning, lint.Info} {
		if n := counts[s]; n > 0 {
			parts = append(parts, t.severity(s, fmt.Sprintf("%d %s", n, english.PluralWord(n, s.String(), plurals[s]))))
		}
	}
	return strings.Join(parts, ", ")
}

// JSON writes findings as JSON, one object per line: the fields of lint.Finding and
// the name of the file.
func JSON(w io.Writer, d *Document) error {
	buf := bufio.NewWriter(w)
	enc := output.NewEncoder(buf)
	for i := range d.Findings {
		err := enc.Encode(struct {
			File string `json:"file"`
			*lint.Finding
		}{d.Name, &d.Findings[i]})
		if err != nil {
			return err
		}
	}
	return buf.Flush()
}
