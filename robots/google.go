package robots

import (
	"iter"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/pattern"
)

// The code in this file does what google/robotstxt (robots.cc) does. Google
// publishes it as the parser of its crawlers.

// googleLineSize is the number of octets of a line that Google's parser reads.
const googleLineSize = 2083*8 - 1

// googleDirective returns the directive of a key. Google's parser compares only
// the start of a key with those that it knows, so it accepts longer keys too.
func googleDirective(key string) Directive {
	for _, d := range [...]Directive{DirectiveUserAgent, DirectiveAllow, DirectiveDisallow, DirectiveSitemap} {
		for _, k := range directiveKeys[d] {
			if len(key) >= len(k) && strings.EqualFold(key[:len(k)], k) {
				return d
			}
		}
	}
	return lookupDirective(key)
}

// googleEnd returns the index at which the content of a line ends that starts at
// start. Google's parser handles lines as C strings, which end at a NUL.
func googleEnd(raw string, start int) int {
	end := min(len(raw), start+googleLineSize)
	if i := strings.IndexAny(raw[start:end], "#\x00"); i >= 0 {
		return start + i
	}
	return end
}

// splitGoogle sets the line's key, value and directive as Google's parser reads
// them. The content of the line is from start to end; colon is the index of the
// first colon in it, negative if there is none.
func (l *Line) splitGoogle(start, end, colon int) {
	s, sep := l.Raw[start:end], colon
	if sep < 0 {
		sep = strings.IndexAny(s, " \t")
		if sep < 0 || strings.ContainsAny(strings.TrimLeft(s[sep:], " \t"), " \t") {
			l.Key, l.ValueCol = s, end
			return
		}
	}
	from, to := trimRange(l.Raw, start, start+sep)
	l.Key = l.Raw[from:to]
	from, to = trimRange(l.Raw, start+sep+1, end)
	l.Value, l.ValueCol = l.Raw[from:to], from
	l.Directive = googleDirective(l.Key)
}

// googleToken returns the product token that Google's parser finds in the value
// of a User-agent line: its leading letters, `_` and `-`. It returns "" if
// there are none.
func googleToken(value string) string {
	if value == "*" || len(value) > 1 && value[0] == '*' && isBlank(value[1]) {
		return "*"
	}
	end := 0
	for end < len(value) && (value[end] == '-' || value[end] == '_' || 'a' <= value[end]|0x20 && value[end]|0x20 <= 'z') {
		end++
	}
	return value[:end]
}

// GoogleReading returns the file as google/robotstxt reads it. It returns nil
// if that reading has the same rules for Google's crawlers as f. If the two
// differ, treat a path as disallowed for one of Google's crawlers only if both
// readings disallow it: a crawler that obeys one of the readings should not be
// refused. Each call parses the file again.
func (f *File) GoogleReading() *File {
	switch f.dialect {
	case Google:
		return nil
	case RFC9309:
		for range f.GoogleDifferences() {
			return f.readAsGoogle()
		}
		return nil
	}
	return f.readAsGoogle()
}

func (f *File) readAsGoogle() *File {
	g := &File{dialect: Google, truncated: f.truncated}
	g.read(f.text)
	return g
}

// GoogleDifference is a line that google/robotstxt and this package read
// differently, so that another rule or another group applies to Google's
// crawlers.
type GoogleDifference struct {
	Line   int    // from 1
	Ours   string // the line as this package reads it, as a line of robots.txt; "" if ignored
	Google string // the line as Google's parser reads it; "" if ignored
	// Kind is GoogleKey or one of the following constants.
	Kind uint8
}

// The ways in which google/robotstxt differs from RFC 9309.
const (
	// GoogleKey: Google's parser takes the text before the first colon as the
	// key, and compares only its start. It reads `Disallow all: /a` as
	// `Disallow: /a`, and `Disallow /a:/b` as `Disallow: /b`. This package
	// ignores both lines.
	GoogleKey uint8 = iota + 1
	// GoogleAgent: Google's parser takes only the leading letters, `_` and `-`
	// of a User-agent value as the name. It accepts `*` only alone or before an
	// ASCII blank. Ours and Google have only the names.
	GoogleAgent
	// GoogleIndexPage: Google's parser applies an Allow line for index.htm or
	// index.html to the folder too.
	GoogleIndexPage
	// GooglePath: Google's parser compares escapes as they are written (%7E is
	// not ~), and does not encode blanks.
	GooglePath
	// GoogleEnd: Google's parser ends a line at a NUL octet, and after 16,663
	// octets.
	GoogleEnd
)

// GoogleDifferences iterates over the lines that google/robotstxt and this
// package read differently. It leaves out the lines of groups that apply
// neither to `*` nor to one of Google's crawlers. A crawler counts as Google's
// if its product token contains "google". If the dialect of the file is not
// RFC9309, the two readings also differ in which rule decides;
// GoogleDifferences does not report that.
func (f *File) GoogleDifferences() iter.Seq[GoogleDifference] {
	return func(yield func(GoogleDifference) bool) {
		var c googleComparison
		for ours := range rawLines(f.text) {
			google := *ours
			ours.split(f.dialect)
			google.split(Google)
			kind := c.compare(f.dialect, ours, &google)
			if kind != 0 && !yield(GoogleDifference{Line: ours.Number, Ours: ours.decisive(), Google: google.decisive(), Kind: kind}) {
				return
			}
		}
	}
}

// decisive returns a User-agent line or a rule in its usual spelling, and ""
// for any other line.
func (l *Line) decisive() string {
	if !l.Directive.decides() {
		return ""
	}
	return l.Directive.String() + ": " + l.Value
}

// googleComparison compares two readings of a file line by line.
type googleComparison struct {
	ours, google googleRun
}

// googleRun tracks the current group of one reading: whether there is one
// (begun), whether it may get more User-agent lines (open), and whether it
// applies to `*` or one of Google's crawlers (relevant).
type googleRun struct {
	begun, open, relevant bool
}

func (r *googleRun) add(l *Line, tokens ...string) {
	switch {
	case l.Directive == DirectiveUserAgent:
		if !r.open {
			r.relevant = false
		}
		r.begun, r.open = true, true
		for _, t := range tokens {
			r.relevant = r.relevant || googleRelevant(t)
		}
	case l.Directive.decides():
		r.open = false
	}
}

func googleRelevant(token string) bool {
	return token == "*" || strings.Contains(canonical.Lower(token), "google")
}

// compare returns the kind of difference between two readings of one line, 0 if
// there is none.
func (c *googleComparison) compare(d Dialect, ours, google *Line) uint8 {
	var token string
	if ours.Directive == DirectiveUserAgent {
		token = ProductToken(ours.Value)
	}
	other := googleToken(google.Value)
	c.ours.add(ours, token)
	c.google.add(google, other)
	switch {
	case !ours.Directive.decides() && !google.Directive.decides(), !c.ours.begun && !c.google.begun:
		return 0
	case ours.Directive != google.Directive:
		return GoogleKey
	case ours.Directive == DirectiveUserAgent:
		if strings.EqualFold(token, other) || !googleRelevant(token) && !googleRelevant(other) {
			return 0
		}
		ours.Value, google.Value = token, other
		return GoogleAgent
	case !c.ours.relevant && !c.google.relevant:
		return 0
	case ours.Value != google.Value:
		return GoogleEnd
	}
	if _, ok := pattern.IndexFolder(ours.Value); ok && ours.Directive == DirectiveAllow {
		return GoogleIndexPage
	}
	p, _ := pattern.Compile(ours.Value, d.Syntax(), false)
	if q, _ := pattern.Compile(google.Value, pattern.Google, false); !p.Equal(&q) {
		return GooglePath
	}
	return 0
}
