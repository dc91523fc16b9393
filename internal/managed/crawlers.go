package managed

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// first returns the first token of a crawler: if a file has a group with it,
// the crawler obeys this group.
func first(c *crawler.Crawler) string { return c.Robots[0] }

// nameable reports whether the crawler finds a group that a User-agent line
// with this token names.
func nameable(token string) bool {
	return robots.ProductToken(token) != "" && robots.Parse([]byte("User-agent: "+token+"\n")).Named(token) != nil
}

// owner returns the crawler that the first token of c belongs to: it is the
// crawler's name, or in its User-Agent. All tokens of a control-only crawler belong
// to it. The owner is c itself, or another crawler if c has no own token: Google's
// favicon fetcher, for instance, obeys the group of Googlebot-Image.
func (l *Lines) owner(c *crawler.Crawler) *crawler.Crawler {
	token := first(c)
	for _, row := range append([]*crawler.Crawler{c}, l.byFirst[strings.ToLower(token)]...) {
		if strings.EqualFold(row.Name, token) || row.ControlOnly || words.ContainsFold(row.Tokens(), token) {
			return row
		}
	}
	return c
}

// ownTokens returns the tokens with which a file gives the crawler its own
// group, without the tokens of other crawlers whose groups it falls back to.
func (l *Lines) ownTokens(c *crawler.Crawler) []string {
	list := append([]string{first(c)}, c.Tokens()...)
	for _, t := range c.Robots[1:] {
		if len(l.byFirst[strings.ToLower(t)]) == 0 {
			list = append(list, t)
		}
	}
	return list
}

// ownGroup returns a crawler's own group in a file, or nil if there is none.
func (l *Lines) ownGroup(f *robots.File, c *crawler.Crawler) *robots.Group {
	for _, t := range l.ownTokens(c) {
		if g := f.Named(t); g != nil {
			return g
		}
	}
	return nil
}

// groupOf returns the group of a file that applies to a crawler, and whether
// that is the group for `*`.
func groupOf(f *robots.File, c *crawler.Crawler) (g *robots.Group, star bool) {
	for _, t := range c.Robots {
		if g := f.Named(t); g != nil {
			return g, false
		}
	}
	if c.Star == crawler.No {
		return nil, false
	}
	return f.Star(), true
}
