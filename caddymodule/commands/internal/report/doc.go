// Package report writes the output of commands: findings of the linter as text and
// JSON, the changes between two files, and the report of an audit.
//
//	d := &report.Document{Name: "robots.txt", File: f, Findings: lint.Lint(f)}
//	err := report.Text(os.Stdout, d, true) // with colours
//
// The contents and names of files are not trusted: control characters are escaped in text
// for a terminal. The package does not depend on Caddy or on the command line.
package report
