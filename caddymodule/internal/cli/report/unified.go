package report

import (
	"io"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// Unified writes the changes of a file as a unified diff, for patch and git apply. It
// writes nothing if nothing changed.
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

// diffLines splits a text after each LF. If the last line has no LF, it adds the note
// that unified diffs have for this.
func diffLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	last := len(lines) - 1
	if lines[last] == "" {
		return lines[:last]
	}
	lines[last] += "\n\\ No newline at end of file\n"
	return lines
}
