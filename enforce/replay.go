package enforce

import (
	"context"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Replay decides on requests of the past, such as those of an access log, as an
// Engine would have decided on them: by the editions of a robots.txt that it is
// given, at the times that the requests have. It never waits, and starts no
// goroutine. With Rules.Wait, a request that an Engine would hold counts as one
// that has waited.
//
// Its methods are not safe for concurrent use.
type Replay struct {
	engine *Engine
}

// replayEntries is how many budgets, readers of robots.txt and visitors a Replay
// remembers.
const replayEntries = 100_000

// NewReplay returns a Replay under rules. The error names what is wrong with
// them.
func NewReplay(rules Rules) (*Replay, error) {
	compiled, err := rules.compile()
	if err != nil {
		return nil, err
	}
	waiters := throttle.NewWaiters(0)
	waiters.Close()
	return &Replay{&Engine{
		rules:   compiled,
		limiter: &replayLimiter{throttle.NewMemory(replayEntries), rules.Wait},
		waiters: waiters,
		readers: NewRecent(replayEntries),
		visits:  NewVisits(replayEntries),
	}}, nil
}

// Edition is a robots.txt that was in force from a certain time on, with the
// editions before it.
type Edition struct{ history *history }

// Policy returns the policy made from the edition.
func (e *Edition) Policy() *Policy { return e.history.current }

// Edition returns the edition made from a source's answer under the rules, in
// force from the given time on. The first edition has the zero time. before is
// the edition that it replaced, of the same Replay; nil for none.
func (r *Replay) Edition(resp Response, from time.Time, before *Edition) *Edition {
	at := int64(0)
	if !from.IsZero() {
		at = from.UnixNano()
	}
	var h *history
	if before != nil {
		h = before.history
	}
	return &Edition{h.next(r.engine.rules.answer(resp), at)}
}

// Decide decides on a request by an edition of the same Replay, without regard
// to pace, and writes the decision to d. Requests are given in order of time, as
// far as that is known.
func (r *Replay) Decide(edition *Edition, req *Request, d *Decision) {
	policy := edition.Policy()
	if IsRobotsTxt(req.Target) {
		*d = Decision{}
		r.engine.passRobotsTxt(policy, req, d)
		return
	}
	r.engine.past = edition.history.earlier
	policy.check(req, r.engine, nil, d)
}

// RobotsRead notes that a GET of /robots.txt was answered with status 200 or
// 304, as Engine.RobotsRead does.
func (r *Replay) RobotsRead(edition *Edition, req *Request) {
	r.engine.robotsRead(req, edition.Policy(), req.Time.UnixNano())
}

// Paced reports whether a decision depends on the crawler's pace. If so, Pace
// makes the final decision.
func (d *Decision) Paced() bool { return d.Action == Pass && d.Terms != nil }

// Pace applies the crawler's pace to a request that Decide let through, and
// turns d into a refusal if the request came too soon.
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
