package challenge

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// How many clients show that the check does not work, how many seconds each may take to
// come back, and for how many the check is known to work after one came back.
const (
	troubled  = 20
	backAfter = 10
	proven    = 10 * 60
)

// Trouble is a reason for which a check does not work.
type Trouble string

// The reasons for which a check does not work.
const (
	NoneReturns Trouble = "clients fetch the style sheet and come back without the cookie"
	OtherKeys   Trouble = "clients come with passes that another server has made with its own key"
)

// trouble watches whether the check works.
type trouble struct {
	until   atomic.Uint32 // the check is off until then
	latest  atomic.Uint32 // when cameBack counted last
	mu      sync.Mutex
	back    uint32  // when a client came back with a pass
	sound   uint32  // when one did that has no pass of another server
	fetched clients // that have fetched a style sheet since
	strange clients // that came with passes of another server
	why     Trouble
}

// clients are different clients.
type clients struct {
	hashes [troubled]uint64
	n      int
	latest uint32
}

// add adds a client. Those of the hour before are forgotten.
func (c *clients) add(hash uint64, now uint32) {
	if now-c.latest > brokenFor {
		*c = clients{}
	}
	if c.n < troubled && !c.has(hash) {
		c.hashes[c.n], c.latest = hash, now
		c.n++
	}
}

func (c *clients) has(hash uint64) bool { return slices.Contains(c.hashes[:c.n], hash) }

// isBroken reports whether the check is off because it did not work.
func (t *trouble) isBroken(now uint32) bool {
	left := t.until.Load() - now // more than an hour if that is over, or if the clock was set back
	return left > 0 && left <= brokenFor
}

// fetchedStyle counts a client that was sent the cookie.
func (t *trouble) fetchedStyle(hash uint64, now uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fetched.add(hash, now)
}

// cameStrange counts a client with a pass of another server.
func (t *trouble) cameStrange(hash uint64, now uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.strange.add(hash, now)
}

// cameBack counts a client with a pass of this server, once a second. Strangers can't make
// the check look broken while it works for others.
func (t *trouble) cameBack(hash uint64, now uint32) {
	if t.latest.Swap(now) == now {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.back, t.fetched = now, clients{}
	if !t.strange.has(hash) {
		t.sound = now
	}
}

// check switches the check off if it does not work.
func (t *trouble) check(now uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.fetched.n == troubled && now-t.fetched.latest >= backAfter && now-t.back >= proven:
		t.why = NoneReturns
	case t.strange.n == troubled && now-t.sound >= proven:
		t.why = OtherKeys
	default:
		return
	}
	t.fetched, t.strange = clients{}, clients{}
	t.until.Store(now + brokenFor)
}

// Trouble returns why the check is off because it did not work; "" if it works.
func (s *Storm) Trouble(now time.Time) Trouble {
	t := &s.trouble
	if !t.isBroken(uint32(now.Unix())) {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.why
}
