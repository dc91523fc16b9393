package headers

import (
	"html"
	"slices"
	"strings"
)

// MetaCrawlers are the names of meta tags with directives for a single crawler.
// The crawlers' operators document these names. Do not change the list; to
// accept other names, set HeadScanner.Crawlers.
var MetaCrawlers = []string{
	"googlebot", "googlebot-news", // Google, robots meta tag specifications
	"bingbot", "msnbot", // Bing, robots meta tags
	"yandex",                        // Yandex, robots meta tag
	"applebot",                      // Apple, about Applebot
	"baiduspider",                   // Baidu, help
	"slurp", "teoma", "duckduckbot", // Yahoo, Ask, DuckDuckGo
}

// maxMetaTags is the maximal number of crawlers that a document may name. The
// scanner ignores others.
const maxMetaTags = 16

// meta reads the meta tag that ended.
func (s *HeadScanner) meta() {
	if s.name.long || s.content.long || len(s.name.octets) == 0 || len(s.content.octets) == 0 {
		return
	}
	s.addMeta(html.UnescapeString(string(s.name.octets)), html.UnescapeString(string(s.content.octets)))
}

// addMeta adds the directives of a meta tag if its name is robots or the name
// of a crawler.
func (s *HeadScanner) addMeta(name, content string) {
	name = strings.ToLower(strings.TrimSpace(name))
	switch {
	case name == "robots":
		name = ""
	case !isCrawler(name) || !s.isCrawler(name):
		return
	}
	d := readDirectives(content)
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
