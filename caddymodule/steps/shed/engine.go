package shed

import (
	"sync"
	"time"
)

const (
	// knownAfter is how long an address must have come with the name of a search engine,
	// without a pause of that long, to be known.
	knownAfter = 24 * time.Hour
	// maxEngines is how many search engines and addresses are remembered.
	maxEngines = 5120
	// servedPerLoss is how many requests of a search engine are served for each
	// one that is refused: it loses a fifth of its requests at most.
	servedPerLoss = 4
	// lossMinutes is in how many minutes of a day, in UTC, a search engine may lose
	// requests. Days of 503 cost the site its place in the index.
	lossMinutes = 120
	dayMinutes  = 24 * 60
)

// engine is a verified search engine, or an address that comes with the name of one. The zero
// value is new.
type engine struct {
	mu          sync.Mutex
	first, last int64 // times of requests
	isKnown     bool
	served      int   // requests since one was refused
	minute      int64 // in which that was, since 1970
	lost        int   // minutes of that day with a loss
}

// worth is the time of the last request. Those that are known are worth more, so that
// strangers displace none of them.
func (e *engine) worth() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.isKnown {
		return e.last | 1<<62
	}
	return e.last
}

// engineOf returns the search engine that a robot is; nil for others, and for strangers with
// the name of one.
func (l *Load) engineOf(r Rank, now int64) *engine {
	if r.Engine == 0 {
		return nil
	}
	e := l.engines.Add(r.Engine, (*engine).worth, nil)
	e.mu.Lock()
	defer e.mu.Unlock()
	if since := now - e.last; since > int64(knownAfter) || since < -int64(setBack) {
		e.first = now
	}
	e.last = now
	e.isKnown = r.Verified || now-e.first >= int64(knownAfter)
	if !e.isKnown {
		return nil
	}
	return e
}

// lose reports whether a request may be refused, and counts it.
func (e *engine) lose(now int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.served < servedPerLoss {
		e.served++
		return false
	}
	if minute := now / int64(time.Minute); minute != e.minute {
		if minute/dayMinutes != e.minute/dayMinutes {
			e.lost = 0
		}
		if e.lost == lossMinutes {
			return false
		}
		e.minute = minute
		e.lost++
	}
	e.served = 0
	return true
}
