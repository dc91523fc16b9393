package throttle

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// giver is a Limiter that takes back what a held request has used.
type giver interface {
	// giveBack reports whether the budget is as if the request had not come. It
	// is not if the budget has accepted a later request since.
	giveBack(now int64, t *turn) bool
}

// turn is the instant for which a held request was accepted. Times are in
// microseconds since 1970.
type turn struct {
	giver  giver
	key    Key
	limits *Limits
	at     int64
	result Result // without Delay and turn
	state  turnState
}

type turnState uint8

const (
	waiting   turnState = iota // the request is held
	abandoned                  // the request has ended, and the turn could not be given back yet
	returning                  // the turn is being given back
)

// heldBy adds the turn of a held request to its result.
func (r Result) heldBy(g giver, now int64, k Key, t *Limits) Result {
	if r.OK && r.Delay > 0 {
		r.turn = &turn{giver: g, key: k, limits: t, at: now + r.Delay.Microseconds(), result: Result{OK: true, Reason: r.Reason, Line: r.Line}}
	}
	return r
}

// queue has the turns of the requests that are held. A request that ends gives
// its turn back if it is the last one of its budget, and with it the turns before
// it that were abandoned. An abandoned turn before others goes to the next request
// of its budget. So requests that end delay no other for long.
type queue struct {
	max       int
	abandoned atomic.Int64 // turns; at most max

	mu    sync.Mutex
	lines map[Key]*line
}

// line has the turns of one budget.
type line struct {
	turns []*turn // in the order of their instants
	busy  bool    // a goroutine gives turns back
}

// add adds the turn of a request that is held.
func (w *queue) add(t *turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lines[t.key]
	if l == nil {
		l = new(line)
		w.lines[t.key] = l
	}
	i, _ := slices.BinarySearchFunc(l.turns, t, func(a, b *turn) int { return cmp.Compare(a.at, b.at) })
	l.turns = slices.Insert(l.turns, i, t)
}

// remove removes a turn.
func (w *queue) remove(t *turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(t)
}

// drop removes a turn. The caller holds mu.
func (w *queue) drop(t *turn) {
	l := w.lines[t.key]
	if t.state != waiting {
		w.abandoned.Add(-1)
	}
	if l.turns = slices.DeleteFunc(l.turns, func(other *turn) bool { return other == t }); len(l.turns) == 0 && !l.busy {
		delete(w.lines, t.key)
	}
}

// reuse returns an abandoned turn of a budget for a request that may wait until
// latest; nil if there is none.
func (w *queue) reuse(k Key, t *Limits, now, latest int64) *turn {
	if w.abandoned.Load() == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.lines[k]
	if l == nil {
		return nil
	}
	for _, free := range l.turns {
		if free.state == abandoned && now < free.at && free.at <= latest && free.limits.Same(t) {
			free.state = waiting
			w.abandoned.Add(-1)
			return free
		}
	}
	return nil
}

// abandon gives back the turn of a request that has ended, or keeps it for another
// request. If there are too many turns to keep, it stays used.
func (w *queue) abandon(t *turn, now int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t.state = abandoned
	if w.abandoned.Add(1) > int64(w.max) {
		w.dropPast(now)
	}
	if w.abandoned.Load() > int64(w.max) {
		w.drop(t)
		return
	}
	l := w.lines[t.key]
	if l.busy {
		return // the other goroutine sees that the turn is abandoned
	}
	l.busy = true
	for n := len(l.turns); n > 0 && l.turns[n-1].state == abandoned && l.turns[n-1].at > now; n = len(l.turns) {
		last := l.turns[n-1]
		last.state = returning
		w.mu.Unlock()
		ok := last.giver.giveBack(now, last)
		w.mu.Lock()
		if !ok {
			last.state = abandoned
			break
		}
		w.drop(last)
	}
	if l.busy = false; len(l.turns) == 0 {
		delete(w.lines, t.key)
	}
}

// dropPast removes the abandoned turns whose instants are over. The caller holds
// mu.
func (w *queue) dropPast(now int64) {
	for k, l := range w.lines {
		l.turns = slices.DeleteFunc(l.turns, func(t *turn) bool {
			past := t.state == abandoned && t.at <= now
			if past {
				w.abandoned.Add(-1)
			}
			return past
		})
		if len(l.turns) == 0 && !l.busy {
			delete(w.lines, k)
		}
	}
}
