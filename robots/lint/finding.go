package lint

import (
	"fmt"
	"slices"
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
