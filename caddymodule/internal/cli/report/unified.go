package report

import (
	"io"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// Unified writes the changes of a file as a unified diff, which patch and git
// apply read. It writes nothing if nothing changed.
func Unified(w io.Writer, name, before, after string) error {
	if before == after {
		return nil
	}
	return difflib.WriteUnifiedDiff(w, difflib.UnifiedDiff{
		A: diffLines(before), B: diffLines(after),
		FromFile: "a/" + strings.TrimPrefix(name, "/"), ToFile: "b/" + strings.TrimPrefix(name, "/"),
		Context: 3,
	})
}

// diffLines cuts a text after each LF, and marks a last line that has none.
func diffLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	last := len(lines) - 1
	if lines[last] == "" {
		return lines[:last]
	}
	lines[last] += "\n\\ No newline at end of file\n"
	return lines
}
