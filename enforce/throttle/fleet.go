package throttle

import (
	"context"
	"encoding/hex"
	"errors"
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
// Each process keeps what it has heard of a key's budget in its Memory. A
// request that is refused by that is refused, without a round trip: the
// fleet's budget can only have become smaller since. Others are decided by a
// script in the server, by the server's clock, in one round trip on one key,
// and the process remembers the state that it answers with. So a crawler costs
// each process one round trip an interval, however fast it comes.
//
// A request waits for the server for FleetConfig.Deadline at most. While the
// server is away or hangs, which three missed deadlines or one broken
// connection tell, nobody waits for it: each process decides by itself, with
// its intervals multiplied by FleetConfig.Instances and the burst divided by
// it. At the change each process may accept what its part of the burst
// allows, one request of a Crawl-delay, beyond the budget. The server is
// probed in the background, and used again as soon as it answers; what the
// processes accepted meanwhile is then brought to it with the next request of
// the same key, so that a restarted server forgets nothing that one of the
// processes remembers.
type Fleet struct {
	config   FleetConfig
	local    *Memory
	link     *link
	server   func() server // nil while it is away
	obs      Observer
	offset   atomic.Int64 // of the server's clock from ours, microseconds
	inFlight atomic.Int64
}

// NewFleet returns an engine that remembers in local and tells obs, which may
// be nil. It connects in the background: until then it is as if the server
// were away. The error tells what is wrong with c.
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
	return f, nil
}

// Take implements Limiter.
func (f *Fleet) Take(ctx context.Context, now time.Time, k Key, t *Terms, maxWait time.Duration) Result {
	if t == nil {
		return Result{OK: true}
	}
	maxWait = max(0, min(maxWait, MaxWait))
	at := now.UnixMicro() + f.offset.Load()
	a, seen := f.local.recall(at, k, t)
	v := t.earliest(at, &a)
	if v.wait(at) > maxWait {
		f.obs.FleetRefusal(EngineLocal)
		return v.refusal(at)
	}
	if t.n == 0 {
		return v.acceptance(at)
	}
	return f.together(ctx, now, k, t, maxWait, v, a, seen)
}

// together asks the server for a request that this process would accept for
// v's instant, by what it knows.
func (f *Fleet) together(ctx context.Context, now time.Time, k Key, t *Terms, maxWait time.Duration, v verdict, known arrivals, seen bool) Result {
	q := question{key: f.name(k), terms: t, known: &known, seen: seen}
	for try := 1; ; try++ {
		q.until = v.at
		reply, err := f.ask(ctx, now, q)
		if err != nil {
			return f.alone(now, k, t, maxWait)
		}
		f.local.learn(reply.now, k, t, &reply.arrivals)
		if reply.ok {
			v.at = max(reply.at, reply.now)
			return v.acceptance(reply.now)
		}
		v = t.earliest(reply.now, &reply.arrivals)
		if v.wait(reply.now) > maxWait || try == maxTries {
			f.obs.FleetRefusal(EngineRemote)
			return v.refusal(reply.now)
		}
		known, q.seen = reply.arrivals, true
	}
}

// alone decides a request without the server.
func (f *Fleet) alone(now time.Time, k Key, t *Terms, maxWait time.Duration) Result {
	f.obs.FleetFallback()
	r := f.local.Take(context.Background(), now.Add(time.Duration(f.offset.Load())*time.Microsecond), k, t.shared(f.config.Instances), maxWait)
	if !r.OK {
		f.obs.FleetRefusal(EngineFallback)
	}
	return r
}

var (
	errDown = errors.New("throttle: the server is away")
	errBusy = errors.New("throttle: too many requests wait for the server")
)

// ask asks the server for a request that may be held until the given instant.
func (f *Fleet) ask(ctx context.Context, now time.Time, q question) (answer, error) {
	server := f.server()
	if server == nil {
		return answer{}, errDown
	}
	if f.inFlight.Add(1) > maxInFlight {
		f.inFlight.Add(-1)
		return answer{}, errBusy
	}
	defer f.inFlight.Add(-1)

	if f.config.injected {
		q.clock = now.UnixMicro()
	} else if q.until <= now.UnixMicro()+f.offset.Load() {
		q.until = 0 // for now, whenever that is by the server's clock
	}
	asking, cancel := context.WithTimeout(ctx, f.config.Deadline)
	defer cancel()
	start := time.Now()
	reply, err := server.ask(asking, q)
	took := time.Since(start)
	if err != nil && ctx.Err() != nil {
		return answer{}, err // the client went away, not the server
	}
	f.obs.FleetCall(took, err)
	if err != nil {
		f.link.failed(err)
		return answer{}, err
	}
	f.link.answered()
	if !f.config.injected {
		f.setOffset(reply.now-start.UnixMicro(), took)
	}
	return reply, nil
}

// setOffset corrects the difference between the clocks. It can be told no
// better than to the time that the round trip took.
func (f *Fleet) setOffset(measured int64, took time.Duration) {
	measured -= took.Microseconds() / 2
	if off := measured - f.offset.Load(); off > took.Microseconds() || -off > took.Microseconds() {
		f.offset.Store(measured)
	}
}

// name returns the name of k in the server.
func (f *Fleet) name(k Key) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(k[i/8] >> (56 - i%8*8))
	}
	return f.config.Prefix + hex.EncodeToString(b[:])
}

// State returns whether f can ask its server.
func (f *Fleet) State() FleetState { return f.link.current() }

// Close implements Limiter. It does not wait for the server, and leaves the
// Memory as it is; f decides alone from then on.
func (f *Fleet) Close() error {
	f.link.close()
	return nil
}
