package robots

import (
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/robots/internal/pattern"
)

// ruleset is a list of rules and their compiled matchers.
type ruleset struct {
	dialect Dialect
	rules   []Rule
	matcher *matcher
	served  *matcher                // for paths as served; usually the same as matcher
	folded  atomic.Pointer[matcher] // for paths as served, ignoring case; compiled when it is first used
}

// reading selects the matcher for a view of a target.
type reading uint8

const (
	asRequested reading = iota
	asServed
	asServedFolded
)

func newRuleset(d Dialect, rules []Rule) *ruleset {
	s := &ruleset{dialect: d, rules: rules}
	sources := s.sources()
	s.matcher = compileRules(d, false, sources)
	s.served = s.matcher
	if all := s.withServed(sources); len(all) > len(sources) {
		s.served = compileRules(d, false, all)
	}
	return s
}

// sources returns the patterns of the rules. A rule may have two.
func (s *ruleset) sources() []source {
	sources := make([]source, 0, len(s.rules)+1)
	for i, r := range s.rules {
		sources = append(sources, source{pattern: r.Pattern, rule: i, allow: r.Allow})
		if s.dialect == Google && r.Allow {
			if folder, ok := pattern.IndexFolder(r.Pattern); ok {
				sources = append(sources, source{pattern: folder, rule: i, allow: true})
			}
		}
	}
	return sources
}

// withServed adds a second pattern for each Allow rule with a part that a path
// as served never has, such as `//` or %2F: the pattern as served. Without it,
// a path that the rule allows as requested would be disallowed as served, since
// the rule would not match there. Disallow rules get no second pattern: a rule
// for `/*//` must not become a rule for every path with a slash.
func (s *ruleset) withServed(sources []source) []source {
	n := len(sources)
	for _, src := range sources[:n] {
		if !src.allow {
			continue
		}
		if as, ok := pattern.Served(src.pattern); ok {
			if p, ok := pattern.Compile(src.pattern, s.dialect.Syntax(), false); ok {
				src.pattern, src.octets = as, p.Octets
				sources = append(sources, src)
			}
		}
	}
	return sources
}

// fold returns the matcher for paths as served that ignores case.
func (s *ruleset) fold() *matcher {
	if m := s.folded.Load(); m != nil {
		return m
	}
	s.folded.CompareAndSwap(nil, compileRules(s.dialect, true, s.withServed(s.sources())))
	return s.folded.Load()
}

// decide returns the rule of the set that decides on t, and its rank. It
// returns nil and 0 if none matches.
func (s *ruleset) decide(t *subject, as reading) (*Rule, uint32) {
	m := s.matcher
	switch as {
	case asServed:
		m = s.served
	case asServedFolded:
		m = s.fold()
	}
	w := m.match(t)
	if w.rank == 0 {
		return nil, 0
	}
	return &s.rules[w.rule], w.rank
}

// decide returns the rule of all sets that decides on t, nil if none matches.
func decide(sets []*ruleset, t *subject, as reading) *Rule {
	best, top := sets[0].decide(t, as)
	for _, set := range sets[1:] {
		r, rank := set.decide(t, as)
		if set.dialect.firstMatch() {
			// Ranks of different sets are not comparable in these dialects.
			if r != nil && (best == nil || r.Line < best.Line) {
				best = r
			}
		} else if rank > top {
			best, top = r, rank
		}
	}
	return best
}
