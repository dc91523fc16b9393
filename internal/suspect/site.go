package suspect

import "sync/atomic"

// A browser counts as a visitor of a site after documentsSeen documents. Most
// visitors of the site fetch embedded files if there are at least minVisitors and
// more than half of them do.
const (
	minVisitors   = 10
	documentsSeen = 3
	maxSites      = 1 << 10 // whose visitors are counted
	maxVisitors   = 1 << 16 // at this number both counts are halved, so that a change of the site has an effect
)

// siteCount counts the visitors of a site, and those that fetch embedded files. Only
// browsers with all Sec-Fetch-* fields count, so that robots without them do not
// change the result. If there are too many sites, the one with the fewest visitors
// is counted again from 0.
type siteCount struct{ visitors, embedding atomic.Uint32 }

// site returns the count of a site.
func (w *Watch) site(hash uint64) *siteCount {
	return w.sites.Add(hash, func(c *siteCount) int64 { return int64(c.visitors.Load()) }, nil)
}

// visit counts a visitor.
func (c *siteCount) visit() {
	if c.visitors.Add(1) >= maxVisitors {
		c.visitors.Store(maxVisitors / 2)
		c.embedding.Store(c.embedding.Load() / 2)
	}
}

// embedsFiles reports whether most visitors fetch embedded files.
func (c *siteCount) embedsFiles() bool {
	n := c.visitors.Load()
	return n >= minVisitors && c.embedding.Load() > n/2
}
