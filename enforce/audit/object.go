package audit

import (
	"bytes"
	"unicode/utf8"
)

// object walks over JSON without building values. It is lenient: it finds what
// Caddy writes, and reports what is no JSON as far as it has to look at it.
type object struct {
	b   []byte
	i   int
	buf []byte // of strings that had escapes
}

// begin goes to the first member of an object or element of an array; it
// reports false where there is none of the kind that c opens.
func (o *object) begin(c byte) bool {
	o.blank()
	return skip(o.b, &o.i, c)
}

func (o *object) blank() {
	for o.i < len(o.b) && (o.b[o.i] == ' ' || o.b[o.i] == '\t' || o.b[o.i] == '\r' || o.b[o.i] == '\n') {
		o.i++
	}
}

// more goes over a comma, or the end that c is. It reports whether there is
// another member, and whether the JSON is valid so far.
func (o *object) more(c byte, first bool) (more, ok bool) {
	o.blank()
	if skip(o.b, &o.i, c) {
		return false, true
	}
	if first {
		return true, o.i < len(o.b)
	}
	if !skip(o.b, &o.i, ',') {
		return false, false
	}
	o.blank()
	return true, o.i < len(o.b)
}

// key reads a member's name and the colon.
func (o *object) key() ([]byte, bool) {
	k, ok := o.text()
	if !ok {
		return nil, false
	}
	o.blank()
	if !skip(o.b, &o.i, ':') {
		return nil, false
	}
	o.blank()
	return k, o.i < len(o.b)
}

// text reads a string, without escapes where it can.
func (o *object) text() ([]byte, bool) {
	if !skip(o.b, &o.i, '"') {
		return nil, false
	}
	rest := o.b[o.i:]
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return nil, false
	}
	if bytes.IndexByte(rest[:end], '\\') < 0 {
		o.i += end + 1
		return rest[:end], true
	}
	return o.escapedText()
}

func (o *object) escapedText() ([]byte, bool) {
	from := len(o.buf)
	for o.i < len(o.b) {
		switch c := o.b[o.i]; c {
		case '"':
			o.i++
			return o.buf[from:], true
		case '\\':
			if !o.escape() {
				return nil, false
			}
		default:
			o.buf = append(o.buf, c)
			o.i++
		}
	}
	return nil, false
}

// escape reads one escape sequence.
func (o *object) escape() bool {
	if o.i+1 >= len(o.b) {
		return false
	}
	c := o.b[o.i+1]
	o.i += 2
	switch c {
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'u':
		r, ok := o.unit()
		if !ok {
			return false
		}
		if r >= 0xd800 && r < 0xdc00 && o.i+1 < len(o.b) && o.b[o.i] == '\\' && o.b[o.i+1] == 'u' {
			was := o.i
			o.i += 2
			low, ok := o.unit()
			if ok && low >= 0xdc00 && low < 0xe000 {
				r = (r-0xd800)<<10 + (low - 0xdc00) + 0x10000
			} else {
				o.i = was
			}
		}
		o.buf = utf8.AppendRune(o.buf, r)
		return true
	case '"', '\\', '/':
	default:
		return false
	}
	o.buf = append(o.buf, c)
	return true
}

func (o *object) unit() (rune, bool) {
	if o.i+4 > len(o.b) {
		return 0, false
	}
	r := rune(0)
	for _, c := range o.b[o.i : o.i+4] {
		h := hex(c)
		if h < 0 {
			return 0, false
		}
		r = r<<4 | rune(h)
	}
	o.i += 4
	return r, true
}

// scalar reads a string, a number or a word. quoted tells which.
func (o *object) scalar() (b []byte, quoted, ok bool) {
	if o.b[o.i] == '"' {
		b, ok = o.text()
		return b, true, ok
	}
	from := o.i
	for o.i < len(o.b) {
		switch c := o.b[o.i]; {
		case isDigit(c), 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '.', c == '-', c == '+':
			o.i++
			continue
		}
		break
	}
	return o.b[from:o.i], false, o.i > from
}

// skipValue goes over a value of any kind.
func (o *object) skipValue() bool {
	switch o.b[o.i] {
	case '"':
		return o.skipText()
	case '{', '[':
		return o.skipNested()
	}
	_, _, ok := o.scalar()
	return ok
}

// skipText goes over a string.
func (o *object) skipText() bool {
	o.i++
	for {
		n := bytes.IndexByte(o.b[o.i:], '"')
		if n < 0 {
			return false
		}
		o.i += n + 1
		if !escaped(o.b, o.i-1) {
			return true
		}
	}
}

// skipNested goes over an object or an array. Which bracket closes which is not
// looked at.
func (o *object) skipNested() bool {
	depth := 0
	for o.i < len(o.b) {
		switch o.b[o.i] {
		case '"':
			if !o.skipText() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		o.i++
		if depth == 0 {
			return true
		}
	}
	return false
}
