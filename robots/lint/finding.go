package lint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Severity is the importance of a finding.
type Severity uint8

const (
	// Info: the line is correct, but could be simpler or clearer.
	Info Severity = iota
	// Warning: some crawlers read the line differently, or it has no effect.
	Warning
	// Error: the line does not do what it was written for.
	Error
)

var severityNames = [...]string{Info: "info", Warning: "warning", Error: "error"}

// String returns info, warning or error.
func (s Severity) String() string { return severityNames[min(s, Error)] }

// MarshalText writes the severity as String does.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Severity) UnmarshalText(text []byte) error {
	i := slices.Index(severityNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("unknown severity %q: want info, warning or error", text)
	}
	*s = Severity(i)
	return nil
}

// Grade is the safety of the correction of a finding.
type Grade uint8

const (
	// None: Fix does not correct the finding.
	None Grade = iota
	// Safe: the correction changes no verdict and no limit for a crawler that
	// reads the file as RFC 9309 says, as google/robotstxt does, or exactly as
	// the standard of 1994 says.
	Safe
	// Unsafe: the correction changes no verdict and no limit for a crawler that
	// reads the file as RFC 9309 says and accepts the same misspellings as
	// package robots. Other crawlers may change their verdicts, usually because
	// they now read a line that they ignored before. A path that is not UTF-8, as
	// RFC 9309 requires, counts as one in Windows-1252.
	Unsafe
)

var gradeNames = [...]string{None: "", Safe: "safe", Unsafe: "unsafe"}

// String returns safe, unsafe, or "" for None.
func (g Grade) String() string { return gradeNames[min(g, Unsafe)] }

// MarshalText writes the grade as String does.
func (g Grade) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// Finding is a problem in a file, or something that its author may want to
// change.
type Finding struct {
	Code     string   `json:"code"` // of the check; it does not change between versions
	Severity Severity `json:"severity"`
	Line     int      `json:"line"`              // from 1
	Column   int      `json:"column"`            // of Text, in octets from 1
	Text     string   `json:"text,omitempty"`    // what was found, as written; only the first MaxText octets
	Message  string   `json:"message"`           // what is wrong
	Why      string   `json:"why"`               // the consequence, and the crawlers that it affects
	Related  int      `json:"related,omitempty"` // another line that the finding refers to, or 0
	// what to write instead of the whole text, even if Text is cut; "" to remove it, nil for no suggestion
	Replacement *string `json:"replacement,omitempty"`
	Fix         Grade   `json:"fix,omitempty"` // the grade of the correction that Fix can make

	edits []edit
}

// edit replaces the octets from (inclusive) to (exclusive) of a file with text.
type edit struct {
	from, to int
	text     string
}

// MaxText is the maximal length of the Text of a finding, in octets.
const MaxText = 120

// suggest sets the replacement.
func (f *Finding) suggest(text string) *Finding {
	text = withoutInvisible(text)
	f.Replacement = &text
	return f
}

// relateTo sets the other line that the finding refers to.
func (f *Finding) relateTo(line int) *Finding {
	f.Related = line
	return f
}

// edit adds a correction: Fix replaces the part of a line from col to end with
// text.
func (f *Finding) edit(g Grade, line *robots.Line, col, end int, text string) *Finding {
	f.Fix = max(f.Fix, g)
	f.edits = append(f.edits, edit{line.Offset + col, line.Offset + end, text})
	return f
}

// errTruncated is the error of Fix for a file that was not read to its end.
var errTruncated = errors.New("the file is too large: its end was not read")

// Fix returns the file with all corrections up to a grade: Safe makes the safe
// corrections, Unsafe makes the safe and the unsafe ones (see Grade). With None,
// it returns the file unchanged. The options are those of Lint: they select the
// checks, and Fix also calls the functions of WithCheck, up to four times. If the
// file is Truncated, Fix returns an error, since the result would lack the
// end of the file. Fix returns no other error.
func Fix(f *robots.File, grade Grade, opts ...Option) ([]byte, error) {
	if f.Truncated() {
		return nil, errTruncated
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
