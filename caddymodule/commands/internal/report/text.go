package report

import (
	_ "embed"
	"io"
	"slices"
	"strings"
	"text/template"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/internal/words"
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

// maxColumns is the width of a line of a file: with its number, it fits on a terminal of 80
// columns.
const maxColumns = 69

// excerpt returns the begin of a line.
func excerpt(raw string) string { return cli.Clip(raw, maxColumns) }

//go:embed findings.txt
var findingsTemplate string

// Text writes findings as text: each with its line, carets below the text that
// was found, the reason (once for each code) and the correction, and a summary
// at the end.
func Text(w io.Writer, d *Document, paint cli.Paint) error {
	lines := slices.Collect(d.File.Lines())
	explained := map[string]bool{}
	return cli.Layout{Paint: paint}.Execute(w, findingsTemplate, template.FuncMap{
		"excerpt": excerpt,
		"isOn":    isOn,
		"marks":   marks,
		"line": func(number int) (l robots.Line) {
			if 0 < number && number <= len(lines) {
				l = lines[number-1]
			}
			return l
		},
		"isNew": func(code string) bool {
			is := !explained[code]
			explained[code] = true
			return is
		},
		"written": func(replacement *string) string { return *replacement },
		"counts":  func() []severityCount { return bySeverity(d.Findings) },
	}, d)
}

// isOn reports whether a finding is about this line. Some findings are about the
// whole file or its end.
func isOn(f lint.Finding, l robots.Line) bool {
	return l.Number > 0 && f.Column-1 <= len(l.Raw) && strings.HasPrefix(l.Raw[f.Column-1:], f.Text)
}

// marks returns carets for the line below that of a finding; "" if they would be too far to
// the right.
func marks(f lint.Finding, l robots.Line) string {
	before := cli.Width(l.Raw[:f.Column-1])
	if before >= maxColumns {
		return ""
	}
	return strings.Repeat(" ", before) + strings.Repeat("^", max(1, min(cli.Width(f.Text), maxColumns-before)))
}

// severityCount is the number of findings of a severity.
type severityCount struct {
	Severity lint.Severity
	Number   int64
}

// bySeverity returns the numbers of findings, those of errors first.
func bySeverity(findings []lint.Finding) (list []severityCount) {
	for _, s := range []lint.Severity{lint.Error, lint.Warning, lint.Info} {
		n := int64(0)
		for i := range findings {
			if findings[i].Severity == s {
				n++
			}
		}
		if n > 0 {
			list = append(list, severityCount{s, n})
		}
	}
	return list
}

// JSON writes findings as JSON, one object per line: the fields of lint.Finding and
// the name of the file.
func JSON(w io.Writer, d *Document) error {
	type finding struct {
		File string `json:"file"`
		lint.Finding
	}
	return cli.WriteLines(w, words.Map(d.Findings, func(f lint.Finding) finding { return finding{d.Name, f} }))
}
