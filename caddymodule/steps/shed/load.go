package shed

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/table"
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

	// window is the time in which arrivals are counted.
	window = 10 * time.Second

	// protectedFactor is how far above InFlight protected crawlers are refused
	// before their step is.
	protectedFactor = 2
	// leastRobots is how many robots must have come in the last 10 seconds for InFlight
	// to refuse a step: a few feeds at the same moment are no load.
	leastRobots = 4
)

// Config has the settings of a Load.
type Config struct {
	// InFlight is how many requests may wait for their answer; robots above it are
	// refused.
	InFlight int
}

// Load is the load of one site, and which robots are refused because of it. All
// times are in nanoseconds since 1970. It takes no lock that all requests share,
// and is safe for concurrent use.
type Load struct {
	Config

	inFlight  atomic.Int64
	robots    atomic.Int64  // of these, those of robots
	uploads   atomic.Int64  // of these, those whose body has not arrived
	strangers atomic.Int64  // of these, those of strangers that claim to be a search engine
	level     atomic.Int32  // the steps below it are refused
	useless   atomic.Uint64 // but these: bit by step
	busy      atomic.Int64  // since when; 0 if it is not
	pressed   atomic.Bool   // InFlight was exceeded since the last look
	next      atomic.Int64  // time of the next look
	seen      []atomic.Int64
	arrivals  arrivals
	engines   engines
	claims    *table.Table[claimant]

	mu      sync.Mutex // guards the following
	score   int        // towards raiseAfter
	last    int64      // look under load
	fell    int64      // when a step was last let through again; 0 if one was refused since
	calm    time.Duration
	effects effects
}

// New returns a Load.
func New(cfg Config) *Load {
	return &Load{
		Config: cfg, seen: make([]atomic.Int64, len(Steps)), calm: calm, engines: engines{served: make(map[Rank]int)},
		claims:  table.New[claimant](maxClaimants),
		effects: effects{steps: make([]effect, len(Steps))},
	}
}

// Place is what Leave has to know about a request in flight.
type Place struct {
	slot  *atomic.Int64 // that it takes; nil if it takes none
	robot bool
}

// Enter counts a request that is not a robot's.
func (l *Load) Enter(now int64) Place {
	l.look(now)
	l.arrivals.all.Add(1)
	l.enter()
	return Place{}
}

// enter counts a request.
func (l *Load) enter() {
	n := l.counted(l.inFlight.Add(1))
	if n > int64(l.InFlight) && !l.pressed.Load() {
		l.pressed.Store(true)
	}
}

// take takes a slot, if less than most are taken. A nil slot is not limited.
func take(slot *atomic.Int64, most int64) bool {
	if slot != nil && slot.Add(1) > most {
		slot.Add(-1)
		return false
	}
	return true
}

// EnterRobot counts the request of a robot, unless it is refused.
func (l *Load) EnterRobot(now int64, r Rank) (p Place, ok bool) {
	l.look(now)
	l.arrivals.all.Add(1)
	l.arrivals.robots.Add(1)
	most, lost := int64(l.InFlight), l.lostOf(r, now)
	if lost != nil {
		most *= protectedFactor
	}
	if seen := &l.seen[r.Step]; now-seen.Load() > int64(lookEvery) {
		seen.Store(now)
	}
	isRefused := r.Step < int(l.level.Load())
	if l.arrivals.areFewRobots() || isRefused && l.useless.Load()&(1<<r.Step) != 0 {
		return l.enterRobot(nil), true
	}
	if !isRefused {
		p = l.enterRobot(nil)
		if l.counted(l.inFlight.Load()) <= most {
			return p, true
		}
		l.Leave(p)
	}
	return l.enterEngine(now, r, lost)
}

// enterRobot counts a request of a robot, which has taken a slot.
func (l *Load) enterRobot(slot *atomic.Int64) Place {
	l.robots.Add(1)
	l.enter()
	return Place{slot: slot, robot: true}
}

// Leave ends what Enter or EnterRobot began: the request has its answer.
func (l *Load) Leave(p Place) {
	l.inFlight.Add(-1)
	if p.robot {
		l.robots.Add(-1)
	}
	if p.slot != nil {
		p.slot.Add(-1)
	}
}

// State is the state of a Load.
type State struct {
	Since    time.Time // since when the server is busy; zero if it is not
	Refused  []int     // indices of the Steps that are refused
	InFlight int       // requests that count
	// Robots of all steps that came in the last 10 seconds, of All requests.
	Robots, All int
	Few         bool // the robots are so few that none is refused
}

// State returns the state at a time.
func (l *Load) State(now int64) State {
	l.look(now)
	s := State{InFlight: int(l.counted(l.inFlight.Load())), Few: l.arrivals.areFewRobots()}
	robots, all := l.arrivals.lately()
	s.Robots, s.All = int(robots), int(all)
	for step := range int(l.level.Load()) {
		if !s.Few && l.useless.Load()&(1<<step) == 0 {
			s.Refused = append(s.Refused, step)
		}
	}
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
		l.effects.forget(l)
		for i := range l.seen {
			l.seen[i].Store(0)
		}
	}
	l.arrivals.look(now)
	pressed := l.pressed.Swap(false) || l.counted(l.inFlight.Load()) > int64(l.InFlight)
	l.effects.look(l, now, pressed)
	if pressed {
		l.press(now)
		return
	}
	l.score = max(l.score-1, 0)
	quiet := time.Duration(now - l.last)
	level := int(l.level.Load())
	if now-l.fell < 2*int64(l.calm) {
		return
	}
	if level > 0 && quiet >= l.calm {
		l.fell = now
		for level--; level > 0 && !l.isSeen(level, now); level-- {
		}
		l.level.Store(int32(level))
		if level > 0 || l.isSeen(level, now) {
			return
		}
		l.fell = 0 // no robot comes with which it could be tried
	}
	if level == 0 && quiet >= hold {
		l.busy.Store(0)
		l.calm = calm
		l.effects.forget(l)
	}
}

// press is a look under load. It needs the lock.
func (l *Load) press(now int64) {
	if now-l.last > int64(recently) {
		l.score = 0
	}
	l.last = now
	l.score++
	if l.score < raiseAfter {
		return
	}
	robots, all := l.arrivals.lately()
	switch {
	case l.arrivals.areFewRobots():
		l.busy.CompareAndSwap(0, now)
	case robots < leastRobots:
		if all-robots > int64(l.InFlight) {
			l.busy.CompareAndSwap(0, now)
		}
	default:
		l.raise(now)
	}
}

// raise refuses another step: the first one that robots of now belong to. It needs
// the lock.
func (l *Load) raise(now int64) {
	l.busy.CompareAndSwap(0, now)
	if now-l.fell < int64(l.calm) {
		l.calm = min(2*l.calm, mostCalm)
	}
	l.score, l.fell = 0, 0
	level := int(l.level.Load())
	for step := level; step < len(l.seen); step++ {
		if !l.isSeen(step, now) {
			continue
		}
		if level = step + 1; l.effects.begin(l, step, now) {
			break
		}
	}
	l.level.Store(int32(level))
}

// isSeen reports whether robots of now belong to a step.
func (l *Load) isSeen(step int, now int64) bool {
	return now-l.seen[step].Load() < int64(recently)
}
