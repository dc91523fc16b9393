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

// lineKeys are the members that have the line: as text, as an object, or as the numbers
// of its octets.
var lineKeys = [...]string{
	"log",         // Docker's json-file, Fluent Bit
	"MESSAGE",     // journalctl -o json
	"message",     // Vector, Filebeat, Fluentd
	"line",        // logcli -o jsonl
	"event",       // Splunk; in Elastic's schema, an object with "original"
	"original",    // Elastic's schema
	"_raw",        // Splunk's export
	"_source",     // Elasticsearch
	"textPayload", // Google Cloud
	"jsonPayload",
	"@message", // CloudWatch Insights
	"body",     // OpenTelemetry
	"stringValue",
	"short_message", // GELF
	"full_message",
}

// open returns the line in an object, and false if it has none. The line is valid until
// the next call.
func (v *envelope) open(line []byte) ([]byte, bool) {
	begin := objectIn(line)
	if begin < 0 {
		if !bytes.HasPrefix(line, []byte(`"`)) { // a JSON string, such as jq prints
			return nil, false
		}
		begin = 0
	}
	o := &v.walk
	o.b, o.i, o.buf = line, begin, o.buf[:0]
	if line[begin] == '"' {
		text, ok := o.text()
		return bytes.TrimSpace(text), ok && o.i == len(line)
	}
	var found []byte
	rank := len(lineKeys)
	o.members(func(key []byte) bool {
		n := slices.Index(lineKeys[:], view(key))
		if n < 0 || n >= rank {
			return o.skipValue()
		}
		text, ok := v.value()
		if len(text) > 0 {
			found, rank = text, n
		}
		return ok
	})
	return found, len(found) > 0
}

// isLine reports whether a text has what each line of an access log has.
func isLine(text []byte) bool { return objectIn(text) >= 0 || bytes.Contains(text, []byte(`] "`)) }

// value parses the value of a member that may have a line. It returns nil if it has none.
func (v *envelope) value() ([]byte, bool) {
	o := &v.walk
	from := o.i
	switch o.b[o.i] {
	case '"':
		text, ok := o.text()
		if !isLine(text) {
			return nil, ok
		}
		return bytes.TrimSpace(text), ok
	case '[':
		if !o.skipNested() {
			return nil, false
		}
		v.inner = v.inner[:0]
		for number := range bytes.SplitSeq(o.b[from+1:o.i-1], []byte(",")) { // octets that are no text
			n := digits(bytes.TrimSpace(number))
			if n < 0 || n > 255 {
				return nil, true
			}
			v.inner = append(v.inner, byte(n))
		}
		if !isLine(v.inner) {
			return nil, true
		}
		return bytes.TrimSpace(v.inner), true
	}
	ok := o.skipValue()
	if o.b[from] != '{' {
		return nil, ok
	}
	return o.b[from:o.i], ok
}

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
			if bytes.Contains(line[:begin], []byte(`] "`)) {
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
			line = trimmed(inner)
		}
		list = append(list, line)
	}
	return list
}
