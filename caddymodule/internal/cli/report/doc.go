// Package report writes the output of commands: findings of the linter as text,
// JSON, SARIF and other formats, the changes between two files, and the report
// of an audit.
//
//	d := &report.Document{Name: "robots.txt", File: f, Findings: lint.Lint(f)}
//	err := report.Text(os.Stdout, d, report.Paint(true))
//
// The contents and names of files are not trusted: the package escapes control
// characters in text for a terminal. It does not depend on Caddy or on the command
// line.
package report
