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

	// window is the longest time that Latency is judged for, and half of it the
	// shortest, by at least leastSamples. The
	// share of slow samples that is too much is 1/slowShare: the 90th percentile.
	window       = 10 * time.Second
	leastSamples = 20
	slowShare    = 10

	// trialRoom is how many robots of the steps that are let through again may be in
	// flight at first, where InFlight sets no limit. It doubles in each quarter of
	// the calm time, up to mostRoom, as long as pages take less than trialTime of the
	// time that they took without these robots; otherwise it halves.
	trialRoom = 4
	mostRoom  = 1 << 20
	trialTime = 1.3
	// protectedFactor is how far above InFlight protected crawlers are refused
	// before their step is.
	protectedFactor = 2
	// leastRobots is how many robots must have come in the last 10 seconds for InFlight
	// to refuse a step: a few feeds at the same moment are no load.
	leastRobots = 4
	// settle is how long a step is given to act on the latency, as long as the number in
	// flight falls.
	settle = 5 * time.Second
)

// Config has the settings of a Load.
type Config struct {
	// InFlight is how many requests may wait for their answer; robots above it are
	// refused. 0 means any number.
	InFlight int
	// Latency is the longest time that nine of ten pages may take for people, and that
	// four of five may wait for; 0 means any time.
	Latency time.Duration
	// Steps is the number of steps of the Order.
	Steps int
}

// Load is the load of one site, and which robots are refused because of it. All
// times are in nanoseconds since 1970. It takes no lock that all requests share,
// and is safe for concurrent use.
type Load struct {
	Config

	inFlight         atomic.Int64
	robots           atomic.Int64  // of these, those of robots
	uploads          atomic.Int64  // of these, those whose body has not arrived
	strangers, trial atomic.Int64  // of these, those of strangers that claim to be a search engine, and of robots that are let through again
	level            atomic.Int32  // the steps below it are refused
	useless          atomic.Uint64 // but these: bit by step
	tried            atomic.Int32  // the steps from level up to it are let through again
	room             atomic.Int64  // for robots of these steps
	turned           atomic.Int64  // when there was none
	busy             atomic.Int64  // since when; 0 if it is not
	pressed          atomic.Bool   // InFlight was exceeded since the last look
	next             atomic.Int64  // time of the next look
	seen             []atomic.Int64
	arrivals         arrivals
	engines          engines
	claims           *table.Table[claimant]
	waiting          documents

	pages, slow, spent atomic.Int64 // all samples of the latency, those above Latency, and their sum
	since              atomic.Int64 // requests from before do not count as samples

	mu      sync.Mutex // guards the following
	score   int        // towards raiseAfter
	last    int64      // look under load
	fell    int64      // when a step was last let through again; 0 if one was refused since
	calm    time.Duration
	acted   int64   // when a step was last refused
	alone   average // time of pages before robots were let through again
	adapted int64   // when room was
	// older and newer have the counts of earlier looks: older at the begin of the
	// window.
	older, newer sample
	effects      effects
}

// New returns a Load.
func New(cfg Config) *Load {
	return &Load{
		Config: cfg, seen: make([]atomic.Int64, cfg.Steps), calm: calm, engines: engines{served: make(map[Rank]int)},
		claims:  table.New[claimant](maxClaimants),
		effects: effects{steps: make([]effect, cfg.Steps)},
	}
}

// Request is a request that is not a robot's.
type Request struct {
	Now      int64
	Number   uint32 // of callers at the same time, different ones
	Document bool   // that a person waits for
	Client   uint64 // whose it is
	Upload   *Upload
}

// Place is what Leave has to know about a request in flight.
type Place struct {
	slot  *atomic.Int64 // that it takes; nil if it takes none
	robot bool
	page  *document
}

// Enter counts a request that is not refused.
func (l *Load) Enter(r Request) (p Place) {
	l.look(r.Now)
	l.arrivals.all.Add(1)
	if r.Document && l.Latency > 0 {
		begin := r.Now
		if r.Upload.IsOpen() {
			begin = -begin
		}
		if p.page = l.waiting.add(r.Number, begin, r.Client); r.Upload != nil {
			r.Upload.page = p.page
		}
	}
	l.enter()
	return p
}

// enter counts a request.
func (l *Load) enter() {
	n := l.counted(l.inFlight.Add(1))
	if l.InFlight > 0 && n > int64(l.InFlight) && !l.pressed.Load() {
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
		var slot *atomic.Int64
		if most == 0 && r.Step < int(l.tried.Load()) {
			slot = &l.trial
		}
		if !take(slot, l.room.Load()) {
			l.turned.Store(now)
			return Place{}, false
		}
		p = l.enterRobot(slot)
		if most == 0 || l.counted(l.inFlight.Load()) <= most {
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
	if p.page != nil {
		p.page.begin.Store(0)
	}
}

// State is the state of a Load.
type State struct {
	Since    time.Time // since when the server is busy; zero if it is not
	Refused  []int     // the steps of the Order that are refused
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
		l.last, l.fell, l.adapted, l.acted = now, now, now, now
		l.turned.Store(0)
		l.busy.Store(min(l.busy.Load(), now))
		l.effects.forget(l)
		for i := range l.seen {
			l.seen[i].Store(0)
		}
		l.change(now, int(l.level.Load()))
	}
	l.arrivals.look(now)
	slow, pressed := l.isSlow(now), l.pressed.Swap(false) || l.InFlight > 0 && l.counted(l.inFlight.Load()) > int64(l.InFlight)
	l.effects.look(l, now, slow, pressed)
	if pressed || slow {
		l.press(now, slow, pressed)
		return
	}
	l.score = max(l.score-1, 0)
	l.adaptRoom(now)
	quiet := time.Duration(now - l.last)
	level := int(l.level.Load())
	if now-l.fell < 2*int64(l.calm) {
		return
	}
	if level > 0 && quiet >= l.calm {
		l.fell = now
		l.tried.Store(max(l.tried.Load(), int32(level)))
		l.room.Store(trialRoom)
		l.adapted = now
		if alone := l.effects.pages.steady; l.alone == 0 || alone < l.alone {
			l.alone = alone
		}
		for level--; level > 0 && !l.isSeen(level, now); level-- {
		}
		l.change(now, level)
		if level > 0 || l.isSeen(level, now) {
			return
		}
		l.fell = 0 // no robot comes with which it could be tried
	}
	if level == 0 && quiet >= hold && now-l.turned.Load() >= int64(hold) {
		l.busy.Store(0)
		l.tried.Store(0)
		l.alone = 0
		l.calm = calm
		l.effects.forget(l)
	}
}

// adaptRoom changes the room for robots that are let through again. It needs the lock.
func (l *Load) adaptRoom(now int64) {
	if now-l.adapted < int64(l.calm/4) {
		return
	}
	l.adapted = now
	if room := l.room.Load(); l.effects.pages.quick <= l.alone*trialTime {
		l.room.Store(min(2*room, mostRoom))
	} else {
		l.room.Store(max(room/2, 1))
	}
}

// press is a look under load. It needs the lock.
func (l *Load) press(now int64, slow, pressed bool) {
	if now-l.last > int64(recently) {
		l.score = 0
	}
	if l.last = now; pressed {
		l.score++
	}
	if !slow && l.score < raiseAfter {
		return
	}
	robots, all := l.arrivals.lately()
	switch {
	case l.arrivals.areFewRobots():
		l.busy.CompareAndSwap(0, now)
	case l.score >= raiseAfter && robots < leastRobots:
		if all-robots > int64(l.InFlight) {
			l.busy.CompareAndSwap(0, now)
		}
	case l.score >= raiseAfter || l.isSettled(now):
		l.raise(now)
	}
}

// isSettled reports whether the last step had its time to act on the latency. It needs
// the lock.
func (l *Load) isSettled(now int64) bool {
	isFalling := float64(l.inFlight.Load())*fallOf <= float64(l.effects.inFlight)*(fallOf-1)
	return !isFalling && now-l.acted >= int64(settle)
}

// raise refuses another step: the first one that robots of now belong to. It needs
// the lock.
func (l *Load) raise(now int64) {
	l.busy.CompareAndSwap(0, now)
	if now-l.fell < int64(l.calm) {
		l.calm = min(2*l.calm, mostCalm)
	}
	l.score, l.fell = 0, 0
	l.acted = now
	l.tried.Store(0)
	level := int(l.level.Load())
	for step := level; step < len(l.seen); step++ {
		if !l.isSeen(step, now) {
			continue
		}
		if level = step + 1; l.effects.begin(l, step, now) {
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
	l.newer = l.sample(now)
	l.older = l.newer
}

// isSeen reports whether robots of now belong to a step.
func (l *Load) isSeen(step int, now int64) bool {
	return now-l.seen[step].Load() < int64(recently)
}
