package enforce

import (
	"context"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/origins"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Replay decides on past requests, such as those of an access log, as an Engine
// would have decided at that time. The caller supplies the editions of the
// robots.txt. A Replay never waits, and starts no goroutine.
//
// Its methods are not safe for concurrent use.
type Replay struct {
	engine *Engine
}

// replayEntries is how many budgets, unverified claims and visitors a Replay
// remembers, each.
const replayEntries = 100_000

// NewReplay returns a Replay that decides by rules. An error says what is wrong
// with rules.
func NewReplay(settings judge.Settings) (*Replay, error) {
	compiled, err := settings.Compile()
	if err != nil {
		return nil, err
	}
	limiter, memory := throttle.NewMemory(replayEntries), NewMemory(replayEntries, replayEntries)
	return &Replay{&Engine{pacer: newPacer(compiled, limiter, memory, nil)}}, nil
}

// Edition is a robots.txt in a Replay: the version that was in force from a
// time, with the earlier ones (see Version) that crawlers may still follow.
type Edition struct{ history *origins.History }

// earlier returns the history of the edition. e may be nil.
func (e *Edition) earlier() *origins.History {
	if e == nil {
		return nil
	}
	return e.history
}

// Rules returns the rules of the edition.
func (e *Edition) Rules() *judge.Rules { return e.history.Current }

// Edition compiles a source's answer to an edition that is in force from a time
// on. before is the edition of the same Replay that it replaces. For the first
// edition, before is nil and from is the zero time.
func (r *Replay) Edition(resp judge.Response, from time.Time, before *Edition) *Edition {
	c, _ := resp.Content(nil)
	at := int64(0)
	if !from.IsZero() {
		at = from.UnixNano()
	}
	var h *origins.History
	if before != nil {
		h = before.history
	}
	return &Edition{h.Next(r.engine.settings.RulesOf(c), at)}
}

// Decide decides on a request by an edition of the same Replay, and writes the
// decision to d. It ignores rate limits and Visit-time; see Pace. The caller
// must pass requests in the order of their times, as far as this order is
// known.
func (r *Replay) Decide(edition *Edition, req *judge.Request, d *judge.Decision) {
	r.engine.edition = edition
	r.engine.Decide(context.Background(), req, d)
}

// RobotsRead records that a GET of /robots.txt was answered with status 200 or
// 304, like Engine.RobotsRead.
func (r *Replay) RobotsRead(edition *Edition, req *judge.Request) {
	r.engine.edition = edition
	r.engine.RobotsRead(req, edition.Rules(), 0)
}

// Pace applies the rate limits, Visit-time and the budgets of steps to a request that Decide
// let through. If they don't allow the request, d becomes a decision to throttle.
func (r *Replay) Pace(req *judge.Request, d *judge.Decision, more []Use) {
	if d.Paced() {
		r.engine.take(context.Background(), req, d, more)
	}
}
