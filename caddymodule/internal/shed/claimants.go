package shed

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/table"
)

const (
	// knownAfter is how long an address must have come with the name of a search engine,
	// without a pause of that long, to be known.
	knownAfter = 24 * time.Hour
	// Sizes of the tables of claimants. Those that are known have their own, so that
	// strangers displace none of them.
	maxStrangers = 4096
	maxKnown     = 1024
	// claimSlots is how many strangers with the name of a search engine are served at
	// once, beyond what engines lets through.
	claimSlots = 4
)

// claimants remembers the addresses that come with the name of a search engine which
// is not verified.
type claimants struct{ strangers, known *table.Table[claimant] }

// claimant is such an address. The zero value is new.
type claimant struct {
	first, last atomic.Int64 // times of requests
	lost        *engines     // nil until it is known
}

func newClaimants() claimants {
	return claimants{table.New[claimant](maxStrangers), table.New[claimant](maxKnown)}
}

// come notes a request, and returns the address.
func (c *claimants) come(client uint64, now int64) *claimant {
	last := func(c *claimant) int64 { return c.last.Load() }
	who := c.known.Get(client)
	if who == nil {
		who = c.strangers.Add(client, last, nil)
	}
	if before := who.last.Swap(now); now-before > int64(knownAfter) || before-now > int64(setBack) {
		who.first.Store(now)
		c.known.Remove(client)
	}
	if first := who.first.Load(); who.lost == nil && now-first >= int64(knownAfter) {
		who = c.known.Add(client, last, func(c *claimant) {
			c.lost = &engines{served: make(map[Rank]int)}
			c.first.Store(first)
			c.last.Store(now)
		})
	}
	return who
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
// must not lose.
func (l *Load) enterEngine(now int64, r Rank, who *claimant) (p Place, ok bool) {
	lost, slot := &l.engines, NoSlot
	switch {
	case r.Engine == "":
		return p, false
	case r.Verified:
	case who.lost != nil:
		lost = who.lost
	default:
		slot = claim
	}
	if lost.lose(r, now/int64(time.Minute)) || !l.take(slot, claimSlots) {
		return p, false
	}
	return l.enterRobot(slot), true
}
