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

// Fleet is a Limiter that shares budgets between processes, through Redis or
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
// A request waits at most FleetConfig.Deadline for each answer of the server.
// After three missed deadlines in a row, or one broken connection, the server
// counts as unavailable, and no request waits for it. In a cluster, this holds
// for each master separately. Each process then decides alone about the keys of
// that node, with intervals multiplied by FleetConfig.Instances. A crawler that
// pauses for longer than that interval can get one request, or a whole burst, from
// each process at once. The Fleet probes the node in the background, and uses it
// again as soon as it answers in time. With its next request for a key, each
// process then reports what it accepted in the meantime. So a restarted server gets
// back the state that the processes have.
type Fleet struct {
	config   FleetConfig
	local    *Memory
	link     *link
	server   func(key string) server // returns nil while the node of the key is unavailable
	obs      Observer
	inFlight atomic.Int64
}

// NewFleet returns a Fleet that stores the state of this process in local and
// reports events to obs. It connects in the background; until
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
	l := newLink(c, obs)
	f := &Fleet{config: c, local: local, link: l, server: l.server, obs: obs}
	f.link.running.Keep(l.ctx.Done(), "fleet: the connection", l.run)
	return f, nil
}

// Take implements Limiter.
func (f *Fleet) Take(ctx context.Context, now time.Time, uses []Use) Result {
	at := now.UnixMicro()
	if !f.link.up.Load() && len(uses) > 0 && f.server(f.name(uses[0].Key)) == nil {
		return f.takeFallback(at, uses)
	}
	if len(uses) == 1 && uses[0].Limits != nil { // faster, for requests that this process refuses
		a, _ := f.local.lookUp(at, uses[0].Key, uses[0].Limits)
		if r := uses[0].Limits.earliest(at, &a).result(at); !r.OK {
			f.obs.FleetRefusal(engineLocal)
			return r
		}
	}
	var all [MaxUses]budget
	list, stored := f.lookUp(at, uses, all[:0])
	r := decide(at, list)
	if !r.OK {
		f.obs.FleetRefusal(engineLocal)
	}
	if !r.OK || !stored {
		return r
	}
	return f.takeRemote(ctx, f.newCall(at, uses, list), uses)
}

// lookUp appends to list the budgets of uses, with the states that this process
// knows. stored reports whether the server stores one of them.
func (f *Fleet) lookUp(now int64, uses []Use, list []budget) (_ []budget, stored bool) {
	for i, u := range uses[:min(len(uses), MaxUses)] {
		if u.Limits == nil {
			continue
		}
		b := budget{limits: u.Limits, use: i}
		b.arrivals, b.known = f.local.lookUp(now, u.Key, u.Limits)
		list, stored = append(list, b), stored || len(u.Limits.limits) > 0
	}
	return list, stored
}

// newCall returns a call of the script for a copy of the budgets of uses.
func (f *Fleet) newCall(now int64, uses []Use, list []budget) scriptCall {
	q := scriptCall{now: now, injected: f.config.injected, budgets: slices.Clone(list)}
	for i := range list {
		k := uses[list[i].use].Key
		q.apart = q.apart || k.In(uses[0].Key) != k
		q.keys = append(q.keys, f.name(k))
	}
	return q
}

// update stores the states that the script has returned.
func (f *Fleet) update(q scriptCall, uses []Use) {
	for i := range q.budgets {
		if b := &q.budgets[i]; len(b.limits.limits) > 0 {
			f.local.update(q.now, uses[b.use].Key, b.limits, &b.arrivals, q.back)
		}
	}
}

// takeRemote calls the server for a request that this process would accept by the
// state that it knows.
func (f *Fleet) takeRemote(ctx context.Context, q scriptCall, uses []Use) Result {
	ok, err := f.call(ctx, q)
	if err != nil {
		return f.takeFallback(q.now, uses)
	}
	f.update(q, uses)
	if ok {
		return Result{OK: true}
	}
	f.obs.FleetRefusal(engineRemote)
	r := decide(q.now, q.budgets)
	r.OK = false
	return r
}

// takeFallback decides on a request without the server.
func (f *Fleet) takeFallback(now int64, uses []Use) Result {
	f.obs.FleetFallback()
	var slower [MaxUses]Use
	n := copy(slower[:], uses)
	for i := range n {
		slower[i].Limits = slower[i].Limits.slower(f.config.Instances)
	}
	r := f.local.take(now, slower[:n])
	if !r.OK {
		f.obs.FleetRefusal(engineFallback)
	}
	return r
}

// giveBack implements giver. It waits for the server, but not longer than a
// request does. Other processes may know the state from before, and refuse
// requests until that state accepts one.
func (f *Fleet) giveBack(now, at int64, uses []Use) bool {
	list, _ := f.lookUp(now, uses, nil)
	q := f.newCall(now, uses, list)
	q.after, q.back = at-now, true
	if ok, err := f.call(context.Background(), q); err != nil || !ok {
		return false
	}
	f.update(q, uses)
	return true
}

// call calls the server. It returns an error at once if the server is
// unavailable.
func (f *Fleet) call(ctx context.Context, q scriptCall) (ok bool, err error) {
	server := f.server(q.keys[0])
	n, real := server.(*node)
	if server == nil || q.apart && !(real && n.alone) {
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
	if err != nil {
		if real {
			f.link.fail(n, err)
		}
		return false, err
	}
	if real {
		n.clearMisses()
	}
	return ok, nil
}

// Peek implements Limiter. It does not call the server.
func (f *Fleet) Peek(now time.Time, k Key, t *Limits) (r Result, used bool) {
	return f.local.Peek(now, k, t)
}

// Forget implements Limiter. It always resets the budget in this process, and
// waits for the server at most two seconds. An error means that the server may
// still have the budget.
//
// Other processes keep the state that they received last. So they may go on
// refusing requests until that state accepts one, and their next call can
// bring the state back to the server.
func (f *Fleet) Forget(ctx context.Context, now time.Time, k Key) error {
	_ = f.local.Forget(ctx, now, k)
	s, ok := f.server(f.name(k)).(*node)
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

var _, _ Limiter = (*Memory)(nil), (*Fleet)(nil)
