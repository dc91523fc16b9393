package enforce

import (
	"os"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/robots"
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

// fileState says which file of a file system was read.
type fileState struct {
	info  os.FileInfo
	quiet bool // nobody has written to it for quietFile
}

// replaces reports whether another file is in the place of before, as after a
// rename. A file that is written again is the same one.
func (f *fileState) replaces(before *fileState) bool {
	return f != nil && before != nil && !os.SameFile(f.info, before.info)
}

// hold reports whether the version that a fetch has found must be read again before
// it counts. sure is set if the operator asked for this fetch.
func (p *Origins) hold(e *entry, found content, resp Response, sure bool) bool {
	e.mu.Lock()
	before, good, h := e.rules.Load(), e.good, e.held
	e.mu.Unlock()
	if !good.at.IsZero() && (before == nil || before.denyAll) {
		before = p.compile(good.content)
	}
	if before == nil || before.state == Failed || resp.Whole {
		return false
	}
	rules, wait := p.compile(found), secondRead
	key := rules.allRules()
	switch replaced := len(found.body) > 0 && resp.file.replaces(good.file); {
	case key == before.allRules():
		return false
	case replaced && resp.file.quiet:
		return false
	case sure && (len(found.body) == 0 || !found.breaksOff()):
		return false
	case replaced:
		wait = quietFile
	}
	if !found.breaksOff() && !rules.shutsOut(before) && !diff.AllowsMore(before.file, rules.file, Comparable(rules.settings.Registry)...) {
		return false
	}
	now := p.cfg.Now()
	next := candidate{rules: key, found: found.key(), from: e.lastFetch.Load(), since: now, due: now.Add(wait)}
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
			next.found = found.key()
		}
	}
	e.mu.Lock()
	e.held = &next
	e.mu.Unlock()
	return true
}

// keep ends a fetch whose result is held: what is in force stays in force.
func (p *Origins) keep(e *entry, ev FetchEvent, now time.Time) FetchEvent {
	ev.Rules, ev.Held, ev.Kept = e.rules.Load(), true, true
	e.mu.Lock()
	e.failures, e.tried = 0, true
	if ev.Rules.state != Failed {
		e.last, e.err = ev.Rules.state, nil
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

// isGood reports whether it is an answer that says what the rules are.
func (c *content) isGood() bool {
	return c.state == Loaded || c.state == Missing
}

// breaksOff reports whether a file ends within a line, or is empty, as if it is
// being written.
func (c *content) breaksOff() bool {
	n := len(c.body)
	return c.state == Loaded && n <= robots.MaxSize && (n == 0 || c.body[n-1] != '\n' && c.body[n-1] != '\r')
}

// shutsOut reports whether p disallows / to all crawlers or to a search engine, and
// before does not.
func (p *Rules) shutsOut(before *Rules) bool {
	shut := func(g, old *robots.Group) bool { return !g.Match("/").Allowed && old.Match("/").Allowed }
	if shut(p.file.Star(), before.file.Star()) {
		return true
	}
	for row := range p.settings.Registry.All() {
		if row.CountsAs(crawler.Search) && !row.ControlOnly && shut(p.file.Group(row.Robots...), before.file.Group(row.Robots...)) {
			return true
		}
	}
	return false
}

// Comparable returns the crawlers of a registry that a comparison of files must know:
// those that obey the group of another crawler or not the group for `*`, and those
// that read the file with google/robotstxt.
func Comparable(registry *crawler.Registry) (list []diff.Crawler) {
	for row := range registry.All() {
		if ignores := row.Star == crawler.No; ignores || len(row.Robots) > 1 || row.ReadsGoogle {
			list = append(list, diff.Crawler{Tokens: row.Robots, IgnoresStar: ignores, ReadsGoogle: row.ReadsGoogle})
		}
	}
	return list
}
