package shed

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// lookEvery is the least time between two looks at the load.
	lookEvery = 250 * time.Millisecond
	// raiseAfter is the number of looks under load, less those without, after
	// which another step is refused.
	raiseAfter = 4
	// calm is the time without load after which a step is let through again. If
	// the load then returns at once, the time doubles, up to mostCalm.
	calm     = 10 * time.Second
	mostCalm = 60 * time.Second
	// hold is the time without load after which the server is no longer busy.
	hold = 30 * time.Second
	// setBack is how far the clock must go back to count as set back. Requests that
	// had to wait for a robots.txt come a few seconds late.
	setBack = time.Minute
	// recently is how long ago a request of a step counts as one of now.
	recently = 30 * time.Second

	// window is the longest time that Latency is judged for, and half of it the
	// shortest, by at least leastSamples. The
	// share of slow samples that is too much is 1/slowShare: the 90th percentile.
	window       = 10 * time.Second
	leastSamples = 20
	slowShare    = 10

	// claimSlots is how many claims to be a search engine are served at once,
	// beyond what engines lets through.
	claimSlots = 4
	// trialRoom is how many robots of the steps that are let through again may be in
	// flight at first, where InFlight sets no limit. It doubles in each quarter of
	// the calm time.
	trialRoom = 4
	// protectedFactor is how far above InFlight protected crawlers are refused
	// before their step is.
	protectedFactor = 2
)

// Config has the settings of a Load.
type Config struct {
	// InFlight is how many requests may wait for their answer; robots above it are
	// refused. 0 means any number.
	InFlight int
	// Latency is the longest time that nine of ten pages may take for people; 0
	// means any time.
	Latency time.Duration
	// Steps is the number of steps of the Order.
	Steps int
}

// Load is the load of one site, and which robots are refused because of it. All
// times are in nanoseconds since 1970. It takes no lock that all requests share,
// and is safe for concurrent use.
type Load struct {
	Config

	inFlight atomic.Int64
	slots    [trial + 1]atomic.Int64 // the requests in flight that take a slot
	level    atomic.Int32            // the steps below it are refused
	tried    atomic.Int32            // the steps from level up to it are let through again
	room     atomic.Int64            // for robots of these steps
	busy     atomic.Int64            // since when; 0 if it is not
	pressed  atomic.Bool             // InFlight was exceeded since the last look
	next     atomic.Int64            // time of the next look
	seen     []atomic.Int64
	engines  engines

	pages, slow atomic.Int64 // all samples of the latency, and those above Latency
	since       atomic.Int64 // requests from before do not count as samples

	mu    sync.Mutex // guards the following
	score int        // towards raiseAfter
	last  int64      // look under load
	fell  int64      // when a step was last let through again; 0 if one was refused since
	calm  time.Duration
	// older and newer have the counts of earlier looks: older at the begin of the
	// window.
	older, newer sample
}

// sample has the counts at a time.
type sample struct{ at, pages, slow int64 }

// New returns a Load.
func New(cfg Config) *Load {
	return &Load{Config: cfg, seen: make([]atomic.Int64, cfg.Steps), calm: calm, engines: engines{served: make(map[Rank]int)}}
}

// Enter counts a request that is not refused.
func (l *Load) Enter(now int64) {
	l.look(now)
	l.enter()
}

// enter counts a request, and returns the number of those in flight.
func (l *Load) enter() int64 {
	n := l.inFlight.Add(1)
	if l.InFlight > 0 && n > int64(l.InFlight) && !l.pressed.Load() {
		l.pressed.Store(true)
	}
	return n
}

// Slot is a limited place among the requests in flight.
type Slot uint8

// The slots. NoSlot is not limited.
const (
	NoSlot Slot = iota
	claim       // for claims to be a search engine
	trial       // for robots that are let through again
)

// take takes a slot, if less than most are taken.
func (l *Load) take(slot Slot, most int64) (Slot, bool) {
	if slot != NoSlot && l.slots[slot].Add(1) > most {
		l.slots[slot].Add(-1)
		return NoSlot, false
	}
	return slot, true
}

// EnterRobot counts the request of a robot, unless it is refused. slot must be
// passed to Leave.
func (l *Load) EnterRobot(now int64, r Rank) (slot Slot, ok bool) {
	l.look(now)
	protected, most := r.Engine != "", int64(l.InFlight)
	if protected {
		most *= protectedFactor
	}
	if seen := &l.seen[r.Step]; now-seen.Load() > int64(lookEvery) {
		seen.Store(now)
	}
	if r.Step >= int(l.level.Load()) {
		if most == 0 && r.Step < int(l.tried.Load()) {
			slot = trial
		}
		if slot, ok = l.take(slot, l.room.Load()); !ok {
			return NoSlot, false
		}
		if n := l.enter(); n <= most || most == 0 {
			return slot, true
		}
		l.inFlight.Add(-1)
	}
	if !protected || l.engines.lose(r, now/int64(time.Minute)) {
		return NoSlot, false
	}
	if !r.Verified {
		slot = claim
	}
	if slot, ok = l.take(slot, claimSlots); ok {
		l.enter()
	}
	return slot, ok
}

// Leave ends what Enter or EnterRobot began: the request has its answer.
func (l *Load) Leave(slot Slot) {
	l.inFlight.Add(-1)
	if slot != NoSlot {
		l.slots[slot].Add(-1)
	}
}

// ObservePage counts the time from begin to now, after which a person got a page.
func (l *Load) ObservePage(begin, now int64) {
	if begin < l.since.Load() {
		return // it waited behind robots that are refused now
	}
	l.pages.Add(1)
	if now-begin > int64(l.Latency) {
		l.slow.Add(1)
	}
	l.look(now)
}

// State is the state of a Load.
type State struct {
	Since    time.Time // since when the server is busy; zero if it is not
	Level    int       // the steps of the Order below it are refused
	InFlight int
}

// State returns the state at a time.
func (l *Load) State(now int64) State {
	l.look(now)
	s := State{Level: int(l.level.Load()), InFlight: int(l.inFlight.Load())}
	if since := l.busy.Load(); since != 0 {
		s.Since = time.Unix(0, since)
	}
	return s
}

// IsBusy reports whether the server was busy at the last look.
func (l *Load) IsBusy() bool { return l.busy.Load() != 0 }

// look looks at the load, if it is time for it.
func (l *Load) look(now int64) {
	next := l.next.Load()
	isSetBack := next-now > int64(setBack)
	if now < next && !isSetBack || !l.next.CompareAndSwap(next, now+int64(lookEvery)) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if isSetBack { // all times that are known lie ahead
		l.last, l.fell = now, now
		l.busy.Store(min(l.busy.Load(), now))
		for i := range l.seen {
			l.seen[i].Store(0)
		}
		l.change(now, int(l.level.Load()))
	}
	slow := l.isSlow(now)
	if l.pressed.Swap(false) || slow {
		if now-l.last > int64(recently) {
			l.score = 0
		}
		l.last = now
		if l.score++; slow || l.score >= raiseAfter {
			l.raise(now)
		}
		return
	}
	l.score = max(l.score-1, 0)
	if doubled := uint64(now-l.fell) / uint64(l.calm/4); doubled < 32 {
		l.room.Store(trialRoom << doubled)
	}
	quiet := time.Duration(now - l.last)
	level := int(l.level.Load())
	if now-l.fell < 2*int64(l.calm) {
		return
	}
	if level > 0 && quiet >= l.calm {
		l.fell = now
		l.tried.Store(int32(level))
		l.room.Store(trialRoom)
		for level--; level > 0 && !l.isSeen(level, now); level-- {
		}
		l.change(now, level)
		if level > 0 || l.isSeen(level, now) {
			return
		}
		l.fell = 0 // no robot comes with which it could be tried
	}
	if level == 0 && quiet >= hold {
		l.busy.Store(0)
		l.calm = calm
	}
}

// isSlow reports whether people waited too long in the last window. It needs the
// lock.
func (l *Load) isSlow(now int64) bool {
	count := sample{now, l.pages.Load(), l.slow.Load()}
	pages, slow := count.pages-l.older.pages, count.slow-l.older.slow
	if now-l.newer.at >= int64(window/2) {
		l.older, l.newer = l.newer, count
	}
	return pages >= leastSamples && slow*slowShare > pages
}

// raise refuses another step: the first one that robots of now belong to. It needs
// the lock.
func (l *Load) raise(now int64) {
	l.busy.CompareAndSwap(0, now)
	if now-l.fell < int64(l.calm) {
		l.calm = min(2*l.calm, mostCalm)
	}
	l.score, l.fell = 0, 0
	l.tried.Store(0)
	level := int(l.level.Load())
	for step := level; step < len(l.seen); step++ {
		if l.isSeen(step, now) {
			level = step + 1
			break
		}
	}
	l.change(now, level)
}

// change sets the level. Earlier samples of the latency do not count any more. It
// needs the lock.
func (l *Load) change(now int64, level int) {
	l.level.Store(int32(level))
	l.since.Store(now)
	l.newer = sample{now, l.pages.Load(), l.slow.Load()}
	l.older = l.newer
}

// isSeen reports whether robots of now belong to a step.
func (l *Load) isSeen(step int, now int64) bool {
	return now-l.seen[step].Load() < int64(recently)
}
