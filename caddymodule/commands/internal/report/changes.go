package report

import (
	"bufio"
	_ "embed"
	"io"
	"math"
	"slices"
	"strings"
	"text/template"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli/output"
	"github.com/caddy-robots/caddy-robots/robots/diff"
)

//go:embed changes.txt
var changesTemplate string

// Changes writes the changes between two files as text: for each change the
// affected crawlers, the lines that make it, and example paths. Unless full is
// set, it names at most 12 crawlers of a change.
func Changes(w io.Writer, changes []diff.Change, full bool, paint output.Paint) error {
	limit := maxCrawlers
	if full {
		limit = math.MaxInt
	}
	return output.Layout{Paint: paint}.Execute(w, changesTemplate, template.FuncMap{
		"excerpt": func(text string) string { return newExcerpt(text, 0, 0).text },
		"limit":   func() int { return limit },
		"beyond":  func(list []string) int { return max(0, len(list)-limit) },
		// Lines outside of groups apply to all crawlers.
		"isOutside": func(what string) bool {
			return slices.Contains([]string{"sitemap", "host", "license", "clean-param"}, what)
		},
	}, changes)
}

// ChangesJSON writes changes as JSON, one object per line.
func ChangesJSON(w io.Writer, changes []diff.Change) error {
	buf := bufio.NewWriter(w)
	enc := output.NewEncoder(buf)
	for i := range changes {
		if err := enc.Encode(&changes[i]); err != nil {
			return err
		}
	}
	return buf.Flush()
}

// maxCrawlers is the maximum number of crawlers that are listed for a change.
const maxCrawlers = 12

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
