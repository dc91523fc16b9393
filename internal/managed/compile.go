package managed

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Lines is a Policy compiled for a registry: it has the crawlers that the
// policy applies to, and the statements for each. It is immutable and safe for
// concurrent use.
type Lines struct {
	policy   Policy // without presets
	registry *crawler.Registry
	covers   []cover                       // by crawler.Crawler.Index
	byFirst  map[string][]*crawler.Crawler // by the first token of the crawlers, in lower case
}

// cover has the statements of a policy for one crawler: those with its name,
// and those with its name or, unless an `allow` names it, its purpose. If a site's file has
// a group for the crawler, only statements with its name count.
type cover struct {
	named, both terms
	byPurpose   bool // there is a statement with its purpose
}

// terms are the combined statements for a crawler.
type terms struct {
	line  int           // of the first statement, or of the one that denies the whole site
	all   bool          // the whole site is denied
	paths []robots.Rule // denied paths, with the lines of their statements
}

// any reports whether there is a statement.
func (t *terms) any() bool { return t.all || len(t.paths) > 0 }

// A StatementError is an error in one statement of a policy.
type StatementError struct {
	Line    int // of the configuration; 0 if there is none
	Message string
	// UnknownName reports that the registry does not have the crawler or the
	// purpose that the statement names. A newer registry may have it.
	UnknownName bool
}

// Error returns the message with the line.
func (e *StatementError) Error() string {
	if e.Line == 0 {
		return "policy: " + e.Message
	}
	return fmt.Sprintf("policy, line %d: %s", e.Line, e.Message)
}

// Compile checks a policy and compiles it for a registry. The error is the
// *StatementError of the first wrong statement. If only names are unknown (see
// StatementError.UnknownName), Compile also returns Lines, which ignore these
// names. With any other error, it returns nil in place of Lines.
func (p Policy) Compile(registry *crawler.Registry) (*Lines, error) {
	l := &Lines{policy: p.expand(), registry: registry, byFirst: map[string][]*crawler.Crawler{}}
	c := &compiler{Lines: l, given: p}
	c.check()
	for row := range registry.All() {
		key := strings.ToLower(first(row))
		l.byFirst[key] = append(l.byFirst[key], row)
		l.covers = append(l.covers, l.cover(row))
	}
	c.checkCovers()
	switch {
	case c.wrong != nil:
		return nil, c.wrong
	case c.unknown != nil:
		return l, c.unknown
	}
	return l, nil
}

// Additions compiles a policy for an engine: it is a value for
// judge.Settings.Edit. With an error about unknown names only, it also
// returns Additions.
func (p *Policy) Additions(registry *crawler.Registry) (*judge.Additions, error) {
	lines, err := p.Compile(registry)
	if lines == nil {
		return nil, err
	}
	a := &judge.Additions{File: p.File, Layer: Layer, HiddenReason: HiddenReason, HiddenLayer: HiddenLayer}
	for _, h := range p.Hidden {
		for _, path := range h.Paths {
			a.Hidden = append(a.Hidden, robots.Rule{Pattern: path, Line: h.Line})
		}
	}
	if p.Publishes() {
		a.Merge = func(file []byte, settings *judge.Settings) (judge.Merged, error) {
			m, err := lines.Merge(file, settings)
			if err != nil {
				return nil, err
			}
			return m, nil
		}
	}
	return a, err
}

// ContentUsage returns the Content-Usage preferences as the value of a header field,
// or "" if there are none.
func (p *Policy) ContentUsage() string {
	all := p.expand()
	return strings.Join(slices.Concat(words.Map(all.Usage, func(s Statement) []string { return s.Values })...), ", ")
}

// cover returns the statements for a crawler. It skips unknown names.
func (l *Lines) cover(row *crawler.Crawler) (cv cover) {
	isAllowed := slices.ContainsFunc(l.policy.Allow, func(a Statement) bool {
		byName, _ := judge.Lists(l.registry, a.Values, row)
		return byName
	})
	for _, d := range l.policy.Deny {
		byName, byPurpose := judge.Lists(l.registry, d.Values, row)
		cv.byPurpose = cv.byPurpose || byPurpose
		if byName {
			cv.named.addDeny(d)
		}
		if byName || byPurpose && !isAllowed {
			cv.both.addDeny(d)
		}
	}
	return cv
}

// addDeny adds a `deny`. It removes each `*` at the end of a path: a rule applies
// to all paths that start with its path, and parsers that do not support `*`
// would not match it.
func (t *terms) addDeny(d Statement) {
	isWhole := len(d.Paths) == 0 && !t.all
	if isWhole || !t.any() {
		t.all, t.line = t.all || isWhole, d.Line
	}
	for _, p := range d.Paths {
		pattern := cmp.Or(strings.TrimRight(p, "*"), "/")
		if !slices.ContainsFunc(t.paths, func(o robots.Rule) bool { return o.Pattern == pattern }) {
			t.paths = append(t.paths, robots.Rule{Pattern: pattern, Line: d.Line})
		}
	}
}

// compiler checks and compiles a policy.
type compiler struct {
	*Lines
	given   Policy          // as written
	wrong   *StatementError // the first one; nil without
	unknown *StatementError // the first one with UnknownName
}

func (c *compiler) errorf(line int, format string, args ...any) {
	if c.wrong == nil {
		c.wrong = &StatementError{Line: line, Message: fmt.Sprintf(format, args...)}
	}
}
