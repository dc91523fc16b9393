package throttle

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Waiters holds requests until the budgets are free for them. It limits how many
// requests are held at a time. It starts no goroutine: each request waits in
// the goroutine that calls Take. Its methods are safe for concurrent use.
//
// Close it when its configuration is replaced. Held requests then still wait for
// their Delay, which is at most MaxWait, and further requests are not held. When
// the whole server shuts down, the contexts of the requests must end the wait.
// Caddy cancels them at the end of its grace period; without a grace period, it
// waits for the requests.
type Waiters struct {
	held   atomic.Int64
	closed atomic.Bool
	queue  queue
}

// NewWaiters returns a Waiters that holds at most max requests at a time. If max
// is 0 or less, it holds none.
func NewWaiters(max int) *Waiters {
	return &Waiters{queue: queue{max: max, lines: make(map[Key]*line)}}
}

// Take calls l.Take with maxWait, and holds an accepted request for its Delay.
// If too many requests are held already, or after Close, it calls l.Take with a
// maxWait of zero, so that the request is accepted at once or refused.
//
// If ctx ends while the request is held, Take refuses the request, with its Delay
// as RetryAfter. The request gives its turn back, in all budgets, if none of them
// accepted a later request; otherwise a further request of the same budgets gets
// the turn. A Fleet
// waits for the server then, at most FleetConfig.Deadline for each turn.
func (w *Waiters) Take(ctx context.Context, l Limiter, now time.Time, uses []Use, maxWait time.Duration) Result {
	if maxWait <= 0 || w.closed.Load() {
		return l.Take(ctx, now, uses, 0)
	}
	if w.held.Add(1) > int64(w.queue.max) {
		w.held.Add(-1)
		return l.Take(ctx, now, uses, 0)
	}
	defer w.held.Add(-1)
	at := now.UnixMicro()
	var r Result
	if free := w.queue.reuse(uses, at, at+min(maxWait, MaxWait).Microseconds()); free != nil {
		r = free.result
		r.Delay, r.turn = time.Duration(free.at-at)*time.Microsecond, free
	} else if r = l.Take(ctx, now, uses, maxWait); !r.OK || r.Delay <= 0 {
		return r
	} else if r.turn != nil {
		w.queue.add(r.turn)
	}
	start, timer := time.Now(), time.NewTimer(r.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		if r.turn != nil {
			w.queue.remove(r.turn)
		}
		return r
	case <-ctx.Done():
		if r.turn != nil {
			w.queue.abandon(r.turn, now.Add(time.Since(start)).UnixMicro())
		}
		r.OK, r.RetryAfter = false, r.Delay
		return r
	}
}

// Close makes w hold no further requests. Requests that are already held go on
// waiting. Close always returns nil.
func (w *Waiters) Close() error {
	w.closed.Store(true)
	return nil
}

// giver is a Limiter that takes back what a held request has used.
type giver interface {
	// giveBack reports whether the budget is as if the request had not come. It
	// is not if the budget has accepted a later request since.
	giveBack(now int64, t *turn) bool
}

// GiveBack gives back what a request used that l accepted for the instant at. If one
// of the budgets has accepted a later request since, all stay as they are. l is a
// Memory, a Fleet, or has a method Connected that returns the Fleet.
func GiveBack(l Limiter, now, at time.Time, uses []Use) {
	if c, ok := l.(interface{ Connected() *Fleet }); ok && c.Connected() != nil {
		l = c.Connected()
	}
	if g, ok := l.(giver); ok {
		g.giveBack(now.UnixMicro(), &turn{uses: uses, at: at.UnixMicro()})
	}
}

// turn is the instant for which a held request was accepted. Times are in
// microseconds since 1970.
type turn struct {
	giver  giver
	uses   []Use
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
func (r Result) heldBy(g giver, now int64, uses []Use) Result {
	if r.OK && r.Delay > 0 {
		r.turn = &turn{giver: g, uses: slices.Clone(uses), at: now + r.Delay.Microseconds(), result: r}
	}
	return r
}

// queue has the turns of the requests that are held. A request that ends gives
// its turn back if it is the last one of all its budgets, and with it the turns
// before it that were abandoned. An abandoned turn before others goes to the next
// request of the same budgets. So requests that end delay no other for long.
type queue struct {
	max       int          // requests that are held, and abandoned turns
	abandoned atomic.Int64 // turns

	mu    sync.Mutex
	lines map[Key]*line
}

// line has the turns that use one budget.
type line struct {
	turns []*turn // in the order of their instants
	busy  bool    // a goroutine gives one of the turns back
}

// add adds the turn of a request that is held.
func (w *queue) add(t *turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range t.uses {
		l := w.lines[u.Key]
		if l == nil {
			l = new(line)
			w.lines[u.Key] = l
		}
		i, _ := slices.BinarySearchFunc(l.turns, t, func(a, b *turn) int { return cmp.Compare(a.at, b.at) })
		l.turns = slices.Insert(l.turns, i, t)
	}
}

// remove removes a turn.
func (w *queue) remove(t *turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(t)
}

// drop removes a turn. The caller holds mu.
func (w *queue) drop(t *turn) {
	if t.state != waiting {
		w.abandoned.Add(-1)
	}
	for _, u := range t.uses {
		l := w.lines[u.Key]
		if l.turns = slices.DeleteFunc(l.turns, func(other *turn) bool { return other == t }); len(l.turns) == 0 && !l.busy {
			delete(w.lines, u.Key)
		}
	}
}

// reuse returns an abandoned turn with the same uses for a request that may wait
// until latest; nil if there is none.
func (w *queue) reuse(uses []Use, now, latest int64) *turn {
	if w.abandoned.Load() == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range uses {
		l := w.lines[u.Key]
		if l == nil {
			continue
		}
		for _, free := range l.turns {
			if free.state == abandoned && now < free.at && free.at <= latest && free.isFor(uses) {
				free.state = waiting
				w.abandoned.Add(-1)
				return free
			}
		}
	}
	return nil
}

// isFor reports whether a request with other uses would use the same budgets.
func (t *turn) isFor(uses []Use) bool {
	return slices.EqualFunc(t.uses, uses, func(a, b Use) bool { return a.Key == b.Key && a.Limits.same(b.Limits) })
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
	for todo := []*turn{t}; len(todo) > 0; {
		last := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if last.state != abandoned || last.at <= now || !w.setBusy(last, true) {
			continue // another goroutine sees that the turn is abandoned
		}
		last.state = returning
		w.mu.Unlock()
		ok := last.giver.giveBack(now, last)
		w.mu.Lock()
		if ok {
			w.drop(last)
		} else {
			last.state = abandoned
		}
		w.setBusy(last, false)
		for _, u := range last.uses {
			if l := w.lines[u.Key]; l != nil && l.turns[len(l.turns)-1] != last {
				todo = append(todo, l.turns[len(l.turns)-1])
			}
		}
	}
}

// setBusy marks the lines of a turn, if it is the last one in all of them and
// none is marked, or removes the marks. The caller holds mu.
func (w *queue) setBusy(t *turn, busy bool) bool {
	for _, u := range t.uses {
		if l := w.lines[u.Key]; busy && (l.busy || l.turns[len(l.turns)-1] != t) {
			return false
		}
	}
	for _, u := range t.uses {
		l := w.lines[u.Key]
		if l.busy = busy; len(l.turns) == 0 {
			delete(w.lines, u.Key)
		}
	}
	return true
}

// dropPast removes the abandoned turns whose instants are over. The caller holds
// mu.
func (w *queue) dropPast(now int64) {
	for _, l := range w.lines {
		for _, t := range slices.Clone(l.turns) {
			if t.state == abandoned && t.at <= now {
				w.drop(t)
			}
		}
	}
}
