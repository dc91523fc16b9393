package meta

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/caddy-robots/caddy-robots/headers"
)

const (
	mediaHTML  = "text/html"
	mediaXHTML = "application/xhtml+xml"
)

// metaCrawlers are the names of meta tags with directives for a single crawler.
// The crawlers' operators document these names.
var metaCrawlers = []string{
	"googlebot", "googlebot-news", // Google, robots meta tag specifications
	"bingbot", "msnbot", // Bing, robots meta tags
	"yandex",                        // Yandex, robots meta tag
	"applebot",                      // Apple, about Applebot
	"baiduspider",                   // Baidu, help
	"slurp", "teoma", "duckduckbot", // Yahoo, Ask, DuckDuckGo
}

// metaTags are the robots meta tags of a document, grouped by crawler. It is a
// step.HeadReader.
type metaTags []metaTag

type metaTag struct {
	crawler  string // "" for the name robots
	contents []string
}

// maxMeta is the maximal length of a meta tag's name and content, in octets.
// Longer ones are ignored.
const maxMeta = 2048

// add adds a meta tag if its name is robots or the name of a crawler.
func (m *metaTags) add(name, content string) {
	if content == "" || max(len(name), len(content)) > maxMeta {
		return
	}
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "robots" {
		name = ""
	} else if !slices.Contains(metaCrawlers, name) {
		return
	}
	i := slices.IndexFunc(*m, func(t metaTag) bool { return t.crawler == name })
	if i < 0 {
		i = len(*m)
		*m = append(*m, metaTag{crawler: name})
	}
	(*m)[i].contents = append((*m)[i].contents, content)
}

// Wants implements step.HeadReader. A type that is not known yet may be HTML.
func (*metaTags) Wants(media string) bool {
	return media == "" || media == mediaHTML || media == mediaXHTML
}

// Read implements step.HeadReader.
func (m *metaTags) Read(media string, beginning []byte) (ends bool) {
	*m = (*m)[:0]
	if media == mediaXHTML {
		return m.readXHTML(beginning)
	}
	return m.readHTML(beginning)
}

// Tags implements step.HeadReader: one tag for each crawler that the document names.
func (m *metaTags) Tags() []headers.Tag {
	tags := make([]headers.Tag, len(*m))
	for i, t := range *m {
		tags[i] = headers.Tag{Crawler: t.crawler, Directives: headers.ReadDirectives(t.contents...)}
	}
	return tags
}

// headElements are the elements that a head may contain (HTML, section
// 13.2.6.4.4). The start tag of any other element begins the body. The value
// tells whether an element's content is plain text, without tags.
var headElements = map[string]bool{
	"html": false, "head": false, "meta": false, "link": false, "base": false, "basefont": false, "bgsound": false, "template": false,
	"script": true, "style": true, "title": true, "noframes": true, "noscript": true,
}

// notInNoscript are the elements of a head that a noscript element in it can't
// contain.
var notInNoscript = []string{"base", "script", "template", "title"}

// opaqueElements change how a parser reads the rest of a template: which
// elements may contain tags, and which tags it ignores.
var opaqueElements = []string{"plaintext", "svg", "math", "select", "frameset", "col", "colgroup"}

// readHTML adds the meta tags in the head of an HTML document, of which text is
// the beginning. It returns true if the head ends in text.
//
// Each tag that it finds is one that an HTML parser (HTML, section 13.2) finds
// in the head too. It also stops where it would need the document tree to
// continue, for example at an svg element in a template. It finds tags in a
// noscript element, as a browser without scripts does, and finds the end of that
// element as a browser with scripts does. The encoding of the document must be
// compatible with ASCII.
func (m *metaTags) readHTML(text []byte) (ends bool) {
	return m.readHead(bytes.TrimPrefix(text, []byte("\ufeff")), false)
}

// readHead reads the content of a head, or of a noscript element in it.
func (m *metaTags) readHead(text []byte, noscript bool) (ends bool) {
	z := html.NewTokenizer(bytes.NewReader(text))
	templates, raw := 0, "" // the number of open templates, and the element whose text comes next
	for read := 0; ; read += len(z.Raw()) {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return false
		case html.TextToken:
			content := bytes.TrimLeft(z.Raw(), " \t\n\f\r")
			switch {
			case raw == "noscript":
				m.readHead(z.Raw(), true)
			case raw != "" || templates > 0 || len(content) == 0:
			default:
				// At the end, < and </ may begin a tag, and two octets may be a
				// part of a byte order mark.
				return len(content) > 2 || read+len(z.Raw()) < len(text)
			}
		case html.EndTagToken:
			raw = ""
			switch name, _ := z.TagName(); {
			case templates > 0:
				if string(name) == "template" {
					templates--
				}
			case string(name) == "br", !noscript && slices.Contains([]string{"head", "body", "html"}, string(name)):
				return true
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			isRaw, inHead := headElements[string(name)]
			switch {
			case templates > 0 && slices.Contains(opaqueElements, string(name)),
				templates == 0 && (!inHead || noscript && slices.Contains(notInNoscript, string(name))):
				return true
			case string(name) == "template":
				templates++
			case templates > 0:
			case noscript && string(name) == "noscript":
				z.NextIsNotRawText()
			case isRaw:
				raw = string(name)
			case string(name) == "meta":
				m.addHTML(z)
			}
		}
	}
}

// addHTML adds the meta tag that z has read. If two attributes have the same
// name, only the first one is used, even if it has no value.
func (m *metaTags) addHTML(z *html.Tokenizer) {
	attrs := [...]string{"name", "content"}
	var values [len(attrs)]string
	var found [len(attrs)]bool
	for more := true; more; {
		var key, value []byte
		key, value, more = z.TagAttr()
		if i := slices.Index(attrs[:], string(key)); i >= 0 && !found[i] {
			values[i], found[i] = string(value), true
		}
	}
	m.add(values[0], values[1])
}

// readXHTML is readHTML for an XHTML document, which is read as XML. It stops at
// malformed XML, and at a document type with declarations of its own.
func (m *metaTags) readXHTML(text []byte) (ends bool) {
	r := bytes.NewReader(bytes.ToValidUTF8(text, []byte("?")))
	d := xml.NewDecoder(r)
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	path := []string{"html", "head", "meta"}
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return r.Len() > 0
		}
		switch e := token.(type) {
		case xml.Directive:
			if bytes.IndexByte(e, '[') >= 0 {
				return true
			}
		case xml.StartElement:
			switch {
			case depth < 2 && e.Name.Local != path[depth]:
				return true
			case depth == 2 && e.Name.Local == "meta":
				m.addXML(e.Attr)
			}
			depth++
		case xml.EndElement:
			if depth--; depth < 2 {
				return true
			}
		}
	}
}

func (m *metaTags) addXML(attrs []xml.Attr) {
	var name, content string
	for _, a := range attrs {
		switch a.Name.Local {
		case "name":
			name = a.Value
		case "content":
			content = a.Value
		}
	}
	m.add(name, content)
}
