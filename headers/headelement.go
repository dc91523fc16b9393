package headers

// rawElements are the elements in a head or a template with content that is
// plain text, without tags; except script and plaintext.
var rawElements = map[string]bool{
	"style": true, "title": true, "noframes": true, "noscript": true,
	"textarea": true, "xmp": true, "iframe": true, "noembed": true,
}

// headElements are the elements that a head may contain (HTML, section
// 13.2.6.4.4). The start tag of any other element begins the body.
var headElements = map[string]bool{
	"html": true, "head": true, "meta": true, "link": true, "base": true, "basefont": true, "bgsound": true,
	"script": true, "style": true, "title": true, "noframes": true, "template": true, "noscript": true,
}

// noscriptElements are the elements that a noscript element in the head may
// contain.
var noscriptElements = map[string]bool{
	"html": true, "head": true, "meta": true, "link": true, "basefont": true, "bgsound": true,
	"style": true, "noframes": true, "noscript": true,
}

// opaqueElements are elements that change how a parser reads the rest of a
// template: which elements may contain tags, and which tags it ignores.
var opaqueElements = map[string]bool{
	"plaintext": true, "svg": true, "math": true, "select": true, "frameset": true, "col": true, "colgroup": true,
}

func (s *HeadScanner) endOfTag() {
	s.state = inText
	if s.closing {
		s.closing = false
		s.endTag(string(s.tag.octets[:s.tag.n]))
	} else {
		s.startTag(string(s.tag.octets[:s.tag.n]))
	}
}

func (s *HeadScanner) startTag(name string) {
	switch {
	case s.templates > 0 && opaqueElements[name]:
		s.done = true
		return
	case s.templates > 0:
	case s.noscript && !noscriptElements[name], !headElements[name]:
		s.bodyBegins()
		return
	}
	switch {
	case name == "template":
		s.templates++
	case name == "script":
		s.state, s.script = inScript, scriptText{}
	case name == "noscript" && s.templates == 0:
		if !s.noscript {
			s.noscript, s.noscriptMatched = true, 0
		}
	case name == "meta" && s.templates == 0:
		s.meta()
	case rawElements[name]:
		s.state, s.raw = inRaw, name
	}
}

func (s *HeadScanner) endTag(name string) {
	switch {
	case s.templates > 0:
		if name == "template" {
			s.templates--
		}
	case name == "noscript":
		s.noscript = false
	case name == "head" && !s.noscript:
		s.done = true
	case name == "br", !s.noscript && (name == "body" || name == "html"):
		s.bodyBegins()
	}
}

// bodyBegins ends the scan at an element or text that can't be in a head. In a
// noscript element, it only skips the rest of that element: for a browser with
// scripts, the content is plain text.
func (s *HeadScanner) bodyBegins() {
	if !s.noscript {
		s.done = true
		return
	}
	s.noscript = false
	s.state, s.raw = inRaw, "noscript"
}

// endsNoscript reads the last piece of a noscript element a second time, as a
// browser with scripts does: for it, the content is plain text, and the first
// </noscript ends the element. endsNoscript returns true if this </noscript is
// in an attribute or a comment, where it is not an end tag for a browser
// without scripts.
func (s *HeadScanner) endsNoscript(p []byte) bool {
	const end = "</noscript"
	for _, c := range p {
		switch {
		case s.noscriptMatched == len(end):
			s.noscriptMatched = 0
			if (isSpace(c) || c == '/' || c == '>') && !(s.closing && s.tag.is(end[2:])) {
				return true
			}
		case lower(c) == end[s.noscriptMatched]:
			s.noscriptMatched++
			continue
		default:
			s.noscriptMatched = 0
		}
		if c == '<' {
			s.noscriptMatched = 1
		}
	}
	return false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}
