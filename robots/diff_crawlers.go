package robots

import (
	"slices"

	"github.com/caddy-robots/caddy-robots/robots/internal/canonical"
)

// Crawler says which groups a crawler obeys.
type Crawler struct {
	// Tokens are its product tokens in the order in which it obeys them, as
	// Googlebot-Image, Googlebot.
	Tokens []string
	// IgnoresStar says that the group of `*` is not for it.
	IgnoresStar bool
}

// DiffOption is an option of Diff.
type DiffOption func(*differ)

// WithCrawlers tells Diff which crawlers obey other groups than those of their
// own name and of `*`. One that neither file names is told of where something
// else changes for it than for those that they name.
func WithCrawlers(crawlers ...Crawler) DiffOption {
	return func(d *differ) {
		d.crawlers = slices.DeleteFunc(slices.Clone(crawlers), func(c Crawler) bool { return len(c.Tokens) == 0 })
	}
}

// pairKey is what makes two crawlers the same to both files.
type pairKey struct {
	a, b       *Group
	ownA, ownB bool
}

func (p *pair) key() pairKey { return pairKey{p.a, p.b, p.ownA, p.ownB} }

// pair is what the two files say to the same crawlers.
type pair struct {
	a, b       *Group
	ownA, ownB bool // the group is the crawlers' own, not that of `*`
	crawlers   []string
}

// pairs returns what the files say to each crawler that one of them names,
// to those that obey the group of another, and to all others.
func (d *differ) pairs() []*pair {
	list := []*pair{d.pair(Crawler{Tokens: []string{"*"}})}
	index := map[pairKey]*pair{list[0].key(): list[0]}
	known := map[string]Crawler{}
	for _, c := range slices.Backward(d.crawlers) {
		known[canonical.Lower(c.Tokens[0])] = c
	}
	seen := map[string]bool{}
	for _, t := range slices.Concat(d.before.Tokens(), d.after.Tokens()) {
		lower := canonical.Lower(t)
		if seen[lower] {
			continue
		}
		seen[lower] = true
		c := Crawler{Tokens: []string{t}}
		if k, ok := known[lower]; ok {
			c.Tokens, c.IgnoresStar = append(c.Tokens, k.Tokens[1:]...), k.IgnoresStar
		}
		p := d.pair(c)
		if same := index[p.key()]; same != nil {
			same.crawlers = append(same.crawlers, t)
			continue
		}
		index[p.key()] = p
		list = append(list, p)
	}
	named := len(list)
	for _, c := range d.crawlers {
		p := d.pair(c)
		if seen[canonical.Lower(c.Tokens[0])] || !p.ownA && !p.ownB || slices.Contains(list[:named], index[p.key()]) {
			continue
		}
		if same := index[p.key()]; same != nil {
			same.crawlers = append(same.crawlers, c.Tokens[0])
			continue
		}
		index[p.key()] = p
		list = append(list, p)
	}
	return list
}

// pair returns what the files say to one crawler.
func (d *differ) pair(c Crawler) *pair {
	p := &pair{crawlers: []string{c.Tokens[0]}}
	p.a, p.ownA = c.group(d.before)
	p.b, p.ownB = c.group(d.after)
	return p
}

// group returns the group that a file has for the crawler, and whether it is
// not that of `*` for want of another.
func (c Crawler) group(f *File) (g *Group, own bool) {
	g = f.Group(c.Tokens...)
	own = g != nil && (g != f.star || c.Tokens[0] == "*")
	if !own && c.IgnoresStar {
		return nil, false
	}
	return g, own
}
