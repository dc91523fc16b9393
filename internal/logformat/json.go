package logformat

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// object parses JSON without building values, which is faster than encoding/json. It
// accepts some invalid JSON, because it checks only what it has to read.
type object struct {
	b   []byte
	i   int    // position in b
	buf []byte // of strings that had escapes
}

// begin skips the opening bracket c of an object or array. It returns false if there is
// none.
func (o *object) begin(c byte) bool {
	o.blank()
	return skip(o.b, &o.i, c)
}

// blank skips white space.
func (o *object) blank() {
	for o.i < len(o.b) && (o.b[o.i] == ' ' || o.b[o.i] == '\t' || o.b[o.i] == '\r' || o.b[o.i] == '\n') {
		o.i++
	}
}

// more skips a comma or the closing bracket c. more is true if there is another member
// or element; ok is true if the JSON is valid so far.
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

// members parses an object. It calls f with the key of each member; f parses the value
// and reports whether it is valid.
func (o *object) members(f func(key []byte) bool) bool {
	if !o.begin('{') {
		return false
	}
	for first := true; ; first = false {
		more, ok := o.more('}', first)
		if !ok || !more {
			return ok
		}
		key, ok := o.key()
		if !ok || !f(key) {
			return false
		}
	}
}

// key parses the name of a member and the colon.
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

// text parses a string. The result shares the memory of b if the string has no escapes,
// else that of buf.
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

// escapedText parses the rest of a string that has escapes.
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

// escape parses one escape sequence.
func (o *object) escape() bool {
	if o.i+1 >= len(o.b) {
		return false
	}
	c := o.b[o.i+1]
	o.i += 2
	switch control, ok := controlOctet(c); {
	case ok:
		c = control
	case c == 'u':
		r, ok := o.unit()
		if utf16.IsSurrogate(r) && bytes.HasPrefix(o.b[o.i:], []byte(`\u`)) {
			if low, ok := hex(o.b[o.i+2:], 4); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				r = utf16.DecodeRune(r, low)
				o.i += 6
			}
		}
		o.buf = utf8.AppendRune(o.buf, r)
		return ok
	case c != '"' && c != '\\' && c != '/':
		return false
	}
	o.buf = append(o.buf, c)
	return true
}

// unit parses the four hexadecimal digits after \u: one UTF-16 code unit.
func (o *object) unit() (rune, bool) {
	r, ok := hex(o.b[o.i:], 4)
	if ok {
		o.i += 4
	}
	return r, ok
}

// scalar parses a string, a number or a literal such as true. quoted is true for a
// string.
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

// skipValue skips a value of any kind.
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

// skipText skips a string.
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

// skipNested skips an object or an array. It does not check whether brackets and braces
// match each other.
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
