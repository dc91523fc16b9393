package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Option is an option of Lint and Fix.
type Option func(*linter)

// WithLocation sets the URL that the file was read from. Without it, the linter
// does not check the location of the file.
func WithLocation(url string) Option { return func(l *linter) { l.location = url } }

// WithCrawlers sets the source of information about crawlers.
func WithCrawlers(c Crawlers) Option { return func(l *linter) { l.crawlers = c } }

// WithSelect limits the findings to the checks with these codes. Without codes,
// it selects all checks. Codes that do not exist select nothing. If WithSelect
// occurs several times, only the last one counts.
func WithSelect(codes ...string) Option { return func(l *linter) { l.selected = codes } }

// WithIgnore leaves out findings of the checks with these codes, even if
// WithSelect selects them. Codes that do not exist have no effect. If
// WithIgnore occurs several times, only the last one counts.
func WithIgnore(codes ...string) Option { return func(l *linter) { l.ignored = codes } }

// WithCheck adds a check that the caller provides, for example one that
// compares the file with other settings of the site. The check calls report for
// each finding, with the code of an existing check, the line number (from 1),
// and the message. Lint and Fix panic if there is no check with that code.
func WithCheck(check func(f *robots.File, report func(code string, line int, message string))) Option {
	return func(l *linter) { l.checks = append(l.checks, check) }
}

// Lint returns the findings in a file, in the order of the lines. Its time is
// proportional to the size of the file, plus the time to compare Allow and
// Disallow lines with each other, which has a constant limit. If there are too
// many lines to check all of them, a finding analysis-limited reports it. Lint
// returns at most 1000 findings with the same code, and does not report that
// there are more.
func Lint(f *robots.File, opts ...Option) []Finding {
	l := &linter{file: f, text: string(f.Bytes()), crawlers: noCrawlers{}, budget: maxComparisons, counts: map[string]int{}}
	for _, o := range opts {
		o(l)
	}
	if l.checkFile() {
		l.google = l.googleDifferences()
		l.checkLines()
		l.checkGroups()
		l.checkOverlaps()
		l.checkGoogle()
		for _, check := range l.checks {
			check(f, func(code string, line int, message string) {
				l.add(l.at(code, &robots.Line{Number: line}, 0, "", "%s", message))
			})
		}
		l.suppress()
	}
	l.findings = slices.DeleteFunc(l.findings, func(f Finding) bool { return !l.selects(f.Code) })
	slices.SortStableFunc(l.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return l.findings
}

// maxFindings is the maximal number of findings of one check.
const maxFindings = 1000

type linter struct {
	file              *robots.File
	text              string // of file
	location          string
	crawlers          Crawlers
	selected, ignored []string
	checks            []func(f *robots.File, report func(code string, line int, message string))
	lines             []robots.Line
	google            map[int]robots.GoogleDifference // by line
	wellKnown         []string                        // see Crawlers; nil before the first use
	blocks            []*block                        // in the order of the file
	findings          []Finding
	counts            map[string]int // findings by code
	budget            int            // comparisons of rules that are left
}

// selects reports whether the options select a check.
func (l *linter) selects(code string) bool {
	return (len(l.selected) == 0 || slices.Contains(l.selected, code)) && !slices.Contains(l.ignored, code)
}

// wildcards reports whether * and $ have a special meaning in the file's
// dialect. In these dialects, the longest rule decides.
func (l *linter) wildcards() bool {
	return l.file.Dialect() == robots.RFC9309 || l.file.Dialect() == robots.Google
}

// lists reports whether a line may have several values in the file's dialect.
func (l *linter) lists() bool { return l.file.Dialect() == robots.Kollar1996 }

// at returns a finding about a part of a line. The part starts at column col,
// counted from 0.
func (l *linter) at(code string, line *robots.Line, col int, text, format string, args ...any) *Finding {
	if len(text) > MaxText {
		text = text[:MaxText]
	}
	return &Finding{Code: code, Line: line.Number, Column: col + 1, Text: text, Message: fmt.Sprintf(format, args...)}
}

// onValue returns a finding about the value of a line.
func (l *linter) onValue(code string, line *robots.Line, format string, args ...any) *Finding {
	return l.at(code, line, line.ValueCol, line.Value, format, args...)
}

// onKey returns a finding about the key of a line.
func (l *linter) onKey(code string, line *robots.Line, format string, args ...any) *Finding {
	return l.at(code, line, line.KeyCol, line.Key, format, args...)
}

// add reports a finding.
func (l *linter) add(f *Finding) {
	if l.counts[f.Code]++; l.counts[f.Code] > maxFindings {
		return
	}
	if c, ok := CheckFor(f.Code); ok {
		f.Severity, f.Why = c.Severity, c.Why
	}
	l.findings = append(l.findings, *f)
}

// blanks are the octets that the parser trims from keys and values.
const blanks = " \t\n\v\f\r"

// isBlank reports whether a line is empty: it has neither text nor a comment.
func isBlank(line *robots.Line) bool {
	return line.Directive == robots.DirectiveNone && !strings.Contains(line.Raw, "#")
}

// isRule reports whether a line is an Allow or Disallow line.
func isRule(line *robots.Line) bool {
	return line.Directive == robots.DirectiveAllow || line.Directive == robots.DirectiveDisallow
}
