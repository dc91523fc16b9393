package challenge

import "sync/atomic"

// embedding counts the visitors of a site, and those of them that fetch embedded files. It
// is safe for concurrent use.
type embedding struct{ visitors, embedding atomic.Uint32 }

const (
	leastVisitors = 10      // which say something about the others
	mostVisitors  = 1 << 16 // at this number both counts are halved, so that a change of the site has an effect
)

// visit counts a visitor.
func (c *embedding) visit() {
	if c.visitors.Add(1) >= mostVisitors {
		c.visitors.Store(mostVisitors / 2)
		c.embedding.Store(c.embedding.Load() / 2)
	}
}

// embed counts a visitor that fetches embedded files, once.
func (c *embedding) embed() { c.embedding.Add(1) }

// fewEmbed reports whether fewer than half of the visitors are known to do it.
func (c *embedding) fewEmbed() bool {
	n := c.visitors.Load()
	return n >= leastVisitors && c.embedding.Load() < n/2
}
