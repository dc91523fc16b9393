package headers

import "bytes"

// scriptText is the state of a HeadScanner in the text of a script (HTML,
// sections 13.2.5.15 to 13.2.5.31). After <!-- the text is escaped: a <script
// in it begins a nested script, and the end tag of the nested script does not
// end the outer one.
type scriptText struct {
	part    scriptPart
	level   uint8 // 1: escaped, 2: in a script nested in escaped text
	dashes  uint8 // number of dashes directly before, at most two
	matched uint8 // number of octets of the element's name that were read
}

type scriptPart uint8

const (
	scriptData     scriptPart = iota
	scriptLess                // after <
	scriptBang                // after <!
	scriptBangDash            // after <!-
	scriptEnd                 // after </
	scriptStart               // after < in escaped text
)

// scriptStep reads at least one octet of a script's text, or none if it changes
// the state. It returns the number of octets that it read.
func (s *HeadScanner) scriptStep(p []byte) int {
	t, c := &s.script, p[0]
	next, n := scriptData, 0
	switch t.part {
	case scriptData:
		return t.data(p)
	case scriptLess:
		switch {
		case c == '/':
			next, n = scriptEnd, 1
		case c == '!' && t.level == 0:
			next, n = scriptBang, 1
		case isLetter(c) && t.level == 1:
			next = scriptStart
		}
		t.matched = 0
	case scriptBang:
		if c == '-' {
			next, n = scriptBangDash, 1
		}
	case scriptBangDash:
		if c == '-' { // with two dashes, since <!--> is a complete comment
			t.level, t.dashes, n = 1, 2, 1
		}
	case scriptEnd, scriptStart:
		const name = "script"
		switch {
		case int(t.matched) < len(name):
			if lower(c) == name[t.matched] {
				t.matched++
				next, n = t.part, 1
			}
		case isSpace(c) || c == '/' || c == '>':
			if t.part == scriptEnd && t.level < 2 {
				s.closing, s.state, s.tag = true, beforeAttr, shortName{}
				return 0
			}
			t.level = 3 - t.level // begin or end of the nested script
			n = 1
		}
	}
	t.part = next
	return n
}

// data reads the text up to what may be a tag.
func (t *scriptText) data(p []byte) int {
	i := 0
	if t.level == 0 {
		if i = bytes.IndexByte(p, '<'); i < 0 {
			return len(p)
		}
	}
	switch c := p[i]; {
	case c == '<':
		t.part, t.dashes = scriptLess, 0
	case c == '-':
		t.dashes = min(t.dashes+1, 2)
	case c == '>' && t.dashes == 2:
		t.level, t.dashes = 0, 0
	default:
		t.dashes = 0
	}
	return i + 1
}
