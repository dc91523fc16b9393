package shed

import (
	"slices"
	"sync/atomic"
	"time"
)

const (
	// fewShare is 1 divided by the share of the arrivals below which refusing robots
	// would not help.
	fewShare = 10
	// fallOf is 1 divided by the part of what people notice of the load by which a step
	// must lower it within helpAfter, unless it ends the load. Otherwise it is given back,
	// and tried again after retryAfter, or as soon as people notice another load: by the
	// factor other.
	fallOf     = 10
	helpAfter  = time.Minute
	retryAfter = 5 * time.Minute
	other      = 1.5
	// quick and steady are the times over which loads are averaged that a step begins
	// with, and those that it is compared with: a short dip is no fall.
	quick  = 2 * time.Second
	steady = 10 * time.Second
)

// arrivals counts the requests that arrive, also those that are refused.
type arrivals struct {
	all, robots         atomic.Int64
	fromAll, fromRobots atomic.Int64 // the counts at the begin of the last 10 seconds

	marks [11]arrived // of seconds, the latest first; guarded by Load.mu
}

// arrived has the counts at a time.
type arrived struct{ at, all, robots int64 }

// look moves the begin of the last 10 seconds. It needs the lock.
func (a *arrivals) look(now int64) {
	if since := now - a.marks[0].at; since >= 0 && since < int64(time.Second) {
		return
	}
	copy(a.marks[1:], a.marks[:])
	a.marks[0] = arrived{now, a.all.Load(), a.robots.Load()}
	for _, from := range slices.Backward(a.marks[:]) {
		if from.at <= now && now-from.at <= int64(window) {
			a.fromAll.Store(from.all)
			a.fromRobots.Store(from.robots)
			return
		}
	}
}

// lately returns how many robots, and how many requests of all clients, came in the
// last 10 seconds.
func (a *arrivals) lately() (robots, all int64) {
	return a.robots.Load() - a.fromRobots.Load(), a.all.Load() - a.fromAll.Load()
}

// areFewRobots reports whether so few of the requests of the last 10 seconds are robots'
// that refusing them would not help.
func (a *arrivals) areFewRobots() bool {
	robots, all := a.lately()
	return robots*fewShare < all
}

// average is a mean of the last times.
type average float64

// add adds a value that was true for a time.
func (a *average) add(value float64, elapsed, over time.Duration) {
	*a += average((value - float64(*a)) * min(1, float64(elapsed)/float64(over)))
}

// trend has the averages of a load over a short and a long time.
type trend struct{ quick, steady average }

func (t *trend) add(value float64, elapsed time.Duration) {
	t.quick.add(value, elapsed, quick)
	t.steady.add(value, elapsed, steady)
}

// fellFrom reports whether the load is lower than it was, and not only for a moment.
func (t *trend) fellFrom(before average) bool {
	return max(t.quick, t.steady)*fallOf < before*(fallOf-1)
}

// effects has what the steps brought. Load.mu guards it.
type effects struct {
	at       int64   // of the last look
	inFlight average // of all requests that count
	people   trend   // requests in flight that are no robots'
	steps    []effect
}

// effect is that of one step.
type effect struct {
	begin  int64 // since when it is refused
	people average
	helps  bool
	again  int64 // when a step that was given back is tried again
}

// look measures the load, and gives steps back that helped nobody. pressed says that
// InFlight was exceeded.
func (e *effects) look(l *Load, now int64, pressed bool) {
	elapsed := time.Duration(max(0, now-e.at))
	all := float64(l.counted(l.inFlight.Load()))
	people := max(0, all-float64(l.robots.Load()))
	e.inFlight.add(all, elapsed, steady)
	e.people.add(people, elapsed)
	e.at = now
	isOver := e.inFlight <= average(l.InFlight)
	for step := range int(l.level.Load()) {
		s, bit := &e.steps[step], uint64(1)<<step
		switch isUseless := l.useless.Load()&bit != 0; {
		case isUseless && (now >= s.again || pressed && max(e.people.steady, s.people) > other*min(e.people.steady, s.people)):
			l.useless.And(^bit)
			e.begin(l, step, now)
		case isUseless || s.helps:
		case !l.isSeen(step, now):
			e.begin(l, step, now) // nobody came whose refusal could help
		case now-s.begin > int64(steady) && (isOver || e.people.fellFrom(s.people)):
			s.helps = true
		case now-s.begin >= int64(helpAfter):
			s.again, s.people = now+int64(retryAfter), e.people.steady
			l.useless.Or(bit)
		}
	}
}

// begin begins to measure a step. It returns false for one that was given back, and is
// not tried yet.
func (e *effects) begin(l *Load, step int, now int64) bool {
	s := &e.steps[step]
	if l.useless.Load()&(1<<step) != 0 && now < s.again {
		return false
	}
	*s = effect{begin: now, people: e.people.quick}
	return true
}

// forget forgets what the steps brought.
func (e *effects) forget(l *Load) {
	l.useless.Store(0)
	clear(e.steps)
}
