package robots

import (
	"iter"
	"strings"
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
		sc := lineScanner{text: f.text, dialect: f.dialect}
		for sc.next() {
			if !yield(sc.line) {
				return
			}
		}
	}
}

const byteOrderMark = "\xef\xbb\xbf"

// lineScanner splits a text into lines. Its time is proportional to the size of
// the text, for any mix of line endings.
type lineScanner struct {
	text       string
	dialect    Dialect
	pos        int
	nextCR     int // position of the first CR at or after pos
	nextLF     int
	positioned bool
	line       Line
}

func (sc *lineScanner) next() bool {
	if sc.pos >= len(sc.text) {
		return false
	}
	if !sc.positioned {
		sc.nextCR, sc.nextLF = -1, -1
		sc.positioned = true
	}
	if sc.nextCR < sc.pos {
		sc.nextCR = sc.find('\r')
	}
	if sc.nextLF < sc.pos {
		sc.nextLF = sc.find('\n')
	}
	end := min(sc.nextCR, sc.nextLF)
	after := min(end+1, len(sc.text))
	if end == sc.nextCR && sc.nextLF == end+1 && sc.nextLF < len(sc.text) {
		after = end + 2
	}
	l := &sc.line
	*l = Line{
		Number: l.Number + 1,
		Offset: sc.pos,
		Raw:    sc.text[sc.pos:end],
		Ending: sc.text[end:after],
	}
	sc.pos = after
	if sc.dialect == Google {
		l.splitGoogle()
	} else {
		l.split()
	}
	return true
}

func (sc *lineScanner) find(c byte) int {
	if i := strings.IndexByte(sc.text[sc.pos:], c); i >= 0 {
		return sc.pos + i
	}
	return len(sc.text)
}

// split sets the line's key, value and directive.
func (l *Line) split() {
	start := 0
	if l.Offset == 0 {
		start = bomLen(l.Raw)
	}
	end := len(l.Raw)
	if i := strings.IndexByte(l.Raw, '#'); i >= 0 {
		end = i
	}
	start, end = trimRange(l.Raw, start, end)
	if start == end {
		l.KeyCol = start
		return
	}
	s := l.Raw[start:end]
	l.KeyCol = start
	colon := strings.IndexByte(s, ':')
	if colon >= 0 {
		l.HasColon = true
		from, to := trimRange(l.Raw, start, start+colon)
		l.Key = l.Raw[from:to]
		from, to = valueRange(l.Raw, start+colon+1, end)
		l.Value, l.ValueCol = l.Raw[from:to], from
		l.Directive = lookupDirective(l.Key)
		if l.Directive != DirectiveUnknown {
			return
		}
	}
	l.splitAtBlank(start, end, colon >= 0)
}

// splitAtBlank splits a line that has a blank and no colon after the key. As in
// Google's parser, the line must have exactly two words. The value of a
// User-agent, Allow or Disallow line must not contain a colon, since Google's
// parser would end the key at that colon.
func (l *Line) splitAtBlank(start, end int, colon bool) {
	s := l.Raw[start:end]
	blank := strings.IndexAny(s, " \t")
	if blank > 0 {
		from, to := valueRange(l.Raw, start+blank, end)
		value := l.Raw[from:to]
		d := lookupDirective(s[:blank])
		decides := d == DirectiveUserAgent || d == DirectiveAllow || d == DirectiveDisallow
		if d != DirectiveUnknown && !strings.ContainsAny(value, " \t") && !(colon && decides) {
			l.Directive, l.Key, l.Value, l.ValueCol = d, s[:blank], value, from
			l.HasColon = false
			return
		}
	}
	l.Directive = DirectiveUnknown
	if !colon {
		l.Key, l.Value, l.ValueCol = s, "", end
	}
}

// blank reports whether the line is empty: it has neither text nor a comment.
func (l *Line) blank() bool {
	from, to := trimRange(l.Raw, l.KeyCol, len(l.Raw))
	return l.Directive == DirectiveNone && from == to
}

// bomLen returns the length of the byte order mark, or of the first part of
// one, that s starts with.
func bomLen(s string) int {
	n := 0
	for n < len(byteOrderMark) && n < len(s) && s[n] == byteOrderMark[n] {
		n++
	}
	return n
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
