package throttle

import (
	"context"
	"encoding/hex"
	"sync/atomic"
	"time"
)

// maxInFlight is how many requests wait for the server at a time. It is less
// than the client's queue, so that a hanging server never blocks on it.
const maxInFlight = 256

// maxTries is how often a request asks for a later place when others were
// faster.
const maxTries = 3

// Fleet is the engine that shares budgets among processes, through Redis or
// Valkey. Its methods are safe for concurrent use.
//
// Each process keeps the last known state of a key's budget in its Memory. A
// request that this state refuses is refused without a round trip: the fleet's
// budget can only have become smaller since. Others are decided by a script in
// the server, by the server's clock, in one round trip on one key, and the
// process remembers the state that it answers with. So a crawler costs each
// process one round trip per interval, however many requests it sends.
//
// Clocks need not agree, neither those of the processes nor those of a
// cluster's nodes: times are converted between the clocks of a process and a
// server with each request. Visit-time windows use the clock of the process.
//
// A request waits for the server for FleetConfig.Deadline at most. After three
// missed deadlines or one broken connection, the server counts as unavailable,
// and no request waits for it: each process decides alone, with its intervals
// multiplied by FleetConfig.Instances and the burst divided by it. When this
// begins, each process may exceed the budget by its part of the burst, which is
// one request for a Crawl-delay. The server is probed in the background, and
// used again as soon as it answers. With its next request for a key, each
// process then reports what it accepted in the meantime. So a restarted server
// gets back all that a process remembers.
type Fleet struct {
	config   FleetConfig
	local    *Memory
	link     *link
	server   func() server // nil while it is away
	obs      Observer
	inFlight atomic.Int64
}

// NewFleet returns an engine that remembers in local and tells obs, which may
// be nil. It connects in the background: until then it decides as if the server
// were unavailable. The error says what is wrong with c.
//
// The budgets outlive the Fleet: those that the process knows are in local, and
// all are in the server. So if the configuration has changed, such as its
// password, make a new Fleet with the same Memory, and Close the old one.
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
	f.link.runs.Go(f.link.run)
	return f, nil
}

// Take implements Limiter.
func (f *Fleet) Take(ctx context.Context, now time.Time, k Key, t *Terms, maxWait time.Duration) Result {
	if t == nil {
		return Result{OK: true}
	}
	maxWait = max(0, min(maxWait, MaxWait))
	at := now.UnixMicro()
	a, seen := f.local.recall(at, k, t)
	v := t.earliest(at, &a)
	if v.wait(at) > maxWait {
		f.obs.FleetRefusal(EngineLocal)
		return v.refusal(at)
	}
	if t.n == 0 {
		return v.acceptance(at)
	}
	q := question{key: f.name(k), now: at, injected: f.config.injected, terms: t, known: &a, seen: seen}
	return f.together(ctx, now, k, q, maxWait, v)
}

// together asks the server for a request that this process would accept for
// v's instant, by what it knows.
func (f *Fleet) together(ctx context.Context, now time.Time, k Key, q question, maxWait time.Duration, v verdict) Result {
	for try := 1; ; try++ {
		q.hold = v.at - q.now
		reply, err := f.ask(ctx, q)
		if err != nil {
			return f.alone(now, k, q.terms, maxWait)
		}
		f.local.learn(q.now, k, q.terms, &reply.arrivals)
		if reply.ok {
			return v.acceptance(q.now)
		}
		v = q.terms.earliest(q.now, &reply.arrivals)
		if v.wait(q.now) > maxWait || try == maxTries {
			f.obs.FleetRefusal(EngineRemote)
			return v.refusal(q.now)
		}
		q.known, q.seen = &reply.arrivals, true
	}
}

// alone decides a request without the server.
func (f *Fleet) alone(now time.Time, k Key, t *Terms, maxWait time.Duration) Result {
	f.obs.FleetFallback()
	r := f.local.Take(context.Background(), now, k, t.shared(f.config.Instances), maxWait)
	if !r.OK {
		f.obs.FleetRefusal(EngineFallback)
	}
	return r
}

// ask asks the server.
func (f *Fleet) ask(ctx context.Context, q question) (answer, error) {
	server := f.server()
	if server == nil {
		return answer{}, errDown
	}
	if f.inFlight.Add(1) > maxInFlight {
		f.inFlight.Add(-1)
		return answer{}, errBusy
	}
	defer f.inFlight.Add(-1)

	if !q.injected {
		q.slack = f.config.slack()
	}
	asking, cancel := context.WithTimeout(ctx, f.config.Deadline)
	defer cancel()
	start := time.Now()
	reply, err := server.ask(asking, q)
	if err != nil && ctx.Err() != nil {
		return answer{}, err // the client went away, not the server
	}
	f.obs.FleetCall(time.Since(start), explain(err))
	if err != nil {
		f.link.fail(q.key, err)
		return answer{}, err
	}
	f.link.answered()
	return reply, nil
}

// name returns the name of k in the server.
func (f *Fleet) name(k Key) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(k[i/8] >> (56 - i%8*8))
	}
	return f.config.Prefix + hex.EncodeToString(b[:])
}

// Close implements Limiter. It closes all connections without waiting for the
// server, and leaves the Memory as it is; f decides alone from then on. The
// Observer is not called for connections after Close has returned.
func (f *Fleet) Close() error {
	f.link.close()
	return nil
}
