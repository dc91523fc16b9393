package challenge

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// How many networks show that the check does not work, how many seconds each may take to
// come back, and for how many seconds it is remembered.
const (
	troubled  = 20
	backAfter = 10
	troubles  = 60 * 60
)

// trouble watches whether the check works. Clients can make it look broken. So nothing
// follows but a problem that the operator sees and, while nobody at all comes back, a page
// that has the button alone.
type trouble struct {
	waits   atomic.Bool // fetched is not empty
	mu      sync.Mutex
	fetched networks // that have fetched a style sheet since somebody came back
	strange networks // that got a pass here, and came with one of another server
}

// networks are different networks of clients: hashes of a /24 or /48.
type networks struct {
	hashes [troubled]uint64
	n      int
	since  uint32
	latest uint32
}

// add adds a network. Those of the hour before are forgotten.
func (c *networks) add(hash uint64, now uint32) {
	if now-c.latest > troubles {
		*c = networks{since: now}
	}
	if c.n < troubled && !slices.Contains(c.hashes[:c.n], hash) {
		c.hashes[c.n], c.latest = hash, now
		c.n++
	}
}

// are reports whether they are so many that something is wrong, after a number of seconds.
func (c *networks) are(now, after uint32) bool {
	age := now - c.latest
	return c.n == troubled && age >= after && age <= troubles
}

// fetchedStyle notes a network to which the cookie was sent.
func (t *trouble) fetchedStyle(network uint64, now uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fetched.add(network, now)
	t.waits.Store(true)
}

// cameStrange notes a network that came with a pass of another server.
func (t *trouble) cameStrange(network uint64, now uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.strange.add(network, now)
}

// cameBack notes that a client came back with a pass of this server.
func (t *trouble) cameBack() {
	if !t.waits.Load() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fetched = networks{}
	t.waits.Store(false)
}

// noneReturns reports whether nobody comes back with the cookie of the style sheet.
func (t *trouble) noneReturns(now uint32) bool {
	if !t.waits.Load() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.fetched.are(now, backAfter)
}

// Trouble is what looks as if the check did not work.
type Trouble struct {
	Text, Advice string // "" if nothing does
	Since        time.Time
}

// Trouble returns what looks as if the check did not work.
func (s *Storm) Trouble(now time.Time) Trouble {
	t, at := &s.trouble, uint32(now.Unix())
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.fetched.are(at, backAfter):
		return Trouble{fmt.Sprintf("%d networks fetched the style sheet of the check, and nobody came back with the cookie: "+
			"the page shows its button alone", troubled),
			"A CDN, cache or proxy in front must pass queries, keep Set-Cookie and not replace answers with status 429.",
			time.Unix(int64(t.fetched.since), 0)}
	case t.strange.are(at, 0):
		return Trouble{fmt.Sprintf("%d networks that got a pass of this server came with one of another server", troubled),
			"Servers behind one balancer need the same storage in their configuration, or `fleet`.", time.Unix(int64(t.strange.since), 0)}
	}
	return Trouble{}
}
