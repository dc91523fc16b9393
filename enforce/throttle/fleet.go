package throttle

import (
	"context"
	"encoding/hex"
	"slices"
	"sync/atomic"
	"time"
)

// maxInFlight is how many requests can wait for the server at a time. It is
// less than the length of the client's queue, so that requests never block on a
// full queue if the server hangs.
const maxInFlight = 256

// maxTries is how often one request calls the server. A request calls it again,
// for a later time, if other requests took the time that it wanted.
const maxTries = 3

// storedFor is how long the server stores a state at least; see take.lua.
const storedFor = 50 * time.Second

// Fleet is a Limiter that shares budgets between processes, through Redis or
// Valkey. Its methods are safe for concurrent use.
//
// Each process keeps the last known state of each budget in its Memory. If this
// state refuses a request, the process refuses it without a call of the server,
// because in the meantime other processes can only have used more of the
// budget. (Only Forget, and a request that ends while it is held, give budget
// back.) For all other requests, a script in
// the server decides, by the server's clock, in one round trip on one key. If
// the request may be held and others took the time that it wanted, there are
// up to three round trips. The process stores the state that the script returns.
// So a crawler without held requests causes one round trip per interval and
// process, however many requests it sends.
//
// The clocks of the processes and of a cluster's nodes may differ: each call
// converts times between the clocks of the process and the server. Visit-time
// windows use the clock of the process.
//
// A request waits at most FleetConfig.Deadline for each answer of the server.
// After three missed deadlines in a row, or one broken connection, the server
// counts as unavailable, and no request waits for it. In a cluster, this holds
// for each master separately. Each process then decides alone about the keys of
// that node, with intervals multiplied by FleetConfig.Instances, and a burst
// divided by it. The first request of each key is accepted only after a random
// part of the interval, so that all processes together keep to the budget from
// the start. A crawler that pauses for longer than that interval can get one
// request from each process at once. The Fleet probes the node in the background,
// and uses it again as soon as it answers in time. With its next request for a
// key, each process then reports what it accepted in the meantime. So a restarted
// server gets back the state that the processes have. Because no process knows
// what all have accepted, the first request of each key that a process knew
// before the outage, or before the server lost its data, is accepted only after a
// part of the interval.
type Fleet struct {
	config   FleetConfig
	local    *Memory
	link     *link
	server   func(key string) server // returns nil while the node of the key is unavailable
	obs      Observer
	inFlight atomic.Int64
}

// NewFleet returns a Fleet that stores the state of this process in local and
// reports events to obs, which may be nil. It connects in the background; until
// then it decides as if the server were unavailable. An error says what is
// wrong with c.
//
// The budgets outlive the Fleet, because they are in the server and in local.
// To change the configuration, such as the password, make a new Fleet with the
// same Memory, and close the old one.
func NewFleet(c FleetConfig, local *Memory, obs Observer) (*Fleet, error) {
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	if obs == nil {
		obs = noObserver{}
	}
	f := &Fleet{config: c, local: local, obs: obs}
	f.link = newLink(c, obs)
	f.server = f.link.server
	f.link.running.Go(f.link.run)
	return f, nil
}

// Take implements Limiter.
func (f *Fleet) Take(ctx context.Context, now time.Time, uses []Use, maxWait time.Duration) Result {
	at := now.UnixMicro()
	if len(uses) == 1 {
		var one [1]budget
		return f.take(ctx, at, uses, one[:0], maxWait)
	}
	var all [MaxUses]budget
	return f.take(ctx, at, uses, all[:0], maxWait)
}

// take is Take, with room for the budgets.
func (f *Fleet) take(ctx context.Context, now int64, uses []Use, list []budget, maxWait time.Duration) Result {
	maxWait = max(0, min(maxWait, MaxWait))
	if !f.link.up.Load() && len(uses) > 0 && f.server(f.name(uses[0].Key)) == nil {
		return f.takeFallback(now, uses, maxWait)
	}
	stored := 0
	list = f.local.lookUp(now, uses, list)
	for i := range list {
		b := &list[i]
		stored += b.limits.n
		switch {
		case !b.known || f.config.Instances == 1:
		case b.alone:
			b.since = b.last
		case now-b.last < storedFor.Microseconds():
			b.since = 1
		}
	}
	v := earliest(now, list)
	if v.wait(now) > maxWait {
		f.obs.FleetRefusal(EngineLocal)
		return v.refusal(now)
	}
	if stored == 0 {
		return v.acceptance(now)
	}
	return f.takeRemote(ctx, f.newCall(now, uses, list), uses, maxWait, v)
}

// newCall returns a call of the script for budgets, of which it makes a copy.
func (f *Fleet) newCall(now int64, uses []Use, list []budget) scriptCall {
	q := scriptCall{now: now, injected: f.config.injected, budgets: slices.Clone(list)}
	for i := range list {
		q.keys = append(q.keys, f.name(uses[list[i].use].Key))
	}
	return q
}

// takeRemote calls the server for a request that this process would accept for
// v.at, by the state that it knows.
func (f *Fleet) takeRemote(ctx context.Context, q scriptCall, uses []Use, maxWait time.Duration, v verdict) Result {
	for try := 1; ; try++ {
		q.hold = v.at - q.now
		ok, err := f.call(ctx, q)
		if err != nil {
			return f.takeFallback(q.now, uses, maxWait)
		}
		f.local.update(q.now, q.budgets, false)
		if ok {
			r := v.acceptance(q.now)
			if r.Delay > 0 {
				r.turn = newTurn(f, q.now, r, uses, q.budgets)
			}
			return r
		}
		v = earliest(q.now, q.budgets)
		if v.wait(q.now) > maxWait || try == maxTries {
			f.obs.FleetRefusal(EngineRemote)
			return v.refusal(q.now)
		}
	}
}

// takeFallback decides on a request without the server.
func (f *Fleet) takeFallback(now int64, uses []Use, maxWait time.Duration) Result {
	f.obs.FleetFallback()
	r := f.local.takeAlone(now, uses, f.config.Instances, f.link.since.Load(), maxWait)
	if !r.OK {
		f.obs.FleetRefusal(EngineFallback)
	}
	return r
}

// giveBack implements giver. It waits for the server, but not longer than a
// request does. Other processes may know the state from before, and refuse
// requests until that state accepts one.
func (f *Fleet) giveBack(now int64, t *turn) bool {
	q := f.newCall(now, t.uses, f.local.lookUp(now, t.uses, make([]budget, 0, len(t.uses))))
	q.hold, q.back = t.at-now, true
	if ok, err := f.call(context.Background(), q); err != nil || !ok {
		return false
	}
	f.local.update(now, q.budgets, true)
	return true
}

// call calls the server. It returns an error at once if the server is
// unavailable.
func (f *Fleet) call(ctx context.Context, q scriptCall) (ok bool, err error) {
	server := f.server(q.keys[0])
	if server == nil {
		return false, errDown
	}
	if f.inFlight.Add(1) > maxInFlight {
		f.inFlight.Add(-1)
		return false, errBusy
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
	f.obs.FleetCall(time.Since(start), explain(err))
	n, real := server.(*node)
	if err != nil {
		if real {
			f.link.fail(n, q.now, err)
		}
		return false, err
	}
	if real {
		n.clearMisses()
	}
	return ok, nil
}

// name returns the name of the server's key for k. A key x{NAME}y has the same
// slot of a cluster as the key NAME.
func (f *Fleet) name(k Key) string {
	var b [32]byte
	for i := range b {
		b[i] = byte(k[i/8] >> (56 - i%8*8))
	}
	own, home := hex.EncodeToString(b[:16]), ""
	if k[2]|k[3] != 0 {
		home = "{" + f.config.Prefix + hex.EncodeToString(b[16:]) + "}"
	}
	return f.config.Prefix + home + own
}

// Close implements Limiter. It closes all connections, but does not wait for
// the server and does not close the Memory. After Close, f decides alone.
// FleetState and FleetCall are not called for connections after Close has
// returned.
func (f *Fleet) Close() error {
	f.link.close()
	return nil
}
