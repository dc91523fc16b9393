package logformat

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

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

// raw stores the JSON of a value of any kind.
func (o *object) raw(to *[]byte) bool {
	from := o.i
	ok := o.skipValue()
	*to = o.b[from:o.i]
	return ok
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

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// escaped reports whether there is an odd number of backslashes before b[i].
func escaped(b []byte, i int) bool {
	n := 0
	for i > n && b[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// number3 parses a status of three digits. It returns 0 for a hyphen, and -1 if there
// is no status.
func number3(b []byte) (int, []byte) {
	if len(b) > 0 && b[0] == '-' && (len(b) == 1 || b[1] == ' ') {
		return 0, b[1:]
	}
	if len(b) < 3 || len(b) > 3 && b[3] != ' ' {
		return -1, nil
	}
	return int(digits(b[:3])), b[3:]
}

// unescaped decodes the escapes that JSON (\" \\ \n \uHHHH), Apache (\" \\ \n \xHH) and
// nginx (\xHH) write. It returns b itself if there are none, else memory of buf, to which
// it appends.
func unescaped(b []byte, buf *[]byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	from := len(*buf)
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			*buf = append(*buf, b[i])
			continue
		}
		i++
		if control := strings.IndexByte("nrtbfv", b[i]); control >= 0 {
			*buf = append(*buf, "\n\r\t\b\f\v"[control])
		} else if c, ok := hex(b[i:], 'x', 2); ok {
			*buf = append(*buf, byte(c))
			i += 2
		} else if unit, ok := hex(b[i:], 'u', 4); ok {
			i += 4
			if rest := b[i+1:]; len(rest) > 0 && rest[0] == '\\' {
				low, _ := hex(rest[1:], 'u', 4)
				if pair := utf16.DecodeRune(unit, low); pair != utf8.RuneError {
					unit = pair
					i += 6
				}
			}
			*buf = utf8.AppendRune(*buf, unit)
		} else if b[i] == 'x' || b[i] == 'u' {
			*buf = append(*buf, '\\', b[i])
		} else {
			*buf = append(*buf, b[i])
		}
	}
	return (*buf)[from:]
}

// hex parses a letter and n hexadecimal digits at the beginning of b.
func hex(b []byte, letter byte, n int) (rune, bool) {
	if len(b) <= n || b[0] != letter {
		return 0, false
	}
	v, err := strconv.ParseUint(view(b[1:n+1]), 16, 32)
	return rune(v), err == nil
}

// digits parses a decimal number; it returns -1 if there are other octets.
func digits(b []byte) int64 {
	n, err := strconv.ParseUint(view(b), 10, 63)
	if err != nil {
		return -1
	}
	return int64(n)
}

// leadingNumber parses the decimal number at the beginning of b, 0 if there is none,
// and returns what is after it. A very large number is cut short.
func leadingNumber(b []byte) (n int64, rest []byte) {
	for len(b) > 0 && isDigit(b[0]) {
		if n < 1<<56 {
			n = n*10 + int64(b[0]-'0')
		}
		b = b[1:]
	}
	return n, b
}

// skip skips one octet if it is c, and reports whether it did.
func skip(b []byte, i *int, c byte) bool {
	if *i < len(b) && b[*i] == c {
		*i++
		return true
	}
	return false
}

// view returns b as a string that shares its memory.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
