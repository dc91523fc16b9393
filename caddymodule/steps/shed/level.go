package shed

import "time"

const (
	// lookEvery is the least time between two looks at the load.
	lookEvery = 250 * time.Millisecond
	// raiseAfter is the number of looks under load, less those without, after
	// which another step is refused.
	raiseAfter = 4
	// leastRobots is how many robots must have come lately for a step to be refused: a few
	// feeds at the same moment are no load.
	leastRobots = 4
	// calm is the time without load after which a step is let through again.
	calm = 10 * time.Second
	// hold is the time without load after which the server is no longer busy.
	hold = 30 * time.Second
	// recently is how long ago a request of a step counts as one of now.
	recently = 30 * time.Second
	// setBack is how far the clock must go back to count as set back. Requests that
	// had to wait for a robots.txt come a few seconds late.
	setBack = time.Minute

	// fall is how much lower what people notice of the load must be when helpAfter has passed
	// since a step was refused, unless the load has ended. Otherwise the step is given back, and
	// tried again after retryAfter, or as soon as people notice another load: by the factor other.
	fall       = 0.9
	helpAfter  = time.Minute
	retryAfter = 5 * time.Minute
	other      = 1.5
)

// trial is the time in which steps must help. Those that are refused meanwhile belong to it.
type trial struct {
	at     int64   // when it began; 0 if there is none
	from   int32   // the level before
	people average // in flight then
}

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
		l.end()
	}
	elapsed, inFlight := time.Duration(max(0, now-l.at)), l.counted()
	l.at = now
	l.all.fade(elapsed)
	l.ofRobots.fade(elapsed)
	l.programs.fade(elapsed)
	l.wait.add(inFlight, elapsed)
	l.people.add(max(0, inFlight-l.robots.Load()), elapsed)
	if l.pressed.Swap(false) || inFlight > l.limit {
		l.press(now)
	} else {
		l.ease(now)
	}
}

// press is a look under load. It needs the lock, as all that follow.
func (l *Load) press(now int64) {
	if now-l.last > int64(recently) {
		l.score = 0
	}
	l.score = min(l.score+1, raiseAfter)
	l.last = now
	l.review(now)
	robots, all := l.ofRobots.lately(), l.all.lately()
	if l.score < raiseAfter || robots < leastRobots && int64(all-robots) <= l.limit {
		return
	}
	l.busy.CompareAndSwap(0, now)
	if robots >= leastRobots && !l.areFewRobots() && !l.useless.Load() {
		l.raise(now)
	}
}

// raise refuses another step: the first one that robots of now belong to.
func (l *Load) raise(now int64) {
	l.score = 0
	from := l.level.Load()
	for step := int(from); step < len(Steps); step++ {
		if l.isSeen(step, now) {
			if l.trial.at == 0 {
				l.trial = trial{now, from, l.people}
			}
			l.level.Store(int32(step + 1))
			return
		}
	}
}

// review gives steps back that helped nobody, and lets them be tried again.
func (l *Load) review(now int64) {
	if t := l.trial; t.at != 0 && now-t.at >= int64(helpAfter) {
		l.trial = trial{}
		if l.wait > average(l.limit) && l.people >= fall*t.people {
			l.level.Store(t.from)
			l.useless.Store(true)
			l.again, l.before = now+int64(retryAfter), l.people
		}
	}
	if now >= l.again || max(l.people, l.before) > other*min(l.people, l.before) {
		l.useless.Store(false)
	}
}

// ease is a look without load. It lets the robots through again that were refused last.
func (l *Load) ease(now int64) {
	l.score = max(l.score-1, 0)
	for l.level.Load() > 0 && now-l.last >= int64(calm) {
		l.trial = trial{}
		if step := l.level.Add(-1); l.isSeen(int(step), now) {
			l.last = now // they may bring the load back
		}
	}
	if l.level.Load() == 0 && now-l.last >= int64(hold) {
		l.end()
	}
}

// end ends the load.
func (l *Load) end() {
	l.level.Store(0)
	l.useless.Store(false)
	l.busy.Store(0)
	l.trial, l.last = trial{}, 0
	for i := range l.seen {
		l.seen[i].Store(0)
	}
}

// isSeen reports whether robots of now belong to a step.
func (l *Load) isSeen(step int, now int64) bool { return now-l.seen[step].Load() < int64(recently) }
