package siteread

import (
	"net/http"
	"sync"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
)

// Links knows which hosts get their rules from another host that publishes a file,
// by a redirect. So hosts that redirect to each other do not wait for each other.
// The zero Links is ready for use, and safe for concurrent use.
type Links struct {
	mu sync.Mutex
	to map[place]place
}

// place is a handler at an origin.
type place struct {
	handler any
	origin  judge.Origin
}

// maxLinks bounds the links of a configuration.
const maxLinks = 10_000

// Follow links the host of a read that was redirected from another one to the
// handler's file at an origin. It reports whether the file may be published for
// the read: not if its rules come, in the end, from the host that reads.
func (l *Links) Follow(r *http.Request, handler any, origin judge.Origin) bool {
	c, ok := r.Context().Value(causeKey{}).(*Cause)
	if !ok {
		return true
	}
	from, at := place{c.reader, c.origin}, place{handler, origin}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to == nil {
		l.to = make(map[place]place)
	}
	if _, known := l.to[from]; from != at && (known || len(l.to) < maxLinks) {
		l.to[from] = at
		c.linked.Store(true)
	}
	for range origins.MaxRedirects + 1 {
		if at == from {
			return false
		}
		if at, ok = l.to[at]; !ok {
			return true
		}
	}
	return false
}

// end forgets the link of a read that has followed none.
func (l *Links) end(c *Cause) {
	if c.linked.Swap(false) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.to, place{c.reader, c.origin})
}
