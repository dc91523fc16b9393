package origins

import (
	"iter"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// State is what is in force for an origin, and the state of its source.
type State struct {
	Origin   judge.Origin    // the zero Origin if one file serves all origins
	Rules    *judge.Rules    // the rules in force; never nil
	Last     judge.Outcome   // the outcome of the last fetch; Pending until the first one ends
	Err      error           // why the last fetch found no robots.txt; nil if it found one
	Good     time.Time       // when the source last answered with a robots.txt, or that there is none; zero if it never did
	Began    time.Time       // when the last fetch began; zero if there was none
	Next     time.Time       // the first request after this time causes another fetch; see also Config.Refresh
	Failing  time.Time       // when the first of the failed fetches in a row began; zero if the last one found what is in force
	Failures int             // how many of the latest fetches in a row failed
	Held     time.Time       // since when a new version is held, see Response.Whole; zero without
	Kept     bool            // Rules is a cached copy from an earlier fetch
	Invented bool            // a client may have invented the host; see Request.Invented
	Earlier  []judge.Version // versions that some crawlers may still follow, newest first
}

// States returns the states of the origins in p for which in returns true, or of all if it is
// nil, in no order. If one file serves all origins, they are one, the zero Origin.
func (p *Table) States(in func(judge.Origin) bool) iter.Seq[State] {
	return func(yield func(State) bool) {
		now := p.cfg.Now().UnixNano()
		for e := range p.table.all() {
			if (in == nil || in(e.origin)) && !yield(p.state(e, now)) {
				return
			}
		}
	}
}

// state returns the state of an entry at a time, in nanoseconds since 1970.
func (p *Table) state(e *entry, now int64) State {
	s := State{Origin: e.origin, Rules: e.rules.Load(), Last: judge.Pending, Invented: e.invented.Load()}
	if s.Rules == nil {
		s.Rules = p.pending
	}
	if at := e.lastFetch.Load(); at != 0 {
		s.Began, s.Next = time.Unix(0, at), time.Unix(0, e.nextFetch.Load())
	}
	if h := e.history.Load(); h != nil {
		for _, v := range h.Earlier {
			if !v.Ended(now) {
				s.Earlier = append(s.Earlier, v)
			}
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s.Err, s.Good, s.Failures = e.err, e.good.at, e.failures
	if e.held != nil {
		s.Held = e.held.since
	}
	if e.tried {
		s.Last = e.last
		s.Kept = s.Rules.Content().Outcome != e.last
	}
	if e.failures > 0 || e.last == judge.NotRobots || e.last == judge.Forbidden || e.last == judge.Redirected {
		s.Failing = e.failing
	}
	return s
}
