package diff

import (
	"slices"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Crawler describes which groups a crawler obeys.
type Crawler struct {
	// Tokens are its product tokens in the order of precedence, such as
	// Googlebot-Image, Googlebot. A Crawler without tokens is ignored.
	Tokens []string
	// IgnoresStar means that the group for `*` does not apply to the crawler.
	IgnoresStar bool
	// ReadsGoogle means that the crawler uses google/robotstxt as its parser,
	// so that changes in that reading affect it too (see
	// robots.File.GoogleReading).
	ReadsGoogle bool
}

// pairKey identifies the crawlers to which the same groups apply in both files.
type pairKey struct {
	oldGroup, newGroup *robots.Group
	ownOld, ownNew     bool // the group names the crawlers; it is not the group for `*`
}

// pair holds the groups of both files that apply to the same crawlers.
type pair struct {
	pairKey
	crawlers []string
}

// pairs returns a pair for each crawler that a file names, for the other
// crawlers in d.crawlers, and for `*`. Crawlers with the same groups share a
// pair.
func (d *differ) pairs() []*pair {
	var list []*pair
	index := map[pairKey]*pair{}
	add := func(c Crawler) {
		key := d.pairKey(c)
		p := index[key]
		if p == nil {
			p = &pair{pairKey: key}
			index[key] = p
			list = append(list, p)
		}
		if !slices.Contains(p.crawlers, c.Tokens[0]) {
			p.crawlers = append(p.crawlers, c.Tokens[0])
		}
	}
	if !d.google {
		add(Crawler{Tokens: []string{"*"}})
	}
	known := map[string]Crawler{}
	for _, c := range slices.Backward(d.crawlers) {
		known[canonical.Lower(c.Tokens[0])] = c
	}
	seen := map[string]bool{}
	for _, t := range d.names() {
		lower := canonical.Lower(t)
		if seen[lower] {
			continue
		}
		seen[lower] = true
		c, ok := known[lower]
		if !ok {
			c = Crawler{Tokens: []string{t}}
		}
		c.Tokens = append([]string{t}, c.Tokens[1:]...)
		if d.includes(c) {
			add(c)
		}
	}
	named := len(list)
	for _, c := range d.crawlers {
		if seen[canonical.Lower(c.Tokens[0])] || !d.includes(c) {
			continue
		}
		key := d.pairKey(c)
		if !d.google && (!key.ownOld && !key.ownNew || slices.Contains(list[:named], index[key])) {
			continue
		}
		add(c)
	}
	return list
}

// names returns the tokens and words for which one of the files has a group.
func (d *differ) names() []string {
	return slices.Concat(d.before.Tokens(), d.after.Tokens(), d.before.Words(), d.after.Words())
}

// includes reports whether the comparison includes a crawler.
func (d *differ) includes(c Crawler) bool {
	return (!d.google || c.ReadsGoogle) && (d.inside == nil || !d.inside(c.Tokens[0]))
}

// pairKey returns the key of one crawler.
func (d *differ) pairKey(c Crawler) (k pairKey) {
	k.oldGroup, k.ownOld = c.group(d.before)
	k.newGroup, k.ownNew = c.group(d.after)
	return k
}

// group returns the group of a file that applies to the crawler, and whether
// the group names the crawler.
func (c Crawler) group(f *robots.File) (g *robots.Group, own bool) {
	if c.Tokens[0] == "*" {
		return f.Star(), f.Star() != nil
	}
	for _, t := range c.Tokens {
		if g := f.Named(t); g != nil {
			return g, true
		}
	}
	if c.IgnoresStar {
		return nil, false
	}
	return f.Star(), false
}
