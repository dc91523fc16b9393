package throttle

import (
	"context"
	"encoding/hex"
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
func (f *Fleet) Take(ctx context.Context, now time.Time, k Key, t *Limits, maxWait time.Duration) Result {
	if t == nil {
		return Result{OK: true}
	}
	maxWait = max(0, min(maxWait, MaxWait))
	if !f.link.up.Load() && f.server(f.name(k)) == nil {
		return f.takeFallback(now, k, t, maxWait)
	}
	at := now.UnixMicro()
	a, seen := f.local.lookUp(at, k, t)
	v := t.earliest(at, &a)
	if v.wait(at) > maxWait {
		f.obs.FleetRefusal(EngineLocal)
		return v.refusal(at)
	}
	if t.n == 0 {
		return v.acceptance(at)
	}
	known := a // a itself stays on the stack, for the other requests
	q := scriptCall{key: f.name(k), now: at, injected: f.config.injected, limits: t, known: &known, seen: seen}
	switch {
	case !seen || f.config.Instances == 1:
	case a.alone:
		q.since = a.last
	case at-a.last < storedFor.Microseconds():
		q.since = 1
	}
	return f.takeRemote(ctx, now, k, q, maxWait, v)
}

// takeRemote calls the server for a request that this process would accept for
// v.at, by the state that it knows.
func (f *Fleet) takeRemote(ctx context.Context, now time.Time, k Key, q scriptCall, maxWait time.Duration, v verdict) Result {
	for try := 1; ; try++ {
		q.hold = v.at - q.now
		reply, err := f.call(ctx, q)
		if err != nil {
			return f.takeFallback(now, k, q.limits, maxWait)
		}
		f.local.update(q.now, k, q.limits, &reply.arrivals, false)
		if reply.ok {
			return v.acceptance(q.now).heldBy(f, q.now, k, q.limits)
		}
		v = q.limits.earliest(q.now, &reply.arrivals)
		if v.wait(q.now) > maxWait || try == maxTries {
			f.obs.FleetRefusal(EngineRemote)
			return v.refusal(q.now)
		}
		q.known, q.seen = &reply.arrivals, true
	}
}

// takeFallback decides on a request without the server.
func (f *Fleet) takeFallback(now time.Time, k Key, t *Limits, maxWait time.Duration) Result {
	f.obs.FleetFallback()
	r := f.local.takeAlone(now, k, t, f.config.Instances, f.link.since.Load(), maxWait)
	if !r.OK {
		f.obs.FleetRefusal(EngineFallback)
	}
	return r
}

// giveBack implements giver. It waits for the server, but not longer than a
// request does. Other processes may know the state from before, and refuse
// requests until that state accepts one.
func (f *Fleet) giveBack(now int64, t *turn) bool {
	q := scriptCall{key: f.name(t.key), now: now, hold: t.at - now, back: true, injected: f.config.injected, limits: t.limits, known: &arrivals{}}
	reply, err := f.call(context.Background(), q)
	if err != nil || !reply.ok {
		return false
	}
	f.local.update(now, t.key, t.limits, &reply.arrivals, true)
	return true
}

// call calls the server. It returns an error at once if the server is
// unavailable.
func (f *Fleet) call(ctx context.Context, q scriptCall) (scriptReply, error) {
	server := f.server(q.key)
	if server == nil {
		return scriptReply{}, errDown
	}
	if f.inFlight.Add(1) > maxInFlight {
		f.inFlight.Add(-1)
		return scriptReply{}, errBusy
	}
	defer f.inFlight.Add(-1)

	if !q.injected {
		q.slack = f.config.slack()
	}
	callCtx, cancel := context.WithTimeout(ctx, f.config.Deadline)
	defer cancel()
	start := time.Now()
	reply, err := server.call(callCtx, q)
	if err != nil && ctx.Err() != nil {
		return scriptReply{}, err // the request ended, so the server is not to blame
	}
	f.obs.FleetCall(time.Since(start), explain(err))
	n, real := server.(*node)
	if err != nil {
		if real {
			f.link.fail(n, q.now, err)
		}
		return scriptReply{}, err
	}
	if real {
		n.clearMisses()
	}
	return reply, nil
}

// name returns the name of the server's key for k.
func (f *Fleet) name(k Key) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(k[i/8] >> (56 - i%8*8))
	}
	return f.config.Prefix + hex.EncodeToString(b[:])
}

// Close implements Limiter. It closes all connections, but does not wait for
// the server and does not close the Memory. After Close, f decides alone.
// FleetState and FleetCall are not called for connections after Close has
// returned.
func (f *Fleet) Close() error {
	f.link.close()
	return nil
}
