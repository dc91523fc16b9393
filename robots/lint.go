package robots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity says how much a finding matters.
type Severity uint8

const (
	// Info: understood by all that matter, and could be said better.
	Info Severity = iota
	// Warning: some crawlers read it otherwise, or it does nothing.
	Warning
	// Error: it does not do what it was written for.
	Error
)

// String returns info, warning or error.
func (s Severity) String() string {
	return [...]string{"info", "warning", "error"}[min(s, Error)]
}

// MarshalText writes the severity as String does.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Severity) UnmarshalText(text []byte) error {
	for _, v := range []Severity{Info, Warning, Error} {
		if v.String() == string(text) {
			*s = v
			return nil
		}
	}
	return fmt.Errorf("unknown severity %q: want info, warning or error", text)
}

// Finding is something in a file that its author may want to change.
type Finding struct {
	Code        string   `json:"code"` // stable; Kinds explains each
	Severity    Severity `json:"severity"`
	Line        int      `json:"line"`                  // from 1
	Column      int      `json:"column"`                // of Text, in octets from 1
	Text        string   `json:"text,omitempty"`        // what was found, as written; long ones cut
	Message     string   `json:"message"`               // what is wrong
	Why         string   `json:"why"`                   // why it matters, and to whom
	Related     int      `json:"related,omitempty"`     // another line that it has to do with, or 0
	Replacement *string  `json:"replacement,omitempty"` // what to write instead of Text; "" to drop it
	Safe        bool     `json:"safe,omitempty"`        // Fix makes the change: no verdict of RFC 9309 changes by it

	edits []edit
}

// edit replaces the octets from to before to of a file.
type edit struct {
	from, to int
	text     string
}

// maxText bounds the Text of a finding, in octets.
const maxText = 120

// LintOption is an option of Lint.
type LintOption func(*linter)

// WithLocation tells Lint the address that the file was read from.
func WithLocation(url string) LintOption {
	return func(l *linter) { l.location = url }
}

// WithControlTokens replaces the list of product tokens that crawlers look
// for in a file but never send as their User-Agent.
func WithControlTokens(tokens ...string) LintOption {
	return func(l *linter) { l.control = tokens }
}

// WithSearchEngines replaces the list of crawlers whose absence costs a site
// its visitors. Each is the list of its product tokens, in the order in which
// it obeys them.
func WithSearchEngines(engines ...[]string) LintOption {
	return func(l *linter) { l.engines = engines }
}

// Lint returns what a file's author may want to change, in the order of the
// lines. Its time is bounded: at most proportional to the file, but for a
// fixed amount of work that compares rules with each other.
func Lint(f *File, opts ...LintOption) []Finding {
	l := &linter{file: f, control: controlTokens, engines: searchEngines, budget: maxComparisons}
	for _, o := range opts {
		o(l)
	}
	if !l.checkWhole() {
		return l.findings
	}
	l.checkLines()
	l.checkGroups()
	l.checkRules()
	slices.SortStableFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return l.findings
}

// maxFindings bounds how many findings of one kind are returned.
const maxFindings = 1000

type linter struct {
	file     *File
	location string
	control  []string
	engines  [][]string
	lines    []Line
	findings []Finding
	counts   map[string]int
	budget   int // comparisons of rules that are left
}

// at returns a finding on a part of a line, which starts at column col,
// counted from 0.
func (l *linter) at(code string, line *Line, col int, text, format string, args ...any) *Finding {
	if len(text) > maxText {
		text = text[:maxText]
	}
	return &Finding{
		Code: code, Line: line.Number, Column: col + 1,
		Text: text, Message: fmt.Sprintf(format, args...),
	}
}

// onValue returns a finding on the value of a line, onKey one on its key.
func (l *linter) onValue(code string, line *Line, format string, args ...any) *Finding {
	return l.at(code, line, line.ValueCol, line.Value, format, args...)
}

func (l *linter) onKey(code string, line *Line, format string, args ...any) *Finding {
	return l.at(code, line, line.KeyCol, line.Key, format, args...)
}

// add reports a finding.
func (l *linter) add(f *Finding) {
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	if l.counts[f.Code]++; l.counts[f.Code] > maxFindings {
		return
	}
	k := kinds[f.Code]
	f.Severity, f.Why = k.Severity, k.Why
	l.findings = append(l.findings, *f)
}

// suggest says what to write instead.
func (f *Finding) suggest(text string) *Finding {
	f.Replacement = &text
	return f
}

// safely has Fix write text for the part of a line from col to end, which is
// what the finding is about.
func (f *Finding) safely(line *Line, col, end int, text string) *Finding {
	f.Safe = true
	f.edits = append(f.edits, edit{line.Offset + col, line.Offset + end, text})
	return f
}

// LooksLikeHTML reports whether data is the beginning of an HTML page, as sites
// send it for a robots.txt that they do not have.
func LooksLikeHTML(data []byte) bool {
	s := string(data[:min(len(data), 1024)])
	s = strings.ToLower(strings.TrimLeft(strings.TrimPrefix(s, byteOrderMark), " \t\r\n\f\v"))
	for strings.HasPrefix(s, "<!--") || strings.HasPrefix(s, "<?xml") {
		i := strings.IndexByte(s, '>')
		if i < 0 {
			return true
		}
		s = strings.TrimLeft(s[i+1:], " \t\r\n\f\v")
	}
	for _, tag := range []string{"<!doctype", "<html", "<head", "<body", "<title", "<meta", "<script", "<div", "<h1", "<center", "<br",
		"<p", "<a ", "<b>", "<font", "<iframe", "<img", "<link", "<span", "<style", "<svg", "<table"} {
		if strings.HasPrefix(s, tag) {
			return true
		}
	}
	return false
}
