package challenge

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

const (
	// lonelyFor is the time, in seconds, in which an address that is no robot requests
	// something besides its document: an image, a style, a script.
	lonelyFor = 20
	// mostLone is how many lone documents of an address count in that time: a single machine
	// is no storm, and can't hide one.
	mostLone = 5
	// calmFor is for how many seconds the documents must be few before the check ends.
	calmFor = 5 * 60
	// leastBusy is how many documents of lone addresses say something about the load of a
	// busy server.
	leastBusy = 10
)

// second counts the documents of a second.
type second struct {
	at   atomic.Uint32 // in seconds since 1970
	all  atomic.Int32  // of clients of every kind that the check is for, with a pass or without
	lone atomic.Int32  // of strangers whose address has requested nothing else since
	// strangers counts the documents of all strangers.
	strangers atomic.Int32
}

// Storm measures who requests the documents of an origin that a check is for, and knows
// whether the check is on. It is safe for concurrent use.
type Storm struct {
	Host string // of the origin; the site's pattern, for hosts that anybody can invent

	name   string // Config.Name
	over   int    // documents in window
	window int    // in seconds

	ring      []second // of the window, and the time after it in which documents become lone
	evaluated atomic.Uint32
	high      atomic.Uint32 // the last second with at least half of over
	on        atomic.Bool
	since     atomic.Uint32 // when the check went on or off last
	stranger  atomic.Uint32 // when the last stranger's document was counted
	visitors  embedding

	others  bucket // of the clients that no rule binds
	fetches bucket // of requests that are no documents
	trouble trouble
	counts  [Results]atomic.Int64
	before  [Results]atomic.Int64 // counts, when the check went on
	lone    atomic.Int32          // documents of lone addresses in the window, at the last evaluation
}

func (s *Storm) start(host, name string, over, window int) {
	s.Host, s.name, s.over, s.window = host, name, over, window
	s.ring = make([]second, window+lonelyFor+1)
}

// at returns the counts of a second. Counts that another goroutine adds while they begin
// again at 0 may be lost.
func (s *Storm) at(now uint32) *second {
	c := &s.ring[now%uint32(len(s.ring))]
	if at := c.at.Load(); at != now && c.at.CompareAndSwap(at, now) {
		c.all.Store(0)
		c.lone.Store(0)
		c.strangers.Store(0)
	}
	return c
}

// IsOn reports whether strangers are checked. busy says that the server has more to do
// than it can.
func (s *Storm) IsOn(now uint32, busy func() bool) bool {
	if last := s.evaluated.Load(); last != now && s.evaluated.CompareAndSwap(last, now) {
		s.evaluate(now, busy != nil && busy())
	}
	return s.on.Load()
}

// evaluate switches the check on or off. Documents of the last 20 seconds do not count:
// what else their clients request is not known yet.
func (s *Storm) evaluate(now uint32, busy bool) {
	var all, lone, strangers int
	for i := range s.ring {
		c := &s.ring[i]
		if age := now - c.at.Load(); age >= lonelyFor && age < uint32(lonelyFor+s.window) {
			all, lone, strangers = all+int(c.all.Load()), lone+int(c.lone.Load()), strangers+int(c.strangers.Load())
		}
	}
	s.lone.Store(int32(lone))
	measured, mostly := lone, 2*lone > all
	if s.visitors.fewEmbed() { // so loneliness says nothing
		measured, mostly = strangers, true
	}
	storms := measured > s.over && mostly || busy && 2*lone > all && lone >= min(leastBusy, s.over)
	if storms || 2*measured >= s.over && s.on.Load() {
		s.high.Store(now)
	}
	switch on := s.on.Load(); {
	case storms && !on:
		for r := range s.counts {
			s.before[r].Store(s.counts[r].Load())
		}
		s.since.Store(now)
		s.on.Store(true)
	case on && now-s.high.Load() >= calmFor:
		s.on.Store(false)
		s.since.Store(now)
	}
}

// State is the state of a Storm.
type State struct {
	On      bool
	Since   time.Time // when the check went on
	Lone    int       // documents of lone addresses in the time of `over`
	Asked   int       // pages shown since
	Passed  int       // clients that passed since, by themselves or with the button
	Trouble Trouble
	Blind   bool // fewer than half of the visitors of other pages fetch embedded files, so loneliness says nothing
}

// State returns the state.
func (s *Storm) State(now time.Time) State {
	seconds := uint32(now.Unix())
	s.IsOn(seconds, nil)
	since := func(r Result) int { return int(s.counts[r].Load() - s.before[r].Load()) }
	return State{
		On: s.on.Load(), Since: time.Unix(int64(s.since.Load()), 0), Lone: int(s.lone.Load()), Asked: since(Shown), Passed: since(Passed) + since(Button),
		Trouble: s.Trouble(now), Blind: s.visitors.fewEmbed(),
	}
}

// visitor is what is remembered of an address at an origin.
type visitor struct {
	mu        sync.Mutex
	seen      uint32           // the last request that counted; this and all times in seconds since 1970
	documents [lonelyFor]uint8 // documents by second, modulo lonelyFor, of those that are still lone
	hour      uint32           // in which passes were made
	passes    uint8            // new passes in that hour
	pressed   uint32           // when the button was pressed last
	visits    bool             // it is counted among the visitors of other pages
	embeds    bool             // it is counted among those that fetch what these pages embed
}

// worth orders addresses by the time of the last request.
func (v *visitor) worth() int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return int64(v.seen)
}

// advance clears the documents that no later request can change any more. A request may be
// overtaken by others; if its time is much earlier, the clock was set back. The caller holds
// mu.
func (v *visitor) advance(now uint32) {
	switch {
	case now-v.seen < lonelyFor:
		for v.seen < now {
			v.seen++
			v.documents[v.seen%lonelyFor] = 0
		}
	case v.seen-now >= lonelyFor:
		clear(v.documents[:])
		v.seen = now
	}
}

// sinceStranger returns how many seconds ago the last stranger's document was counted. Most
// requests of a quiet site need to know no more: they can't make a document less lone.
func (s *Storm) sinceStranger(now uint32) uint32 { return uint32(max(0, int32(now-s.stranger.Load()))) }

// document counts a stranger's document.
func (s *Storm) document(v *visitor, now uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s.stranger.Load() != now {
		s.stranger.Store(now)
	}
	v.advance(now)
	sum := 0
	for _, n := range v.documents {
		sum += int(n)
	}
	if sum < mostLone {
		c := s.at(now)
		c.all.Add(1)
		c.strangers.Add(1)
		c.lone.Add(1)
		v.documents[now%lonelyFor]++
	}
}

// other counts a request for something else: the documents of the last 20 seconds are
// not lone.
func (s *Storm) other(v *visitor, now uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.advance(now)
	for i, n := range v.documents {
		if n > 0 {
			at := now - (now-uint32(i))%lonelyFor
			if c := &s.ring[at%uint32(len(s.ring))]; c.at.Load() == at {
				c.lone.Add(-int32(n))
			}
			v.documents[i] = 0
		}
	}
}

// visit counts a person's document on another page of the origin.
func (s *Storm) visit(v *visitor) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.visits {
		v.visits = true
		s.visitors.visit()
	}
}

// embed counts a request for what a page embeds.
func (s *Storm) embed(v *visitor) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.visits && !v.embeds {
		v.embeds = true
		s.visitors.embed()
	}
}

// The bounds of what an address gets.
const (
	passesAnHour = 30
	buttonEvery  = 10 // seconds
)

// mayGet reports whether the address may get one more pass by the style sheet in this
// hour; with take, it is counted.
func (v *visitor) mayGet(now uint32, take bool) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if hour := now / 3600; v.hour != hour {
		v.hour, v.passes = hour, 0
	}
	if v.passes >= passesAnHour {
		return false
	}
	if take {
		v.passes++
	}
	return true
}

// hasPass reports whether the address got a pass in this hour.
func (v *visitor) hasPass(now uint32) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.hour == now/3600 && v.passes > 0
}

// mayPress counts a press of the button, and returns after what time the next one is
// possible if this one is too early.
func (v *visitor) mayPress(now uint32) (wait time.Duration) {
	if v.mayGet(now, true) {
		return 0
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if passed := now - v.pressed; passed < buttonEvery {
		return time.Duration(buttonEvery-passed) * time.Second
	}
	v.pressed = now
	return 0
}

// bucket is a leaky bucket (GCRA). The zero value is empty.
type bucket struct{ until atomic.Int64 }

// take takes a request of a bucket that may have one in every interval, and burst at
// once. It returns how long to wait if there is none.
func (b *bucket) take(now time.Time, interval time.Duration, burst int) (wait time.Duration) {
	at := now.UnixNano()
	for {
		old := b.until.Load()
		until := max(old, at) + int64(interval)
		if old-at > int64(interval)*int64(burst)+int64(throttle.MaxLead) { // the clock was set back
			until = at + int64(interval)
		}
		if over := until - at - int64(interval)*int64(burst); over > 0 {
			return time.Duration(over)
		}
		if b.until.CompareAndSwap(old, until) {
			return 0
		}
	}
}
