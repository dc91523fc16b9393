package logformat

import "bytes"

// object parses JSON without building values, which is faster than encoding/json. It
// accepts some invalid JSON, because it checks only what it has to read.
type object struct {
	b   []byte
	i   int    // position in b
	buf []byte // of strings that had escapes
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
	if o.blank(); !skip(o.b, &o.i, '{') {
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
	from := o.i + 1
	if o.i == len(o.b) || o.b[o.i] != '"' || !o.skipText() {
		return nil, false
	}
	return unescaped(o.b[from:o.i-1], &o.buf), true
}

// scalar parses a string, a number or a literal such as true. quoted is true for a
// string. It skips objects and arrays, and returns nil for them.
func (o *object) scalar() (b []byte, quoted, ok bool) {
	switch o.b[o.i] {
	case '"':
		b, ok = o.text()
		return b, true, ok
	case '{', '[':
		return nil, false, o.skipNested()
	}
	from := o.i
	for o.i < len(o.b) && isLiteral(o.b[o.i]) {
		o.i++
	}
	return o.b[from:o.i], false, o.i > from
}

// isLiteral reports whether an octet can be in a number or in a literal.
func isLiteral(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '.' || c == '-' || c == '+'
}

// skipValue skips a value of any kind.
func (o *object) skipValue() bool {
	if o.b[o.i] == '"' {
		return o.skipText()
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
