package fleet

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/internal/background"
)

// maxInFlight is how many requests can wait for the server at a time. It is
// less than the length of the client's queue, so that requests never block on a
// full queue if the server hangs.
const maxInFlight = 256

// limiter is a throttle.Limiter that shares budgets between processes, through Redis or
// Valkey. Its methods are safe for concurrent use.
//
// Each process keeps the last known state of each budget in its Memory. If this
// state refuses a request, the process refuses it without a call of the server,
// because in the meantime other processes can only have used more of the
// budget. (Only Forget and GiveBack give budget back.) For all other requests, a
// script in the server decides, by the server's clock, in one round trip on one
// key. The process stores the state that the script returns. So a crawler causes
// one round trip per interval and process, however many requests it sends.
//
// The clocks of the processes and of a cluster's nodes may differ: each call
// converts times between the clocks of the process and the server. Visit-time
// windows use the clock of the process.
//
// A request waits at most config.Deadline for each answer of the server.
// After three missed deadlines in a row, or one broken connection, the server
// counts as unavailable, and no request waits for it; a cluster, too, if that is one of its
// masters. Each process then decides alone, with intervals multiplied by config.Instances. A crawler that
// pauses for longer than that interval can get one request, or a whole burst, from
// each process at once. The limiter probes the server in the background, and uses it
// again as soon as it answers in time. With its next request for a key, each
// process then reports what it accepted in the meantime. So a restarted server gets
// back the state that the processes have.
//
// Requests use the server while the circuit of the connection is closed. One goroutine
// connects, and probes the server while it is open, so that requests never do.
type limiter struct {
	config   config
	local    *throttle.Memory
	server   func() server // returns nil while it is unavailable
	obs      events
	inFlight atomic.Int64

	ctx     context.Context // ends when the limiter is closed
	cancel  context.CancelFunc
	opened  chan struct{}              // tells the goroutine that the circuit was opened
	current atomic.Pointer[connection] // nil before the first one and after close

	mu    sync.Mutex
	state string
	since time.Time // of the state; zero while connecting
}

// events receives the events of a limiter. Its methods are called on the request path, from
// any goroutine. They must not block, and must not call the limiter.
type events interface {
	// changed is called for each change of the state. err is its cause; it is nil for
	// stateUp.
	changed(state string, err error)
	// called is called after each round trip to the server. err is nil if it succeeded.
	called(took time.Duration, err error)
	// alone is called for each request that the process decides on alone because it
	// could not call the server.
	alone()
}

// newLimiter returns a limiter that stores the state of this process in local and reports
// events to obs. Until connect is called, and the server answers, it decides as if the
// server were unavailable.
//
// The budgets outlive the limiter, because they are in the server and in local.
func newLimiter(c config, local *throttle.Memory, obs events) *limiter {
	c.Deadline, c.Prefix, c.Instances = cmp.Or(c.Deadline, defaultDeadline), cmp.Or(c.Prefix, defaultPrefix), cmp.Or(c.Instances, 1)
	f := &limiter{config: c, local: local, obs: obs, opened: make(chan struct{}, 1), state: stateConnecting}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.server = f.usable
	return f
}

// connect begins to connect, in the background.
func (f *limiter) connect() {
	new(background.Group).Keep(f.ctx.Done(), "fleet: the connection", f.run)
}

// Take implements throttle.Limiter.
func (f *limiter) Take(ctx context.Context, now time.Time, uses []throttle.Use) throttle.Result {
	uses = uses[:min(len(uses), throttle.MaxUses)]
	if len(uses) > 0 && f.server() == nil {
		return f.takeFallback(ctx, now, uses)
	}
	r := f.local.Peek(now, uses...)
	if !r.OK {
		return r
	}
	q := f.newCall(now, uses)
	if len(q.keys) == 0 {
		return r
	}
	ok, err := f.call(ctx, q)
	if err != nil {
		return f.takeFallback(ctx, now, uses)
	}
	f.update(q, now)
	if ok {
		return throttle.Result{OK: true}
	}
	r = f.local.Peek(now, uses...)
	r.OK = false
	return r
}

// newCall returns a call of the script for the budgets of uses that the server stores.
func (f *limiter) newCall(now time.Time, uses []throttle.Use) scriptCall {
	q := scriptCall{now: now.UnixMicro(), injected: f.config.injected}
	for _, u := range uses {
		if !u.Limits.HasRates() {
			continue
		}
		q.apart = q.apart || u.Key.In(uses[0].Key) != u.Key
		q.keys = append(q.keys, f.name(u.Key))
		q.budgets = append(q.budgets, budget{u, f.local.State(now, u)})
	}
	return q
}

// update stores the states that the script has returned.
func (f *limiter) update(q scriptCall, now time.Time) {
	for _, b := range q.budgets {
		f.local.Update(now, b.Use, b.State, q.back)
	}
}

// takeFallback decides on a request without the server.
func (f *limiter) takeFallback(ctx context.Context, now time.Time, uses []throttle.Use) throttle.Result {
	f.obs.alone()
	var slower [throttle.MaxUses]throttle.Use
	n := copy(slower[:], uses)
	for i := range n {
		slower[i].Limits = slower[i].Limits.Slower(f.config.Instances)
	}
	return f.local.Take(ctx, now, slower[:n])
}

// GiveBack implements throttle.Limiter. It waits for the server, but not longer than a
// request does. Other processes may know the state from before, and refuse
// requests until that state accepts one.
func (f *limiter) GiveBack(now, at time.Time, uses []throttle.Use) bool {
	q := f.newCall(now, uses[:min(len(uses), throttle.MaxUses)])
	if len(q.keys) == 0 {
		return true
	}
	q.after, q.back = at.UnixMicro()-q.now, true
	if ok, err := f.call(context.Background(), q); err != nil || !ok {
		return false
	}
	f.update(q, now)
	return true
}

// call calls the server. It returns an error at once if the server is
// unavailable.
func (f *limiter) call(ctx context.Context, q scriptCall) (ok bool, err error) {
	server := f.server()
	c, real := server.(*connection)
	if server == nil || real && c.isCluster && q.apart {
		return false, errDown
	}
	if f.inFlight.Add(1) > maxInFlight {
		f.inFlight.Add(-1)
		return false, errDown
	}
	defer f.inFlight.Add(-1)

	if !q.injected {
		q.slack = f.config.slack()
	}
	callCtx, cancel := context.WithTimeout(ctx, f.config.Deadline)
	defer cancel()
	start := time.Now()
	ok, err = server.call(callCtx, q)
	if err != nil && ctx.Err() != nil {
		return false, err // the request ended, so the server is not to blame
	}
	f.obs.called(time.Since(start), explain(err))
	if err != nil {
		if real {
			f.fail(c, err)
		}
		return false, err
	}
	if real && c.misses.Load() != 0 {
		c.misses.Store(0)
	}
	return ok, nil
}

// Forget implements throttle.Limiter. It always resets the budget in this process, and
// waits for the server at most two seconds. An error means that the server may
// still have the budget.
//
// Other processes keep the state that they received last. So they may go on
// refusing requests until that state accepts one, and their next call can
// bring the state back to the server.
func (f *limiter) Forget(ctx context.Context, now time.Time, k throttle.Key) error {
	_ = f.local.Forget(ctx, now, k)
	s, ok := f.server().(*connection)
	if !ok {
		return errDown
	}
	ctx, cancel := context.WithTimeout(ctx, forgetDeadline)
	defer cancel()
	return explain(s.client.Do(ctx, s.client.B().Del().Key(f.name(k)).Build()).Error())
}

// forgetDeadline is how long Forget waits for the server.
const forgetDeadline = 2 * time.Second

// name returns the name of the server's key for k. A key x{NAME}y has the same
// slot of a cluster as the key NAME.
func (f *limiter) name(k throttle.Key) string {
	home := ""
	if k[2]|k[3] != 0 {
		home = fmt.Sprintf("{%s%016x%016x}", f.config.Prefix, k[2], k[3])
	}
	return fmt.Sprintf("%s%s%016x%016x", f.config.Prefix, home, k[0], k[1])
}
