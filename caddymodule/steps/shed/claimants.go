package shed

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// knownAfter is how long an address must have come with the name of a search engine,
	// without a pause of that long, to be known.
	knownAfter = 24 * time.Hour
	// maxClaimants is how many addresses are remembered.
	maxClaimants = 5120
	// claimSlots is how many strangers with the name of a search engine are served at
	// once, beyond what engines lets through.
	claimSlots = 4
)

// claimant is an address that comes with the name of a search engine which is not
// verified. The zero value is new.
type claimant struct {
	first, last atomic.Int64            // times of requests
	lost        atomic.Pointer[engines] // nil until it is known
}

// worth is the time of the last request. Those that are known are worth more, so that
// strangers displace none of them.
func (c *claimant) worth() int64 {
	if c.lost.Load() != nil {
		return c.last.Load() | 1<<62
	}
	return c.last.Load()
}

// come notes a request, and returns what the address lost; nil if it is not known.
func (c *claimant) come(now int64) *engines {
	if before := c.last.Swap(now); now-before > int64(knownAfter) || before-now > int64(setBack) {
		c.first.Store(now)
		c.lost.Store(nil)
	} else if c.lost.Load() == nil && now-c.first.Load() >= int64(knownAfter) {
		c.lost.CompareAndSwap(nil, &engines{served: make(map[Rank]int)})
	}
	return c.lost.Load()
}

// lostOf returns what counts the losses of a search engine; nil for others and strangers.
func (l *Load) lostOf(r Rank, now int64) *engines {
	switch {
	case r.Engine == "":
		return nil
	case r.Verified:
		return &l.engines
	}
	return l.claims.Add(r.Client, (*claimant).worth, nil).come(now)
}

const (
	// servedPerLoss is how many requests of a search engine are served for each
	// one that is refused: it loses a fifth of its requests at most.
	servedPerLoss = 4
	// lossMinutes is in how many minutes of a day search engines may lose
	// requests. Days of 503 cost the site its place in the index.
	lossMinutes = 120
	dayMinutes  = 24 * 60
)

// engines has what search engines lost: the verified ones by name, and all strangers
// with a name together; or what a known address lost.
type engines struct {
	mu      sync.Mutex
	served  map[Rank]int       // requests since the last loss
	minutes [lossMinutes]int64 // the last different ones with a loss, since 1970; 0 for none
	latest  int                // index of the last one
}

// lose reports whether a request of a search engine may be refused, and counts it.
func (e *engines) lose(r Rank, minute int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.Client = 0; e.served[r] < servedPerLoss {
		e.served[r]++
		return false
	}
	if since := minute - e.minutes[e.latest]; since > 0 || since < -1 { // -1: the request had to wait
		oldest := (e.latest + 1) % lossMinutes
		if minute-e.minutes[oldest] < dayMinutes {
			return false
		}
		e.latest, e.minutes[oldest] = oldest, minute
	}
	e.served[r] = 0
	return true
}

// enterEngine counts a request that is refused, unless it is one that a search engine
// must not lose. lost is what lostOf returns.
func (l *Load) enterEngine(now int64, r Rank, lost *engines) (p Place, ok bool) {
	if r.Engine == "" {
		return p, false
	}
	var slot *atomic.Int64
	if lost == nil {
		lost, slot = &l.engines, &l.strangers
	}
	if lost.lose(r, now/int64(time.Minute)) || !take(slot, claimSlots) {
		return p, false
	}
	return l.enterRobot(slot), true
}
