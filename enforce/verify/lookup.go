package verify

import (
	"context"
	"net/netip"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// LookUp gets the data that Address needs to judge whether addr is the crawler
// row: it reads lists that are missing or older than 6 hours, asks DNS, and
// waits for both. It is for requests of the past, and works without Start. It
// reports whether it got new data for Address.
func (c *Checker) LookUp(ctx context.Context, row *crawler.Crawler, addr netip.Addr) bool {
	s := c.subject(row)
	if addr = addr.Unmap().WithZone(""); s == nil || special(addr) {
		return false
	}
	known := false
	for _, l := range s.lists {
		h, _ := current(ctx, l, c.verifier.env)
		if h == nil {
			continue
		}
		if known = true; h.value.contains(addr) {
			return true
		}
	}
	if s.names == nil {
		return known
	}
	f := checkReverse(ctx, c.verifier.config.Resolver, addr, s.names.suffixes)
	if ctx.Err() != nil {
		return false
	}
	c.verifier.lookups.cache.put(makeKey(s.names.id, addr), f.answer, c.verifier.config.Now())
	return f.answer != failed
}
