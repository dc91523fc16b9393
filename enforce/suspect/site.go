package suspect

import "sync/atomic"

// Most visitors of a site fetch embedded files from it where of at least
// minVisitors browsers that asked for three documents more than half did.
const (
	minVisitors   = 10
	documentsSeen = 3
	siteSlots     = 1 << 10
	maxVisitors   = 1 << 16 // then both counts are halved, so that a change of the site shows
)

// sites counts, by site, the visitors and those among them that fetch embedded
// files. Only browsers with Sec-Fetch-* fields are counted, so that robots
// without them change nothing. It has a fixed size: a site that finds no place
// has no count, and the signal Documents is off there.
type sites [siteSlots]siteCount

type siteCount struct {
	tag       atomic.Uint64 // hash of the site
	visitors  atomic.Uint32
	embedding atomic.Uint32
	_         [lineSize - 16]byte
}

// of returns the place of a site, nil if another one has it.
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
