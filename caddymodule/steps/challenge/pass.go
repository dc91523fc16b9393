package challenge

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// pass is what is remembered of a pass.
type pass struct {
	pages    bucket
	few      bucket      // while the passes of its address have no more
	given    atomic.Bool // it was counted among the passes of an address
	mu       sync.Mutex
	seen     uint32
	hour     uint32
	networks [passNetworks]uint64 // that it came from in this hour
	n        int
	first    uint32 // when a client came with it first; 0: never
	again    bool   // one came with it later
	shown    bool   // it was shown a page without a cookie
}

// The bounds of pages: of a pass, of all passes of an address (IPv4 /32, IPv6 /48), of each of
// these when they have no more, and of an address of known visitors without a pass.
const (
	passNetworks  = 16 // an hour
	passInterval  = time.Second
	passBurst     = 120
	allInterval   = time.Minute / 600
	allBurst      = 600
	fewInterval   = time.Minute / 6
	fewBurst      = 6
	knownInterval = time.Second
	knownBurst    = 60
)

// takePage takes a page from what a pass has, and reports whether it has one.
func (a *Arrival) takePage(net *visitor, now time.Time) bool {
	a.wait = a.take(&a.memory.pages, now, passInterval, passBurst)
	if a.wait > 0 {
		return false
	}
	if a.take(&net.all, now, allInterval, allBurst) == 0 {
		return true
	}
	a.wait = a.take(&a.memory.few, now, fewInterval, fewBurst)
	return a.wait == 0
}

func (p *pass) worth() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(p.seen)
}

// from counts a network, and reports whether the pass is good there; isNew says that it was
// not used before, and isBack that it comes back for the first time, later than what a page
// embeds.
func (p *pass) from(network uint64, now uint32) (good, isNew, isBack bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if hour := now / 3600; p.hour != hour {
		p.hour, p.n = hour, 0
	}
	p.seen = now
	if !slices.Contains(p.networks[:p.n], network) {
		if p.n == passNetworks {
			return false, false, false
		}
		p.networks[p.n] = network
		p.n++
	}
	if p.first == 0 {
		p.first = now
		return true, true, false
	}
	isBack = !p.again && now-p.first > lonelyFor
	p.again = p.again || isBack
	return true, false, isBack
}

// showOnce reports whether a page may be shown for a token without a cookie: once.
func (p *pass) showOnce() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	once := !p.shown
	p.shown = true
	return once
}
