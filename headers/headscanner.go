package headers

import "bytes"

// MaxHead is the maximal number of octets of a document that a HeadScanner
// reads.
const MaxHead = 64 << 10

// HeadScanner finds the robots meta tags in the head of an HTML document. The
// document may be split into pieces of any size. The scan stops at the end of
// the head, at the first element or text that can't be in a head, or after
// MaxHead octets. A HeadScanner does not modify the pieces, and keeps only the
// values of the tags that it found.
//
// Each tag that it finds is one that an HTML parser (HTML, section 13.2) also
// finds in the head. The scan also stops where it would need the document tree to
// continue, for example at an svg element in a template. It finds tags in a
// noscript element, as a browser without scripts does. If a
// noscript element contains something that can't be in a head, the scanner
// skips the rest of that element and then continues, as a browser with scripts
// does.
//
// The zero value is ready to scan one document. The encoding of the document
// must be compatible with ASCII, as UTF-8 is and UTF-16 is not. A HeadScanner is
// not safe for concurrent use.
type HeadScanner struct {
	// Crawlers reports whether the name of a meta tag, in lower case, is the
	// name of a crawler. It is not called for the name robots. If it is nil,
	// the names in MetaCrawlers are accepted.
	Crawlers func(name string) bool
	// XHTML makes Scan read the document as XML. Set it for the media type
	// application/xhtml+xml.
	XHTML bool

	state   headState
	done    bool
	closing bool   // the tag is an end tag
	quote   byte   // the quote around the attribute's value; 0: none
	dashes  int8   // number of dashes at the end of the comment so far; commentBang after --!
	read    int    // number of octets that were read
	marked  int    // number of octets of a byte order mark that were read
	matched int    // number of octets of the end tag of raw that were read
	raw     string // the element with the text that is skipped
	script  scriptText
	xml     xmlHead

	templates       int  // number of open template elements
	noscript        bool // in a noscript element; its tags are read
	noscriptMatched int  // number of octets of </noscript that were read, in any state

	tag     shortName // name of the tag
	attr    shortName // name of the attribute
	value   *capture  // buffer for the attribute's value; nil if the value is ignored
	name    capture   // value of the attribute name
	content capture   // value of the attribute content
	tags    []Tag
}

type headState uint8

const (
	inText headState = iota
	inTagOpen
	inTagName
	beforeAttr
	inAttrName
	afterAttrName
	beforeValue
	inValue
	inMarkup  // after <!
	inComment // after <!--
	inBogus   // after <?, <!x, or </x with an x that is not a letter
	inRaw     // in the text of the element raw
	inRawTag  // in text that may be its end tag
	inScript  // in the text of a script
)

// commentBang means that a comment so far ends in --!, so that a > ends the
// comment.
const commentBang = -1

// shortName holds a name in lower case. It holds only the start of a name with
// more octets than it has room for; the scanner recognises no such name.
type shortName struct {
	octets [12]byte
	n      uint8
}

func (s *shortName) add(c byte) {
	if int(s.n) < len(s.octets) {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		s.octets[s.n] = c
		s.n++
	}
}

func (s *shortName) is(name string) bool { return string(s.octets[:s.n]) == name }

// capture holds the value of an attribute.
type capture struct {
	octets []byte
	found  bool
	long   bool
}

// maxCapture is the maximal length of a value, in octets. The scanner ignores
// longer ones.
const maxCapture = 2048

func (c *capture) add(p []byte) {
	if c.long = c.long || len(c.octets)+len(p) > maxCapture; !c.long {
		c.octets = append(c.octets, p...)
	}
}

func (c *capture) reset() { *c = capture{octets: c.octets[:0]} }

// Done reports whether the scan is complete. If so, the scanner needs no more
// of the document.
func (s *HeadScanner) Done() bool { return s.done }

// Tags returns the directives that were found so far: one Tag for each crawler
// that the document names, and one with Crawler "" for the name robots.
func (s *HeadScanner) Tags() []Tag {
	tags := make([]Tag, len(s.tags))
	for i, t := range s.tags {
		tags[i] = Tag{t.Crawler, t.Directives.settle()}
	}
	return tags
}

// Reset prepares s for another document. It keeps Crawlers and XHTML.
func (s *HeadScanner) Reset() {
	s.name.reset()
	s.content.reset()
	*s = HeadScanner{Crawlers: s.Crawlers, XHTML: s.XHTML, name: s.name, content: s.content, tags: s.tags[:0]}
}

// Scan reads the next piece of the document, and returns true if the scan is
// complete, as Done does. After that, Scan ignores further pieces.
func (s *HeadScanner) Scan(p []byte) bool {
	if rest := MaxHead - s.read; len(p) >= rest {
		p = p[:rest]
		defer func() { s.done = true }()
	}
	s.read += len(p)
	for i := 0; i < len(p) && !s.done; {
		n := s.step(p[i:])
		if s.noscript && s.endsNoscript(p[i:i+n]) {
			s.done = true
		}
		i += n
	}
	return s.done || s.read >= MaxHead
}

// step reads at least one octet of p, and returns how many it read.
func (s *HeadScanner) step(p []byte) int {
	if s.XHTML {
		return s.xmlStep(p)
	}
	switch s.state {
	case inText:
		return s.text(p)
	case inScript:
		return s.scriptStep(p)
	case inComment:
		return s.comment(p)
	case inValue:
		return s.attrValue(p)
	case inRaw:
		i := bytes.IndexByte(p, '<')
		if i < 0 {
			return len(p)
		}
		s.state, s.matched = inRawTag, 0
		return i + 1
	case inRawTag:
		return s.rawTag(p[0])
	case inBogus:
		i := bytes.IndexByte(p, '>')
		if i < 0 {
			return len(p)
		}
		s.state = inText
		return i + 1
	case inMarkup:
		return s.markup(p[0])
	}
	return s.tagPart(p[0])
}

// text skips blanks. Any other text begins the body.
func (s *HeadScanner) text(p []byte) int {
	if s.templates > 0 {
		i := bytes.IndexByte(p, '<')
		if i < 0 {
			return len(p)
		}
		s.state = inTagOpen
		return i + 1
	}
	const mark = "\xef\xbb\xbf" // U+FEFF, the byte order mark
	for i, c := range p {
		if s.marked < len(mark) && c == mark[s.marked] {
			s.marked++
			continue
		}
		s.marked = len(mark)
		if c == '<' {
			s.state = inTagOpen
			return i + 1
		}
		if !isSpace(c) {
			s.bodyBegins()
			return i + 1
		}
	}
	return len(p)
}

// markup reads what follows <!: two dashes begin a comment.
func (s *HeadScanner) markup(c byte) int {
	switch {
	case c != '-':
		s.state = inBogus
		return 0 // inBogus reads c again: it may be the > at the end
	case s.dashes == 0:
		s.dashes = 1
	default:
		s.state, s.dashes = inComment, 2 // with two dashes, since <!--> is a complete comment
	}
	return 1
}

func (s *HeadScanner) comment(p []byte) int {
	switch c := p[0]; {
	case c == '>' && (s.dashes >= 2 || s.dashes == commentBang):
		s.state = inText
	case c == '-':
		s.dashes = max(0, min(s.dashes, 1)) + 1
	case c == '!' && s.dashes >= 2:
		s.dashes = commentBang
	default:
		s.dashes = 0
		if i := bytes.IndexByte(p, '-'); i >= 0 {
			return i
		}
		return len(p)
	}
	return 1
}

// rawTag reads text that may be the end tag of the raw element.
func (s *HeadScanner) rawTag(c byte) int {
	switch {
	case s.matched == 0 && c == '/':
		s.matched = 1
	case s.matched > 0 && s.matched <= len(s.raw) && c|0x20 == s.raw[s.matched-1]:
		s.matched++
	case s.matched == len(s.raw)+1 && (isSpace(c) || c == '/' || c == '>'):
		s.closing, s.state, s.tag = true, beforeAttr, shortName{}
		return 0
	default:
		s.state = inRaw
		return 0
	}
	return 1
}

// tagPart reads one octet of a tag (HTML, section 13.2.5).
func (s *HeadScanner) tagPart(c byte) int {
	switch s.state {
	case inTagOpen:
		switch {
		case c == '/' && !s.closing:
			s.closing = true
		case isLetter(c):
			s.state, s.tag = inTagName, shortName{}
			s.name.reset()
			s.content.reset()
			return 0
		case c == '!' && !s.closing:
			s.state, s.dashes = inMarkup, 0
		case s.closing || c == '?':
			s.state, s.closing = inBogus, false
			return 0
		case s.templates > 0:
			s.state = inText
			return 0
		default: // a < that is text
			s.bodyBegins()
		}
	case inTagName:
		if !isSpace(c) && c != '/' && c != '>' {
			s.tag.add(c)
			return 1
		}
		s.state = beforeAttr
		return 0
	case beforeAttr:
		switch {
		case c == '>':
			s.endOfTag()
		case !isSpace(c) && c != '/':
			s.state, s.attr = inAttrName, shortName{}
			s.attr.add(c) // here, a = is the start of a name
		}
	case inAttrName:
		if !isSpace(c) && c != '/' && c != '>' && c != '=' {
			s.attr.add(c)
			return 1
		}
		s.state = afterAttrName
		s.endOfAttrName()
		return 0
	case afterAttrName:
		switch {
		case c == '=':
			s.state = beforeValue
		case !isSpace(c):
			s.state = beforeAttr
			return 0
		}
	case beforeValue:
		switch {
		case isSpace(c):
			return 1
		case c == '>':
			s.state = beforeAttr
			return 0
		}
		s.state, s.quote = inValue, 0
		if c == '"' || c == '\'' {
			s.quote = c
			return 1
		}
		return 0
	}
	return 1
}

// endOfAttrName selects the buffer for the attribute's value. If two attributes
// have the same name, only the first one is used, even if it has no value.
func (s *HeadScanner) endOfAttrName() {
	s.value = nil
	if s.closing || !s.tag.is("meta") {
		return
	}
	var c *capture
	switch {
	case s.attr.is("name"):
		c = &s.name
	case s.attr.is("content"):
		c = &s.content
	}
	if c != nil && !c.found {
		c.found, s.value = true, c
	}
}

func (s *HeadScanner) attrValue(p []byte) int {
	end := -1
	if s.quote != 0 {
		end = bytes.IndexByte(p, s.quote)
	} else {
		end = bytes.IndexAny(p, " \t\n\f\r>")
	}
	part, n := p, len(p)
	if end >= 0 {
		part, n = p[:end], end
		s.state = beforeAttr
		if s.quote != 0 {
			n++
		}
	}
	if s.value != nil {
		s.value.add(part)
	}
	return n
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
