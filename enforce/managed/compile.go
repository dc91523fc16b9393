package managed

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
)

// Lines is a Policy compiled for a registry: which crawlers it covers, and
// which lines are for each. It does not change and is safe for concurrent use.
type Lines struct {
	policy   Policy // without presets
	registry *crawler.Registry
	beyond   []string
	covers   []*cover                      // by crawler.Crawler.Index; nil: not covered
	byFirst  map[string][]*crawler.Crawler // by the group that they obey first
}

// cover has the rules of a policy for one crawler: by its name, and by its name
// or its purpose. Where a site's file has a group for the crawler, only what is
// said by its name counts.
type cover struct {
	crawler     *crawler.Crawler
	named, both terms
}

// terms are the statements that a cover is made of.
type terms struct {
	line     int    // of the first statement; of the one that denies all
	all      bool   // the whole site is denied
	paths    []path // that are denied
	interval time.Duration
	delay    int // line of the delay
	said     bool
}

// path is a path that a statement denies.
type path struct {
	pattern string
	line    int
}

// A StatementError says what is wrong with a statement of a policy.
type StatementError struct {
	Line    int // of the configuration; 0 where there is none
	Message string
	// UnknownName is set where the statement names a crawler or a purpose that
	// the registry does not have. A registry that is read later may have it.
	UnknownName bool
}

// Error returns the message with its line.
func (e *StatementError) Error() string {
	if e.Line == 0 {
		return "policy: " + e.Message
	}
	return fmt.Sprintf("policy, line %d: %s", e.Line, e.Message)
}

// Compile checks a policy and makes it ready for a registry. The error joins
// a *StatementError for each statement that is wrong. Where all of them are
// about unknown names, the Lines are returned too, without these names.
func (p Policy) Compile(registry *crawler.Registry) (*Lines, error) {
	all, beyond := p.expand()
	c := compiler{registry: registry, given: p, policy: all, purposes: map[string]bool{}}
	for _, purpose := range Purposes(registry) {
		c.purposes[string(purpose)] = true
	}
	c.check()
	l := &Lines{policy: all, registry: registry, beyond: beyond, covers: make([]*cover, registry.Len()), byFirst: map[string][]*crawler.Crawler{}}
	for row := range registry.All() {
		key := lower(first(row))
		l.byFirst[key] = append(l.byFirst[key], row)
	}
	l.cover(&c)
	c.checkCovered(l)
	if c.fatal {
		return nil, c.err()
	}
	return l, c.err()
}

// Purposes returns the purposes that crawlers of a registry have, sorted.
func Purposes(registry *crawler.Registry) []crawler.Purpose {
	var list []crawler.Purpose
	for row := range registry.All() {
		if row.Purpose != "" {
			list = append(list, row.Purpose)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Beyond returns what the policy's presets can't prevent, one sentence for each
// case.
func (l *Lines) Beyond() []string { return l.beyond }

// Usage returns the Content-Usage preferences, as a header's value; "" if
// there are none.
func (l *Lines) Usage() string { return join(l.policy.Usage) }

// Hidden returns the hidden paths.
func (l *Lines) Hidden() []Hidden { return l.policy.Hidden }

// Publishes reports whether the policy has lines to publish.
func (l *Lines) Publishes() bool { return l.policy.Publishes() }

// cover finds the policy's rules for each crawler. Names that are unknown are
// skipped.
func (l *Lines) cover(c *compiler) {
	for row := range l.registry.All() {
		cv := cover{crawler: row}
		for _, d := range l.policy.Deny {
			byName, byPurpose := c.speaksOf(d.Crawlers, row)
			if byName {
				cv.named.deny(d)
			}
			if byName || byPurpose && !c.excepted(row) {
				cv.both.deny(d)
			}
		}
		for _, d := range l.policy.Delay {
			byName, byPurpose := c.speaksOf(d.Crawlers, row)
			if byName {
				cv.named.slow(d, true)
			}
			if byName || byPurpose {
				cv.both.slow(d, byName)
			}
		}
		if cv.both.said {
			l.covers[row.Index()] = &cv
		}
	}
}

// deny adds a Deny. A `*` at a path's end says nothing, since a rule holds for
// all that begins with its path, and readers that know no `*` would not match
// it.
func (t *terms) deny(d Deny) {
	if !t.said {
		t.said, t.line = true, d.Line
	}
	if len(d.Paths) == 0 && !t.all {
		t.all, t.line = true, d.Line
	}
	for _, p := range d.Paths {
		pattern := strings.TrimRight(p, "*")
		if pattern == "" {
			pattern = "/"
		}
		if !slices.ContainsFunc(t.paths, func(o path) bool { return o.pattern == pattern }) {
			t.paths = append(t.paths, path{pattern, d.Line})
		}
	}
}

// slow adds a Delay; one by name takes precedence over one by purpose.
func (t *terms) slow(d Delay, byName bool) {
	if !t.said {
		t.said, t.line = true, d.Line
	}
	if t.interval == 0 || byName {
		t.interval, _ = time.ParseDuration(d.Interval)
		t.delay = d.Line
	}
}

// compiler checks a policy.
type compiler struct {
	registry *crawler.Registry
	given    Policy // as written
	policy   Policy // with its presets expanded
	purposes map[string]bool
	errs     []error
	fatal    bool // some error is not about an unknown name
}

func (c *compiler) errorf(line int, format string, args ...any) {
	c.fatal = true
	c.errs = append(c.errs, &StatementError{Line: line, Message: fmt.Sprintf(format, args...)})
}

func (c *compiler) err() error { return errors.Join(c.errs...) }

// speaksOf reports whether a list of purposes and names has a crawler's name,
// and whether it has its purpose.
func (c *compiler) speaksOf(list []string, row *crawler.Crawler) (byName, byPurpose bool) {
	for _, s := range list {
		if c.purposes[s] {
			byPurpose = byPurpose || s == string(row.Purpose)
		} else if c.registry.Lookup(s) == row {
			byName = true
		}
	}
	return byName, byPurpose
}

// excepted reports whether `allow` names a crawler.
func (c *compiler) excepted(row *crawler.Crawler) bool {
	return slices.ContainsFunc(c.policy.Allow, func(a Allow) bool {
		return slices.ContainsFunc(a.Crawlers, func(name string) bool { return c.registry.Lookup(name) == row })
	})
}
