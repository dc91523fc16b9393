package origins

import (
	"os"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/robots/diff"
)

// A file that is being written looks like one that has lost its rules. So a new
// version that may be a part of one is read again before it counts: after secondRead
// and, if that read finds other rules, after thirdRead. Both are counted from the
// first read.
const (
	secondRead = time.Second
	thirdRead  = 10 * time.Second
	// quietFile is how long a file that took another one's place must not have been
	// written to count at once: it may have been renamed, or it may be made here.
	quietFile = 250 * time.Millisecond
)

// candidate is a new version of a file that does not count yet. Meanwhile the version
// before it stays in force.
type candidate struct {
	rules uint64    // allRules of its document
	found uint64    // the key of its content
	from  int64     // when the first fetch that found these rules began
	since time.Time // the first read
	due   time.Time // the next read that decides
	last  bool      // that one counts, whatever it finds
}

// replaces reports whether another file is in the place of before, as after a
// rename. A file that is written again is the same one.
func replaces(file, before os.FileInfo) bool {
	return file != nil && before != nil && !os.SameFile(file, before)
}

// hold reports whether the version that a fetch has found must be read again before
// it counts. sure is set if the operator asked for this fetch.
func (p *Table) hold(e *entry, found judge.Content, resp judge.Response, sure bool) bool {
	e.mu.Lock()
	before, good, h := e.rules.Load(), e.good, e.held
	e.mu.Unlock()
	if !good.at.IsZero() && (before == nil || before.Content().DenyAll) {
		before = p.settings.RulesOf(good.Content)
	}
	if before == nil || before.Content().Outcome == judge.Failed || resp.Whole {
		return false
	}
	rules, wait := p.settings.RulesOf(found), secondRead
	key := rules.AllLines()
	switch replaced := len(found.Body) > 0 && replaces(resp.File, good.file); {
	case key == before.AllLines():
		return false
	case replaced && resp.Quiet:
		return false
	case sure && (len(found.Body) == 0 || !found.BreaksOff()):
		return false
	case replaced:
		wait = quietFile
	}
	if !found.BreaksOff() && !rules.ShutsOut(before) &&
		!diff.AllowsMore(before.File(), rules.File(), judge.Comparable(p.settings.Registry)...) {
		return false
	}
	now := p.cfg.Now()
	next := candidate{rules: key, found: found.Key(), from: e.lastFetch.Load(), since: now, due: now.Add(wait)}
	if h != nil {
		decides := !now.Before(h.due)
		if decides && (h.last || h.rules == key) {
			return false
		}
		end := h.since.Add(thirdRead)
		if next.since = h.since; decides || next.due.After(end) {
			next.due, next.last = end, true
		}
		if h.rules == key {
			next = *h
			next.found = found.Key()
		}
	}
	e.mu.Lock()
	e.held = &next
	e.mu.Unlock()
	return true
}

// keep ends a fetch whose result is held: what is in force stays in force.
func (p *Table) keep(e *entry, ev FetchEvent, now time.Time) FetchEvent {
	ev.Rules, ev.Held = e.rules.Load(), true
	e.mu.Lock()
	e.failures, e.tried = 0, true
	if ev.Rules.Content().Outcome != judge.Failed {
		e.last, e.err = ev.Rules.Content().Outcome, nil
	}
	next := now.Add(p.cfg.Refresh)
	if e.held.due.Before(next) {
		next = e.held.due
	}
	e.nextFetch.Store(next.UnixNano())
	e.mu.Unlock()
	p.forgetEnded(e, now.UnixNano())
	p.cfg.Fetched(ev)
	return ev
}
