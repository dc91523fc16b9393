package headers

import (
	"bytes"
	"html"
	"strings"
)

// xmlHead is the state of a HeadScanner in an XHTML document. The scanner
// collects each tag and then reads it. It skips everything else.
type xmlHead struct {
	markup []byte // the current markup from its < on; of comments and similar markup, only the start
	tail   [2]byte
	end    string // the text at the end of the markup; "": not known yet
	quote  byte   // the quote around an attribute's value; 0: none
	depth  int    // number of open elements
	head   int    // depth inside the head element; 0: it is not open
}

// maxXMLTag is the maximal length of a tag, in octets. A longer tag ends the
// scan.
const maxXMLTag = 2 * maxCapture

// xmlEnds has the start and the end of special kinds of markup. Other markup
// ends in >.
var xmlEnds = []struct{ begin, end string }{{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}}

// xmlStep reads at least one octet of an XHTML document, and returns the number
// of octets that it read.
func (s *HeadScanner) xmlStep(p []byte) int {
	x := &s.xml
	if len(x.markup) == 0 {
		i := bytes.IndexByte(p, '<')
		if i < 0 {
			return len(p)
		}
		x.markup, x.end, x.quote, x.tail = append(x.markup, '<'), "", 0, [2]byte{}
		return i + 1
	}
	c := p[0]
	if x.end != "" {
		if c == x.end[len(x.end)-1] && strings.HasSuffix(string(x.tail[:]), x.end[:len(x.end)-1]) {
			x.markup = x.markup[:0]
		}
		x.tail = [2]byte{x.tail[1], c}
		return 1
	}
	x.markup = append(x.markup, c)
	for _, e := range xmlEnds {
		if string(x.markup) == e.begin {
			x.end = e.end
			return 1
		}
	}
	switch {
	case len(x.markup) > maxXMLTag, c == '<', c == '[' && x.quote == 0 && !strings.HasPrefix("<![CDATA[", string(x.markup)):
		s.done = true // malformed, or a document type with its own declarations
	case x.quote != 0:
		if c == x.quote {
			x.quote = 0
		}
	case c == '"' || c == '\'':
		x.quote = c
	case c == '>':
		s.xmlMarkup(string(x.markup[1 : len(x.markup)-1]))
		x.markup = x.markup[:0]
	}
	return 1
}

// xmlMarkup reads a tag without its < and >.
func (s *HeadScanner) xmlMarkup(tag string) {
	x := &s.xml
	switch {
	case strings.HasPrefix(tag, "!"): // the document type
		return
	case strings.HasPrefix(tag, "/"):
		x.depth--
		s.done = x.depth <= 0 || x.depth < x.head
		return
	}
	tag, empty := strings.CutSuffix(tag, "/")
	name, attrs := tag, ""
	if i := strings.IndexAny(tag, " \t\r\n"); i >= 0 {
		name, attrs = tag[:i], tag[i:]
	}
	switch {
	case x.depth == 0 && name != "html", x.depth == 1 && name != "head":
		s.done = true
	case x.depth == 1 && !empty:
		x.head = 2
	case x.depth == x.head && x.head > 0 && name == "meta":
		s.xmlMeta(attrs)
	}
	if !empty {
		x.depth++
	}
}

// xmlMeta reads the attributes of a meta tag.
func (s *HeadScanner) xmlMeta(attrs string) {
	var name, content string
	for {
		attrs = strings.TrimLeft(attrs, " \t\r\n")
		attr, rest, found := strings.Cut(attrs, "=")
		rest = strings.TrimLeft(rest, " \t\r\n")
		if !found || rest == "" || rest[0] != '"' && rest[0] != '\'' {
			s.done = s.done || attrs != "" // malformed
			break
		}
		end := strings.IndexByte(rest[1:], rest[0]) + 1
		if end == 0 {
			s.done = true
			break
		}
		switch strings.TrimRight(attr, " \t\r\n") {
		case "name":
			name = rest[1:end]
		case "content":
			content = rest[1:end]
		}
		attrs = rest[end+1:]
	}
	if !s.done && len(name) <= maxCapture && len(content) <= maxCapture {
		s.addMeta(html.UnescapeString(name), html.UnescapeString(content))
	}
}
