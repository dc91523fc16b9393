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

// Edition compiles a source's answer to an edition: the version that is in force from a
// time on, with the earlier ones that crawlers may still follow. before is the edition of
// the same Replay that it replaces. For the first edition, before is nil and from is the
// zero time.
func (r *Replay) Edition(resp judge.Response, from time.Time, before *origins.History) *origins.History {
	c, _ := resp.Content(nil)
	at := int64(0)
	if !from.IsZero() {
		at = from.UnixNano()
	}
	return before.Next(r.engine.settings.RulesOf(c), at)
}

// Decide decides on a request by an edition of the same Replay, and writes the
// decision to d. It ignores rate limits and Visit-time; see Pace. The caller
// must pass requests in the order of their times, as far as this order is
// known.
func (r *Replay) Decide(edition *origins.History, req *judge.Request, d *judge.Decision) {
	r.engine.edition = edition
	r.engine.Decide(context.Background(), req, d)
}

// RobotsRead records that a GET of /robots.txt was answered with status 200 or
// 304, like Engine.RobotsRead.
func (r *Replay) RobotsRead(edition *origins.History, req *judge.Request) {
	r.engine.edition = edition
	r.engine.RobotsRead(req, edition.Current, 0)
}

// Pace applies the rate limits, Visit-time and the budgets of steps to a request that Decide
// let through. If they don't allow the request, d becomes a decision to throttle.
func (r *Replay) Pace(req *judge.Request, d *judge.Decision, more []Use) {
	if d.Paced() {
		r.engine.take(context.Background(), req, d, more)
	}
}
