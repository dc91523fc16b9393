package robots

import (
	"iter"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// Line is one line of a robots.txt file. Raw and Ending of all lines, one after
// the other, are the whole file.
type Line struct {
	Number    int       // from 1; a CR, a LF and a CRLF each end a line
	Offset    int       // octets before the line
	Raw       string    // the line without its ending
	Ending    string    // "\n", "\r\n", "\r", or "" at the end of the file
	Directive Directive // kind of the line
	Key       string    // as written, without blanks around it; "" if Directive is DirectiveNone
	Value     string    // as written, without blanks around it and without the comment
	KeyCol    int       // index of Key in Raw, in octets from 0
	ValueCol  int       // index of Value in Raw, in octets from 0
	HasColon  bool      // a colon separates key and value
}

// Lines iterates over the lines of the file.
func (f *File) Lines() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for l := range rawLines(f.text) {
			l.split(f.dialect)
			if !yield(*l) {
				return
			}
		}
	}
}

// rawLines iterates over the lines of a text, without key, value and directive.
// The yielded Line is overwritten by the next one. The time is proportional to
// the size of the text, for any mix of line endings.
func rawLines(text string) iter.Seq[*Line] {
	return func(yield func(*Line) bool) {
		var l Line
		for rest := range strings.Lines(text) {
			for rest != "" {
				end := strings.IndexByte(rest, '\r') + 1
				if end == 0 || end < len(rest) && rest[end] == '\n' {
					end = len(rest)
				}
				raw := strings.TrimSuffix(strings.TrimSuffix(rest[:end], "\n"), "\r")
				l = Line{Number: l.Number + 1, Offset: l.Offset + len(l.Raw) + len(l.Ending), Raw: raw, Ending: rest[len(raw):end]}
				if !yield(&l) {
					return
				}
				rest = rest[end:]
			}
		}
	}
}

// split sets the line's key, value and directive.
func (l *Line) split(d Dialect) {
	start, end := 0, len(l.Raw)
	if l.Offset == 0 {
		start = canonical.MarkLen(l.Raw)
	}
	if d == Google {
		end = googleEnd(l.Raw, start)
	} else if i := strings.IndexByte(l.Raw, '#'); i >= 0 {
		end = i
	}
	start, end = trimRange(l.Raw, start, end)
	l.KeyCol = start
	if start == end {
		return
	}
	l.Directive = DirectiveUnknown
	colon := strings.IndexByte(l.Raw[start:end], ':')
	l.HasColon = colon >= 0
	switch {
	case d == Google:
		l.splitGoogle(start, end, colon)
		return
	case colon >= 0:
		from, to := trimRange(l.Raw, start, start+colon)
		l.Key = l.Raw[from:to]
		from, to = valueRange(l.Raw, start+colon+1, end)
		l.Value, l.ValueCol = l.Raw[from:to], from
		l.Directive = lookupDirective(l.Key)
	}
	if l.Directive == DirectiveUnknown {
		l.splitAtBlank(start, end)
	}
}

// splitAtBlank splits a line that has a blank and no colon after the key. As in
// Google's parser, the line must have exactly two words. The value of a
// User-agent, Allow or Disallow line must not contain a colon, since Google's
// parser would end the key at that colon.
func (l *Line) splitAtBlank(start, end int) {
	s := l.Raw[start:end]
	if blank := strings.IndexAny(s, " \t"); blank > 0 {
		from, to := valueRange(l.Raw, start+blank, end)
		value := l.Raw[from:to]
		d := lookupDirective(s[:blank])
		if d != DirectiveUnknown && !strings.ContainsAny(value, " \t") && !(l.HasColon && d.decides()) {
			l.Directive, l.Key, l.Value, l.ValueCol, l.HasColon = d, s[:blank], value, from, false
			return
		}
	}
	if !l.HasColon {
		l.Key, l.ValueCol = s, end
	}
}

// trimRange returns the bounds of s[from:to] without blanks at both ends.
func trimRange(s string, from, to int) (int, int) {
	for from < to && isBlank(s[from]) {
		from++
	}
	for from < to && isBlank(s[to-1]) {
		to--
	}
	return from, to
}

// valueRange returns the bounds of a value: s[from:to] without blanks at both
// ends, and without control octets at its end. Some programs leave such octets
// in a text; no URL contains them.
func valueRange(s string, from, to int) (int, int) {
	from, to = trimRange(s, from, to)
	for from < to && (s[to-1] <= ' ' || s[to-1] == 0x7f) {
		to--
	}
	return from, to
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
