// Package report writes the output of commands: findings of the linter as text,
// JSON, SARIF and other formats, the changes between two files, and the report
// of an audit.
//
//	d := &report.Document{Name: "robots.txt", File: f, Findings: lint.Lint(f)}
//	err := report.Text(os.Stdout, d, report.Paint(true))
//
// Files and their names are untrusted: control characters are escaped before
// they are written to a terminal. The package depends neither on Caddy nor on
// the command line.
package report
