package shed

import "sync"

const (
	// servedPerLoss is how many requests of a search engine are served for each
	// one that is refused: it loses a fifth of its requests at most.
	servedPerLoss = 4
	// lossMinutes is in how many minutes of a day search engines may lose
	// requests. Days of 503 cost the site its place in the index.
	lossMinutes = 120
	dayMinutes  = 24 * 60
)

// engines has what search engines lost. Claims to be one, that are not verified,
// count apart. There are as many as protected crawlers in the registry.
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
	if e.served[r] < servedPerLoss {
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
