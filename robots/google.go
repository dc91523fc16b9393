package robots

import (
	"iter"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots/internal/pattern"
)

// What is here follows google/robotstxt (robots.cc), which Google publishes as
// the parser of its crawlers.

// googleLineSize is how many octets of a line Google's parser reads.
const googleLineSize = 2083*8 - 1

// googleKeys are the beginnings of keys that Google's parser knows, in lower
// case: whatever follows them belongs to the key.
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

// splitGoogle finds key, value and directive of the line as Google's parser
// does.
func (l *Line) splitGoogle() {
	start := 0
	if l.Offset == 0 {
		start = bomLen(l.Raw)
	}
	end := min(len(l.Raw), start+googleLineSize)
	if i := strings.IndexAny(l.Raw[start:end], "#\x00"); i >= 0 {
		end = start + i // it reads lines as strings of C, which end at a NUL
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

// googleToken returns the product token that the value of a User-agent line
// names: its leading letters, `_` and `-`. "" names no crawler.
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

// GoogleReading returns the file as google/robotstxt reads it, nil if that
// reading and the file's own have the same rules for Google's crawlers. A
// crawler that obeys either is polite, so one of Google's is disallowed only
// what both disallow. It reads the file again at each call.
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

// GoogleDifference is a line that google/robotstxt reads otherwise than a File
// does, so that another rule, or another group, is for Google's crawlers.
type GoogleDifference struct {
	Line   int    // from 1
	Ours   string // what the line says to the File, as a line of robots.txt; "" for nothing
	Google string // what it says to Google's parser
	// Kind says in what the two differ.
	Kind GoogleDifferenceKind
}

// GoogleDifferenceKind is a way in which google/robotstxt reads a line
// otherwise than RFC 9309 has it.
type GoogleDifferenceKind uint8

const (
	// GoogleKey: it knows keys by how they begin (`Disallow all:`), and may
	// find another one where a line has a colon after a blank.
	GoogleKey GoogleDifferenceKind = iota + 1
	// GoogleAgent: it names a crawler by the leading letters, `_` and `-`, and
	// knows `*` only alone or before an ASCII blank.
	GoogleAgent
	// GoogleIndexPage: an Allow line for index.htm or index.html allows the
	// folder itself.
	GoogleIndexPage
	// GooglePath: it compares escapes as they are written (%7E is not ~), and
	// does not encode blanks.
	GooglePath
	// GoogleEnd: it reads no further than a NUL, or than 16,663 octets.
	GoogleEnd
)

// GoogleDifferences goes through the lines that google/robotstxt reads
// otherwise than f does. Lines of groups that are neither for `*` nor for a
// crawler of Google's, all of whose tokens contain "google", are left out. With
// a dialect other than RFC9309 the two also differ in which rule decides, which
// no line shows.
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

// decisive writes a line that decides verdicts, "" for another one.
func (l *Line) decisive() string {
	if !l.decides() {
		return ""
	}
	return l.Directive.String() + ": " + l.Value
}

// decides reports whether the line is one that makes groups and their rules.
func (l *Line) decides() bool {
	return l.Directive == DirectiveUserAgent || l.Directive == DirectiveAllow || l.Directive == DirectiveDisallow
}

// googleComparison goes through the lines of a file in two readings.
type googleComparison struct {
	ours, google googleRun
}

// googleRun tells whether the group that a reading is in is for crawlers of
// Google's.
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

// compare returns how two readings of one line differ, 0 if they do not.
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
