package logformat

import (
	"bytes"
	"slices"
)

// envelope opens the JSON objects in which log drivers and collectors put a line, whatever
// the format of the line is.
type envelope struct {
	walk  object
	inner []byte // the last line, if it is not part of the object
}

// maxEnvelopes is the number of envelopes around each other that are opened.
const maxEnvelopes = 4

// lineKeys are the members that have the line: of Docker's json-file and Fluent Bit, of
// journalctl -o json, and of Vector, Filebeat and Fluentd.
var lineKeys = []string{"log", "MESSAGE", "message"}

// open returns the line in an object, and false if it has none. The line is valid until
// the next call.
func (v *envelope) open(line []byte) (found []byte, ok bool) {
	begin := objectIn(line)
	if begin < 0 {
		return nil, false
	}
	o := &v.walk
	o.b, o.i, o.buf = line, begin, o.buf[:0]
	o.members(func(key []byte) bool {
		var text []byte
		ok := false
		switch {
		case !slices.Contains(lineKeys, view(key)):
			return o.skipValue()
		case o.b[o.i] == '"':
			text, ok = o.text()
		case o.b[o.i] == '[':
			text, ok = v.octets()
		default:
			return o.skipValue()
		}
		if objectIn(text) >= 0 || bytes.Contains(text, requestMark) {
			found = trimmed(text)
		}
		return ok
	})
	return found, len(found) > 0
}

// octets reads a list of the numbers of octets, as journalctl writes a line with colours. It
// returns nil for another list.
func (v *envelope) octets() ([]byte, bool) {
	o, from := &v.walk, v.walk.i
	if !o.skipNested() {
		return nil, false
	}
	v.inner = v.inner[:0]
	for number := range bytes.SplitSeq(o.b[from+1:o.i-1], []byte(",")) {
		n := digits(bytes.TrimSpace(number))
		if n < 0 || n > 255 {
			return nil, true
		}
		v.inner = append(v.inner, byte(n))
	}
	return v.inner, true
}

// requestMark is between the time and the request of a line.
var requestMark = []byte(`] "`)

// objectIn returns where a JSON object begins in a line; -1 if none does. What is before it
// must not be a line of another format.
func objectIn(line []byte) int {
	if len(line) > 0 && line[0] == '{' {
		return 0
	}
	for begin := 0; ; begin++ {
		n := bytes.IndexByte(line[begin:], '{')
		if n < 0 {
			return -1
		}
		begin += n
		if bytes.HasPrefix(bytes.TrimLeft(line[begin+1:], " \t"), []byte(`"`)) {
			if bytes.Contains(line[:begin], requestMark) {
				return -1
			}
			return begin
		}
	}
}

// contents returns the lines in the envelopes of a sample.
func contents(sample [][]byte) [][]byte {
	list := make([][]byte, 0, len(sample))
	for _, line := range sample {
		for range maxEnvelopes {
			var v envelope
			inner, ok := v.open(line)
			if !ok {
				break
			}
			line = inner
		}
		list = append(list, line)
	}
	return list
}
