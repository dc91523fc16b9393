package shed

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/internal/table"
)

// Load is the load of one site, and which robots are refused because of it. All
// times are in nanoseconds since 1970. It takes no lock that all requests share,
// and is safe for concurrent use.
type Load struct {
	limit     int64        // requests that may wait for their answer; robots above it are refused
	inFlight  atomic.Int64 // requests that wait
	robots    atomic.Int64 // of these, those of robots
	uploads   atomic.Int64 // of these, those whose body has not arrived
	strangers atomic.Int64 // of these, those of strangers with the name of a search engine
	all       arrivals
	ofRobots  arrivals
	engines   *table.Table[engine]

	level   atomic.Int32   // the steps below it are refused
	useless atomic.Bool    // refusing the others did not help
	busy    atomic.Int64   // since when; 0 if it is not
	pressed atomic.Bool    // the limit was exceeded since the last look
	next    atomic.Int64   // time of the next look
	seen    []atomic.Int64 // when robots of a step came last

	mu     sync.Mutex // guards the following
	at     int64      // the last look
	score  int        // towards raiseAfter
	last   int64      // look under load, or at which a step was let through
	wait   average    // requests in flight
	people average    // of these, those that are no robots'
	raised []raise    // the latest last
	again  int64      // when steps that helped nobody are tried again
	before average    // people, when such a step was given back
}

// New returns a Load for a site on which inFlight requests may wait for their answer.
func New(inFlight int) *Load {
	return &Load{limit: int64(inFlight), seen: make([]atomic.Int64, len(Steps)), engines: table.New[engine](maxEngines)}
}

// Place is what Leave has to know about a request in flight.
type Place struct{ robot, stranger bool }

// Enter counts a request that is not a robot's.
func (l *Load) Enter(now int64) Place {
	l.look(now)
	l.enter(false)
	return Place{}
}

// enter counts a request, and reports whether there are more than may be. isRefused says that
// it is one of a step that is refused.
func (l *Load) enter(isRefused bool) (isOver bool) {
	l.all.add()
	isOver = l.counted(l.inFlight.Add(1)) > l.limit
	if isOver && !isRefused && !l.pressed.Load() {
		l.pressed.Store(true)
	}
	return isOver
}

// claimSlots is how many strangers with the name of a search engine are served at once while
// others would be refused.
const claimSlots = 4

// EnterRobot counts the request of a robot, unless it is refused.
func (l *Load) EnterRobot(now int64, r Rank) (p Place, ok bool) {
	l.look(now)
	l.ofRobots.add()
	l.robots.Add(1)
	isRefused := r.Step < int(l.level.Load())
	isOver := l.enter(isRefused)
	if seen := &l.seen[r.Step]; now-seen.Load() > int64(lookEvery) {
		seen.Store(now)
	}
	p.robot = true
	engine := l.engineOf(r, now)
	switch {
	case l.areFewRobots(), !isRefused && (!isOver || engine != nil || l.useless.Load()):
		return p, true
	case engine != nil && !engine.lose(now):
		return p, true
	case engine == nil && r.Engine != 0:
		p.stranger = true
		if l.strangers.Add(1) <= claimSlots {
			return p, true
		}
	}
	l.Leave(p)
	return Place{}, false
}

// Leave ends what Enter or EnterRobot began: the request has its answer.
func (l *Load) Leave(p Place) {
	l.inFlight.Add(-1)
	if p.robot {
		l.robots.Add(-1)
	}
	if p.stranger {
		l.strangers.Add(-1)
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
	s := State{
		InFlight: int(l.counted(l.inFlight.Load())), Robots: l.ofRobots.lately(), All: l.all.lately(), Few: l.areFewRobots(),
	}
	for step := range int(l.level.Load()) {
		if !s.Few {
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

// window is the time in which arrivals are counted, and over which loads are averaged.
const window = 10 * time.Second

// arrivals counts the requests that arrived lately, also those that were refused, in
// thousandths: of what has come, each look takes the share of the window that has passed.
type arrivals struct{ n atomic.Int64 }

func (a *arrivals) add()        { a.n.Add(1000) }
func (a *arrivals) lately() int { return int((a.n.Load() + 500) / 1000) }

func (a *arrivals) fade(elapsed time.Duration) {
	a.n.Add(-int64(float64(a.n.Load()) * passed(elapsed)))
}

// areFewRobots reports whether less than a tenth of the requests that came lately are robots':
// then refusing them would not help.
func (l *Load) areFewRobots() bool { return 10*l.ofRobots.n.Load() < l.all.n.Load() }

// average is a mean of the last times.
type average float64

// add adds a value that was true for a time.
func (a *average) add(value float64, elapsed time.Duration) {
	*a += average((value - float64(*a)) * passed(elapsed))
}

// passed returns which part of the window has passed.
func passed(elapsed time.Duration) float64 { return min(1, float64(elapsed)/float64(window)) }
