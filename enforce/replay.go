package enforce

import (
	"context"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Replay decides on requests of the past, such as those of an access log, as an
// Engine would have decided on them: by the policies that it is given, at the
// times that the requests have. It never waits, and starts nothing. What a
// request may have to wait for, where the operator has requests held, counts as
// waited for.
//
// Its methods are not safe for concurrent use.
type Replay struct {
	engine *Engine
}

// replayEntries is how many budgets, and how many readers of robots.txt, a
// Replay remembers.
const replayEntries = 100_000

// NewReplay returns a Replay under rules. The error names what is wrong with
// them.
func NewReplay(rules Rules) (*Replay, error) {
	compiled, err := rules.compile()
	if err != nil {
		return nil, err
	}
	limiter := &replayLimiter{throttle.NewMemory(replayEntries), rules.Wait}
	waiters := throttle.NewWaiters(0)
	waiters.Close()
	return &Replay{&Engine{rules: compiled, limiter: limiter, waiters: waiters, readers: NewRecent(replayEntries), visits: NewVisits(replayEntries)}}, nil
}

// Policy returns the policy that an answer of a source is under the rules.
func (r *Replay) Policy(resp Response) *Policy { return r.engine.rules.answer(resp) }

// Decide decides on a request by a policy of the same Replay, without regard to
// pace, and writes the decision to d. Requests are given in order of time, as
// far as that is known.
func (r *Replay) Decide(policy *Policy, req *Request, d *Decision) {
	if IsRobotsTxt(req.Target) {
		*d = Decision{}
		r.engine.passRobotsTxt(policy, req, d)
		return
	}
	policy.check(req, r.engine, nil, d)
}

// Paced reports whether a decision depends on the pace of the crawler: then
// Pace has the last word.
func (d *Decision) Paced() bool { return d.Action == Pass && d.Terms != nil }

// Pace holds a request that Decide let through to the pace that its crawler may
// have, and makes d a refusal where it came too soon.
func (r *Replay) Pace(req *Request, d *Decision) {
	if d.Paced() {
		r.engine.pace(context.Background(), req, d)
	}
}

// Budget returns the key of the crawler's budget that a request draws on.
func (r *Replay) Budget(req *Request, d *Decision) throttle.Key {
	return r.engine.budget(req, &d.Agent, 0)
}

// replayLimiter grants what a request could wait for, without waiting.
type replayLimiter struct {
	*throttle.Memory
	wait time.Duration
}

// Take implements throttle.Limiter.
func (l *replayLimiter) Take(ctx context.Context, now time.Time, k throttle.Key, t *throttle.Terms, _ time.Duration) throttle.Result {
	return l.Memory.Take(ctx, now, k, t, l.wait)
}
