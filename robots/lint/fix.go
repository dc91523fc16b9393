package lint

import (
	"cmp"
	"errors"
	"slices"

	"github.com/caddy-robots/caddy-robots/robots"
)

// ErrTruncated is the error of Fix for a file that was not read to its end.
var ErrTruncated = errors.New("the file is too large: its end was not read")

// Fix returns the file with all corrections up to a grade: Safe makes the safe
// corrections, Unsafe makes the safe and the unsafe ones (see Grade). With None,
// it returns the file unchanged. The options are those of Lint: they select the
// checks, and Fix also calls the functions of WithCheck, up to four times. If the
// file is Truncated, Fix returns ErrTruncated, since the result would lack the
// end of the file. Fix returns no other error.
func Fix(f *robots.File, grade Grade, opts ...Option) ([]byte, error) {
	if f.Truncated() {
		return nil, ErrTruncated
	}
	text := string(f.Bytes())
	// One correction may make another one possible.
	for range maxFixes {
		fixed := applyEdits(text, Lint(f, opts...), grade)
		if fixed == text {
			break
		}
		text = fixed
		f = robots.Parse([]byte(text), robots.WithDialect(f.Dialect()), robots.WithMaxSize(len(text)))
	}
	return []byte(text), nil
}

// maxFixes is how often Fix lints the file and applies corrections.
const maxFixes = 4

// applyEdits makes the edits of all findings up to a grade. Of edits that
// overlap it makes only the first.
func applyEdits(text string, findings []Finding, grade Grade) string {
	var edits []edit
	for i := range findings {
		if f := &findings[i]; f.Fix != None && f.Fix <= grade {
			edits = append(edits, f.edits...)
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
