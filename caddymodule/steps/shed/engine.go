package shed

import (
	"sync/atomic"
	"time"
)

const (
	// knownAfter is how long an address must have come with the name of a search engine,
	// without a pause of that long, to be known.
	knownAfter = 24 * time.Hour
	// maxEngines is how many addresses are remembered.
	maxEngines = 5120
	// One of perLoss requests of known search engines is refused: days of 503 cost the site its
	// place in the index.
	perLoss = 5
	// claimSlots is how many strangers with the name of a search engine are served at once while
	// others would be refused.
	claimSlots = 4
)

// engine is an address that comes with the name of a search engine. The zero value is new.
type engine struct{ first, last atomic.Int64 } // times of requests

func (e *engine) isKnown() bool { return e.last.Load()-e.first.Load() >= int64(knownAfter) }

// worth is the time of the last request. Those that are known are worth more, so that
// strangers displace none of them.
func (e *engine) worth() int64 {
	if e.isKnown() {
		return e.last.Load() | 1<<62
	}
	return e.last.Load()
}

// isKnown notes that an address comes with the name of a search engine, and reports whether it
// is known.
func (l *Load) isKnown(address uint64, now int64) bool {
	e := l.engines.Add(address, (*engine).worth, nil)
	since := now - e.last.Swap(now)
	if since > int64(knownAfter) || since < -int64(setBack) {
		e.first.Store(now)
	}
	return e.isKnown()
}
