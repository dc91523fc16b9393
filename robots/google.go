package robots

import (
	"iter"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots/internal/pattern"
)

// The code in this file does what google/robotstxt (robots.cc) does. Google
// publishes it as the parser of its crawlers.

// googleLineSize is the number of octets of a line that Google's parser reads.
const googleLineSize = 2083*8 - 1

// googleKeys are the keys that Google's parser knows, in lower case. The parser
// compares only the start of a key with them, so it accepts longer keys too.
var googleKeys = []struct {
	prefix    string
	directive Directive
}{
	{"user-agent", DirectiveUserAgent}, {"useragent", DirectiveUserAgent}, {"user agent", DirectiveUserAgent},
	{"allow", DirectiveAllow},
	{"disallow", DirectiveDisallow}, {"dissallow", DirectiveDisallow}, {"dissalow", DirectiveDisallow},
	{"disalow", DirectiveDisallow}, {"diasllow", DirectiveDisallow}, {"disallaw", DirectiveDisallow},
	{"sitemap", DirectiveSitemap}, {"site-map", DirectiveSitemap},
}

func googleDirective(key string) Directive {
	for _, k := range googleKeys {
		if len(key) >= len(k.prefix) && strings.EqualFold(key[:len(k.prefix)], k.prefix) {
			return k.directive
		}
	}
	return lookupDirective(key)
}

// splitGoogle sets the line's key, value and directive as Google's parser reads
// them.
func (l *Line) splitGoogle() {
	start := 0
	if l.Offset == 0 {
		start = bomLen(l.Raw)
	}
	end := min(len(l.Raw), start+googleLineSize)
	if i := strings.IndexAny(l.Raw[start:end], "#\x00"); i >= 0 {
		end = start + i // it handles lines as C strings, which end at a NUL
	}
	start, end = trimRange(l.Raw, start, end)
	l.KeyCol, l.ValueCol = start, end
	if start == end {
		return
	}
	l.Directive = DirectiveUnknown
	s := l.Raw[start:end]
	sep := strings.IndexByte(s, ':')
	l.HasColon = sep >= 0
	if sep < 0 {
		sep = strings.IndexAny(s, " \t")
		if sep < 0 || strings.ContainsAny(strings.TrimLeft(s[sep:], " \t"), " \t") {
			l.Key = s
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
	if f.dialect == Google {
		return nil
	}
	if f.dialect == RFC9309 {
		same := true
		for range f.GoogleDifferences() {
			same = false
			break
		}
		if same {
			return nil
		}
	}
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
	// Kind is the kind of the difference.
	Kind GoogleDifferenceKind
}

// GoogleDifferenceKind is one way in which google/robotstxt differs from RFC
// 9309.
type GoogleDifferenceKind uint8

const (
	// GoogleKey: Google's parser takes the text before the first colon as the
	// key, and compares only its start. It reads `Disallow all: /a` as
	// `Disallow: /a`, and `Disallow /a:/b` as `Disallow: /b`. This package
	// ignores both lines.
	GoogleKey GoogleDifferenceKind = iota + 1
	// GoogleAgent: Google's parser takes only the leading letters, `_` and `-`
	// of a User-agent value as the name. It accepts `*` only alone or before an
	// ASCII blank.
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
		ours := lineScanner{text: f.text, dialect: f.dialect}
		google := lineScanner{text: f.text, dialect: Google}
		for ours.next() && google.next() {
			kind := c.compare(f.dialect, &ours.line, &google.line)
			if kind == 0 {
				continue
			}
			d := GoogleDifference{Line: ours.line.Number, Ours: ours.line.decisive(), Google: google.line.decisive(), Kind: kind}
			if !yield(d) {
				return
			}
		}
	}
}

// decisive returns a User-agent line or a rule in its usual spelling, and ""
// for any other line.
func (l *Line) decisive() string {
	if !l.decides() {
		return ""
	}
	return l.Directive.String() + ": " + l.Value
}

// decides reports whether the line is a User-agent line or a rule.
func (l *Line) decides() bool {
	return l.Directive == DirectiveUserAgent || l.Directive == DirectiveAllow || l.Directive == DirectiveDisallow
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
	case l.decides():
		r.open = false
	}
}

func googleRelevant(token string) bool {
	return token == "*" || strings.Contains(canonical.Lower(token), "google")
}

// compare returns the kind of difference between two readings of one line, 0 if
// there is none.
func (c *googleComparison) compare(d Dialect, ours, google *Line) GoogleDifferenceKind {
	var token string
	if ours.Directive == DirectiveUserAgent {
		token = ProductToken(ours.Value)
	}
	other := googleToken(google.Value)
	c.ours.add(ours, token)
	c.google.add(google, other)
	switch {
	case !ours.decides() && !google.decides(), !c.ours.begun && !c.google.begun:
		return 0
	case ours.Directive != google.Directive:
		return GoogleKey
	case ours.Directive == DirectiveUserAgent:
		if strings.EqualFold(token, other) || !googleRelevant(token) && !googleRelevant(other) {
			return 0
		}
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
	q, _ := pattern.Compile(google.Value, pattern.Google, false)
	if !p.Equal(&q) {
		return GooglePath
	}
	return 0
}
