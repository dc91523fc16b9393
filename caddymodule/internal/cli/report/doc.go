// Package report writes what is found in robots.txt files, for people and for
// machines: findings of the linter as text with the line and a caret, as JSON
// or as SARIF, and the changes between two files.
//
//	d := &report.Document{Name: "robots.txt", File: f, Findings: lint.Lint(f)}
//	err := report.Text(os.Stdout, d, report.Paint(true))
//
// Files and their names come from anyone: what they hold is made visible
// before it gets to a terminal. The package finds nothing itself, and knows
// neither Caddy nor the command line.
package report
