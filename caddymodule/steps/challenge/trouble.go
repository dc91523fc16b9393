package challenge

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// How many networks show that the check does not work, how many seconds the last one may take
// to come back, and for how many seconds they are remembered.
const (
	troubled  = 20
	backAfter = 10
	troubles  = 60 * 60
)

// trouble watches whether anybody comes back with the cookie of the style sheet. Clients can
// make the check look broken. So nothing follows but a problem that the operator sees and a
// page that has the button alone.
type trouble struct {
	waits atomic.Bool // networks is not empty

	mu            sync.Mutex
	networks      []uint64 // hashes of a /24 or /48 that fetched the style sheet since somebody came back
	since, latest uint32
}

// fetchedStyle notes a network to which the cookie was sent.
func (t *trouble) fetchedStyle(network uint64, now uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now-t.latest > troubles {
		t.networks, t.since = nil, now
	}
	if len(t.networks) < troubled && !slices.Contains(t.networks, network) {
		t.networks, t.latest = append(t.networks, network), now
	}
	t.waits.Store(true)
}

// cameBack notes that a client came back with a pass.
func (t *trouble) cameBack() {
	if !t.waits.Load() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.networks = nil
	t.waits.Store(false)
}

// noneReturns reports whether nobody comes back, and since when.
func (t *trouble) noneReturns(now uint32) (since time.Time, none bool) {
	if !t.waits.Load() {
		return since, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	age := now - t.latest
	return time.Unix(int64(t.since), 0), len(t.networks) == troubled && age >= backAfter && age <= troubles
}
