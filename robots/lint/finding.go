package lint

import (
	"fmt"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Severity says how much a finding matters.
type Severity uint8

const (
	// Info: correct, and could be simpler or clearer.
	Info Severity = iota
	// Warning: some crawlers read it differently, or it has no effect.
	Warning
	// Error: it does not do what it was written for.
	Error
)

var severityNames = [...]string{Info: "info", Warning: "warning", Error: "error"}

// String returns info, warning or error.
func (s Severity) String() string { return severityNames[min(s, Error)] }

// MarshalText writes the severity as String does.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Severity) UnmarshalText(text []byte) error {
	for v, name := range severityNames {
		if name == string(text) {
			*s = Severity(v)
			return nil
		}
	}
	return fmt.Errorf("unknown severity %q: want info, warning or error", text)
}

// Grade tells how safe the correction of a finding is.
type Grade uint8

const (
	// None: Fix does not correct the finding.
	None Grade = iota
	// Safe: the correction changes no verdict and no limit for a crawler that
	// reads the file as RFC 9309 says, as google/robotstxt does, or as the
	// standard of 1994 says literally.
	Safe
	// Unsafe: the correction changes no verdict and no limit for a crawler that
	// reads the file as RFC 9309 says and accepts the same misspellings as
	// package robots. Other crawlers may change their verdicts, usually because
	// they now read a line that they ignored before.
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
	Code        string   `json:"code"` // of the rule; stable
	Severity    Severity `json:"severity"`
	Line        int      `json:"line"`                  // from 1
	Column      int      `json:"column"`                // of Text, in octets from 1
	Text        string   `json:"text,omitempty"`        // what was found, as written; at most MaxText octets of it
	Message     string   `json:"message"`               // what is wrong
	Why         string   `json:"why"`                   // the consequence, and for which crawlers
	Related     int      `json:"related,omitempty"`     // another line that the finding refers to, or 0
	Replacement *string  `json:"replacement,omitempty"` // what to write instead of Text; "" to remove it
	Fix         Grade    `json:"fix,omitempty"`         // the grade of the correction that Fix can make

	edits []edit
}

// edit replaces the octets from to before to of a file.
type edit struct {
	from, to int
	text     string
}

// MaxText bounds the Text of a finding, in octets.
const MaxText = 120

// suggest sets the replacement.
func (f *Finding) suggest(text string) *Finding {
	f.Replacement = &text
	return f
}

// edit adds a correction: Fix replaces the part of a line from col to end with
// text.
func (f *Finding) edit(g Grade, line *robots.Line, col, end int, text string) *Finding {
	f.Fix = max(f.Fix, g)
	f.edits = append(f.edits, edit{line.Offset + col, line.Offset + end, text})
	return f
}
