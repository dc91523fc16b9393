package headers

// rawElements are those whose text has no tags in it, within a head or a
// template, but for script and plaintext.
var rawElements = map[string]bool{
	"style": true, "title": true, "noframes": true, "noscript": true,
	"textarea": true, "xmp": true, "iframe": true, "noembed": true,
}

// headElements are the others that a head may have in it (HTML, section
// 13.2.6.4.4). Any other start tag begins the body.
var headElements = map[string]bool{
	"html": true, "head": true, "meta": true, "link": true, "base": true, "basefont": true, "bgsound": true,
	"script": true, "style": true, "title": true, "noframes": true, "template": true, "noscript": true,
}

// noscriptElements are those that may be in a noscript element of the head.
var noscriptElements = map[string]bool{
	"html": true, "head": true, "meta": true, "link": true, "basefont": true, "bgsound": true,
	"style": true, "noframes": true, "noscript": true,
}

// opaqueElements are those that may change how the rest of a template is
// parsed: which elements have tags in them, and which tags count at all.
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
			s.noscript, s.ending = true, 0
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

// bodyBegins ends the scan at what can't be in a head. In a noscript element
// only the rest of that can't be: with scripts it is all text.
func (s *HeadScanner) bodyBegins() {
	if !s.noscript {
		s.done = true
		return
	}
	s.noscript = false
	s.state, s.raw = inRaw, "noscript"
}

// endsNoscript reads what was just read of a noscript element once more, as
// text: with scripts, the first </noscript ends it. It reports whether that
// stands where without scripts no end tag is, in an attribute or a comment.
func (s *HeadScanner) endsNoscript(p []byte) bool {
	const end = "</noscript"
	for _, c := range p {
		switch {
		case s.ending == len(end):
			s.ending = 0
			if (isSpace(c) || c == '/' || c == '>') && !(s.closing && s.tag.is(end[2:])) {
				return true
			}
		case lower(c) == end[s.ending]:
			s.ending++
			continue
		default:
			s.ending = 0
		}
		if c == '<' {
			s.ending = 1
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
