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
	limit    int64        // requests that may wait for their answer; robots above it are refused
	inFlight atomic.Int64 // requests that wait
	robots   atomic.Int64 // of these, those of robots
	uploads  atomic.Int64 // of these, those of others with a body
	claims   atomic.Int64 // of these, those of strangers with the name of a search engine
	losses   atomic.Int64 // requests of known search engines that would be refused otherwise
	engines  *table.Table[engine]
	all      arrivals
	ofRobots arrivals
	programs arrivals // of others that are no browsers'

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
	trial  trial      // of the steps that were refused last
	again  int64      // when steps that helped nobody are tried again
	before average    // people, when such steps were given back
}

// New returns a Load for a site on which inFlight requests may wait for their answer.
func New(inFlight int) *Load {
	return &Load{limit: int64(inFlight), seen: make([]atomic.Int64, len(Steps)), engines: table.New[engine](maxEngines)}
}

// Place is what Leave has to know about a request in flight.
type Place struct{ robot, upload, claim bool }

// uploadShare is 1 divided by the share of the limit that requests with a body count for:
// otherwise clients with browsers' names that send none would keep robots out.
const uploadShare = 4

// Enter counts a request that is not a robot's. upload says that it has a body.
func (l *Load) Enter(now int64, upload bool) Place {
	l.look(now)
	if upload {
		l.uploads.Add(1)
	}
	l.enter(false)
	return Place{upload: upload}
}

// counted returns how many requests in flight count.
func (l *Load) counted() int64 {
	return l.inFlight.Load() - max(0, l.uploads.Load()-l.limit/uploadShare)
}

// enter counts a request, and reports whether there are more than may be. isRefused says that
// it is one of a step that is refused.
func (l *Load) enter(isRefused bool) (isOver bool) {
	l.all.add()
	l.inFlight.Add(1)
	isOver = l.counted() > l.limit
	if isOver && !isRefused && !l.pressed.Load() {
		l.pressed.Store(true)
	}
	return isOver
}

// EnterRobot counts the request of a robot of a step, unless it is refused. address is a hash
// of its address.
func (l *Load) EnterRobot(now int64, step int, address uint64) (p Place, ok bool) {
	l.look(now)
	l.ofRobots.add()
	l.robots.Add(1)
	isRefused := step < int(l.level.Load())
	isOver := l.enter(isRefused)
	if seen := &l.seen[step]; now-seen.Load() > int64(lookEvery) {
		seen.Store(now)
	}
	p.robot = true
	isKnown := step == verifiedStep || step == claimStep && l.isKnown(address, now)
	switch {
	case l.areFewRobots(), !isRefused && (!isOver || isKnown || l.useless.Load()):
		return p, true
	case isKnown && l.losses.Add(1)%perLoss != 0:
		return p, true
	case step == claimStep && !isKnown:
		p.claim = true
		if l.claims.Add(1) <= claimSlots {
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
	if p.upload {
		l.uploads.Add(-1)
	}
	if p.claim {
		l.claims.Add(-1)
	}
}

// State is the state of a Load.
type State struct {
	Since    time.Time // since when the server is busy; zero if it is not
	Refused  []string  // the Steps that are refused
	InFlight int       // requests that count
	// Robots of all steps, and Programs that no rule binds, that came in the last 10 seconds, of All
	// requests.
	Robots, Programs, All int
	Few                   bool // the robots are so few that none is refused
}

// State returns the state at a time.
func (l *Load) State(now int64) State {
	l.look(now)
	s := State{InFlight: int(l.counted()), Robots: l.ofRobots.lately(), Programs: l.programs.lately(), All: l.all.lately(), Few: l.areFewRobots()}
	if !s.Few {
		s.Refused = Steps[:l.level.Load()]
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
func (a *average) add(value int64, elapsed time.Duration) {
	*a += average((float64(value) - float64(*a)) * passed(elapsed))
}

// passed returns which part of the window has passed.
func passed(elapsed time.Duration) float64 { return min(1, float64(elapsed)/float64(window)) }

const (
	// knownAfter is how long an address must have come with the name of a search engine,
	// without a pause of that long, to be known.
	knownAfter = 24 * time.Hour
	// maxEngines is how many addresses are remembered.
	maxEngines = 5120
	// One of perLoss requests of known search engines is refused: days of 503 cost the site its
	// place in the index.
	perLoss = 5
	// claimSlots is how many strangers with the name of a search engine are served at once while
	// others would be refused.
	claimSlots = 4
)

// engine is an address that comes with the name of a search engine. The zero value is new.
type engine struct{ first, last atomic.Int64 } // times of requests

func (e *engine) isKnown() bool { return e.last.Load()-e.first.Load() >= int64(knownAfter) }

// worth is the time of the last request. Those that are known are worth more, so that
// strangers displace none of them.
func (e *engine) worth() int64 {
	if e.isKnown() {
		return e.last.Load() | 1<<62
	}
	return e.last.Load()
}

// isKnown notes that an address comes with the name of a search engine, and reports whether it
// is known.
func (l *Load) isKnown(address uint64, now int64) bool {
	e := l.engines.Add(address, (*engine).worth, nil)
	since := now - e.last.Swap(now)
	if since > int64(knownAfter) || since < -int64(setBack) {
		e.first.Store(now)
	}
	return e.isKnown()
}
