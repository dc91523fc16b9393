package challenge

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// pass is what is remembered of a pass.
type pass struct {
	documents bucket
	given     atomic.Bool // it was counted among the passes of an address
	mu        sync.Mutex
	seen      uint32
	hour      uint32
	networks  [passNetworks]uint64 // that it came from in this hour
	n         int
	returned  bool // a client came back with it
	shown     bool // it was shown a page without a cookie
}

// The bounds of a pass.
const (
	passNetworks  = 16 // an hour
	passInterval  = time.Second
	passBurst     = 120
	filesPerVisit = 10 // requests that are no documents count as one
)

func (p *pass) worth() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(p.seen)
}

// from counts a network, and reports whether the pass is good there; first says that
// it was not used before.
func (p *pass) from(network uint64, now uint32) (good, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if hour := now / 3600; p.hour != hour {
		p.hour, p.n = hour, 0
	}
	p.seen = now
	if !slices.Contains(p.networks[:p.n], network) {
		if p.n == passNetworks {
			return false, false
		}
		p.networks[p.n] = network
		p.n++
	}
	first, p.returned = !p.returned, true
	return true, first
}

// showOnce reports whether a page may be shown for a token without a cookie: once.
func (p *pass) showOnce() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	once := !p.shown
	p.shown = true
	return once
}
