package managed

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots"
)

// first returns the group that a crawler obeys before all others.
func first(c *crawler.Crawler) string { return c.Robots[0] }

// nameable reports whether a token, written on a User-agent line, names a
// group that its crawler finds.
func nameable(token string) bool {
	return robots.ProductToken(token) != "" && robots.Parse([]byte("User-agent: "+token+"\n")).Named(token) != nil
}

// owner returns the crawler that the first token of c belongs to: c itself,
// or another one whose group c obeys first for want of a token of its own
// (Google's favicon fetcher obeys that of Googlebot-Image).
func (l *Lines) owner(c *crawler.Crawler) *crawler.Crawler {
	for _, row := range append([]*crawler.Crawler{c}, l.byFirst[lower(first(c))]...) {
		if isOwn(row, first(c)) {
			return row
		}
	}
	return c
}

// isOwn reports whether a token belongs to a crawler: as its name, or in its
// User-Agent.
func isOwn(c *crawler.Crawler, token string) bool {
	return strings.EqualFold(c.Name, token) || c.ControlOnly || containsFold(c.Tokens(), token)
}

// ownTokens returns the tokens by which a file gives a crawler a group of its
// own: not those of the other crawlers whose groups it falls back to.
func (l *Lines) ownTokens(c *crawler.Crawler) []string {
	list := append([]string{first(c)}, c.Tokens()...)
	for _, t := range c.Robots[1:] {
		if len(l.byFirst[lower(t)]) == 0 {
			list = append(list, t)
		}
	}
	return list
}

// ownGroup returns the group of its own that a file has for a crawler, and
// the token that names it; nil if it has none.
func (l *Lines) ownGroup(f *robots.File, c *crawler.Crawler) (*robots.Group, string) {
	for _, t := range l.ownTokens(c) {
		if g := f.Named(t); g != nil {
			return g, t
		}
	}
	return nil, ""
}

// obeyed returns the group of a file that a crawler obeys, and whether that
// is the one of `*`.
func obeyed(f *robots.File, c *crawler.Crawler) (g *robots.Group, star bool) {
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

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(e string) bool { return strings.EqualFold(e, s) })
}

// lower returns s in lower case, ASCII only, as tokens are compared.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
