package enforce

import (
	"sync"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Limits for the requests that judge.Client.Federate lets through. Anyone can sign such a
// request with any key.
const (
	maxFederated  = 60 // in federatedTime, of one client address (IPv4 /32, IPv6 /64) at a site
	federatedTime = time.Minute
	maxFederating = 1 << 12
)

// federating has the times of the latest requests of a client that passed so, in
// nanoseconds since 1970.
type federating struct {
	mu    sync.Mutex
	times [maxFederated]int64
	next  int // the oldest one
}

// latest returns the time of the latest request.
func (f *federating) latest() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.times[(f.next+maxFederated-1)%maxFederated]
}

// take notes a request, and reports whether it is one of maxFederated in federatedTime.
func (f *federating) take(now int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if since := now - f.times[f.next]; 0 <= since && since < int64(federatedTime) {
		return false
	}
	f.times[f.next] = now
	f.next = (f.next + 1) % maxFederated
	return true
}

// MayFederate notes a request, and reports whether it is one of the first 60 in a minute
// of its client address at a site.
func (e *Engine) MayFederate(r *judge.Request) bool {
	key := siteClient(seedFederated, r, r.Addr())
	return e.memory.federating.Add(key, (*federating).latest, nil).take(r.Time.UnixNano())
}
