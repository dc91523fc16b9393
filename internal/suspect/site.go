package suspect

import "sync/atomic"

// A browser counts as a visitor of a site after documentsSeen documents. Most
// visitors of the site fetch embedded files if there are at least minVisitors and
// more than half of them do.
const (
	minVisitors   = 10
	documentsSeen = 3
	siteSlots     = 1 << 10
	maxVisitors   = 1 << 16 // at this number both counts are halved, so that a change of the site has an effect
)

// sites counts the visitors of each site, and those that fetch embedded files. Only
// browsers with all Sec-Fetch-* fields count, so that robots without them do not
// change the result. The size is fixed: when another site has the same place, a
// site has no count, and the signal Documents is not raised there.
type sites [siteSlots]siteCount

type siteCount struct {
	tag       atomic.Uint64 // hash of the site
	visitors  atomic.Uint32
	embedding atomic.Uint32
	_         [lineSize - 16]byte
}

// of returns the count of a site, nil if another site has its place.
func (s *sites) of(hash uint64) *siteCount {
	c := &s[hash%siteSlots]
	hash |= 1 // 0 is empty
	if c.tag.Load() == hash || c.tag.CompareAndSwap(0, hash) {
		return c
	}
	return nil
}

// visit counts a visitor.
func (c *siteCount) visit() {
	if c != nil && c.visitors.Add(1) >= maxVisitors {
		c.visitors.Store(maxVisitors / 2)
		c.embedding.Store(c.embedding.Load() / 2)
	}
}

// embeds counts a visitor that fetches embedded files.
func (c *siteCount) embeds() {
	if c != nil {
		c.embedding.Add(1)
	}
}

// embedsFiles reports whether most visitors fetch embedded files.
func (c *siteCount) embedsFiles() bool {
	if c == nil {
		return false
	}
	n := c.visitors.Load()
	return n >= minVisitors && c.embedding.Load() > n/2
}
