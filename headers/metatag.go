package headers

import (
	"html"
	"slices"
	"strings"
)

// MetaCrawlers are names of meta tags by which crawlers document that they are
// spoken to.
var MetaCrawlers = []string{
	"googlebot", "googlebot-news", // Google, robots meta tag specifications
	"bingbot", "msnbot", // Bing, robots meta tags
	"yandex",                        // Yandex, robots meta tag
	"applebot",                      // Apple, about Applebot
	"baiduspider",                   // Baidu, help
	"slurp", "teoma", "duckduckbot", // Yahoo, Ask, DuckDuckGo
}

// maxMetaTags bounds the crawlers that one document speaks to.
const maxMetaTags = 16

// headElements are what a head may have in it (HTML, section 13.2.6.4.4), by
// their names, and again those whose text has no tags. Any other start tag
// begins the body.
var headElements = map[string]string{
	"html": "", "head": "", "meta": "", "link": "", "base": "", "basefont": "", "bgsound": "", "noscript": "",
	"script": "script", "style": "style", "title": "title", "noframes": "noframes", "template": "template",
}

func (s *HeadScanner) endOfTag() {
	s.state = inText
	if s.closing {
		s.closing = false
		s.done = s.tag.is("head")
		return
	}
	if s.tag.is("meta") {
		s.meta()
		return
	}
	raw, known := headElements[string(s.tag.octets[:s.tag.n])]
	switch {
	case !known:
		s.done = true
	case raw != "":
		s.state, s.raw = inRaw, raw
	}
}

// meta reads a meta tag.
func (s *HeadScanner) meta() {
	if s.name.long || s.content.long || len(s.name.octets) == 0 || len(s.content.octets) == 0 {
		return
	}
	name := strings.ToLower(strings.TrimSpace(html.UnescapeString(string(s.name.octets))))
	switch {
	case name == "robots":
		name = ""
	case !isCrawler(name) || !s.isCrawler(name):
		return
	}
	d := readDirectives(html.UnescapeString(string(s.content.octets)))
	if d.Empty() {
		return
	}
	for i := range s.tags {
		if s.tags[i].Crawler == name {
			s.tags[i].Directives = s.tags[i].Directives.join(d)
			return
		}
	}
	if len(s.tags) < maxMetaTags {
		s.tags = append(s.tags, Tag{name, d})
	}
}

func (s *HeadScanner) isCrawler(name string) bool {
	if s.Crawlers != nil {
		return s.Crawlers(name)
	}
	return slices.Contains(MetaCrawlers, name)
}
