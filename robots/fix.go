package robots

import (
	"cmp"
	"errors"
	"slices"
)

// Fix returns the file with all replacements made that are safe: no verdict of
// RFC 9309 on any path and crawler changes by them. It fails for a file that
// was not read to its end, whose rest would be lost.
func Fix(f *File) ([]byte, error) {
	if f.truncated {
		return nil, errors.New("the file is too large: its end was not read")
	}
	text := f.text
	// What one replacement leaves may be another one's matter.
	for range maxFixes {
		fixed := applyEdits(text, Lint(f))
		if fixed == text {
			break
		}
		text = fixed
		f = Parse([]byte(text), WithDialect(f.dialect), WithMaxSize(len(text)))
	}
	return []byte(text), nil
}

// maxFixes bounds how often a file is linted again after it was changed.
const maxFixes = 4

// applyEdits makes the edits of all safe findings, but of those that overlap
// only the first.
func applyEdits(text string, findings []Finding) string {
	var edits []edit
	for i := range findings {
		if findings[i].Safe {
			edits = append(edits, findings[i].edits...)
		}
	}
	slices.SortStableFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	out := make([]byte, 0, len(text))
	at := 0
	for _, e := range edits {
		if e.from < at {
			continue
		}
		out = append(out, text[at:e.from]...)
		out = append(out, e.text...)
		at = e.to
	}
	return string(append(out, text[at:]...))
}
