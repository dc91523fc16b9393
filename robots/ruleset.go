package robots

import (
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/internal/heapsize"
	"github.com/caddy-robots/caddy-robots/robots/internal/pattern"
)

// ruleset is a list of rules and their compiled matchers. The matchers of a short
// list are compiled when they are first used, which takes a millisecond at most for
// real files: most groups of most files are never used.
type ruleset struct {
	file   *File
	rules  []ruleLine
	same   *ruleset                // the list with the same rules that has the matchers; nil if it is this one
	first  atomic.Pointer[matcher] // see matcher
	folded atomic.Pointer[matcher] // for paths as served, ignoring case; compiled when it is first used
	octets heapsize.Later          // of the matchers, compiled or not
}

// ruleLine is a Rule of a file, in fewer octets.
type ruleLine struct {
	from, to uint32 // the pattern in the text of the file
	line     uint32 // four times its number, plus allowLine and noindexLine
}

const (
	allowLine   = 1
	noindexLine = 2
)

func newRuleLine(from int, pattern string, number int, flags uint32) ruleLine {
	return ruleLine{uint32(from), uint32(from + len(pattern)), uint32(number)<<2 | flags}
}

func (r ruleLine) rule(f *File) Rule {
	return Rule{Pattern: f.text[r.from:r.to], Line: r.number(), Allow: r.allow(), noindex: r.line&noindexLine != 0}
}

func (r ruleLine) number() int { return int(r.line >> 2) }

func (r ruleLine) allow() bool { return r.line&allowLine != 0 }

// A list is short, and compiled when it is first used, up to maxLater rules in
// maxLaterSize octets of the file.
const (
	maxLater     = 1000
	maxLaterSize = 64 << 10
)

// reading selects the matcher for a view of a target.
type reading uint8

const (
	asRequested reading = iota
	asServed
	asServedFolded
)

func newRuleset(f *File, rules []ruleLine) *ruleset {
	s := &ruleset{file: f, rules: rules}
	if s.octets = estimate(len(rules)); len(rules) > maxLater || rules[len(rules)-1].to-rules[0].from > maxLaterSize {
		m := s.matcher()
		if s.octets = heapsize.Later(heapsize.Of(m)); m.text == f.text {
			s.octets -= heapsize.Later(heapsize.Of(f.text))
		}
	}
	return s
}

// estimate returns about what the matcher of n rules takes, as measured with the files
// of 150 sites.
func estimate(n int) heapsize.Later { return heapsize.Later(96 + 72*n) }

// matcher returns the matcher for paths as requested. Its field served is the one
// for paths as served, if that is another one.
func (s *ruleset) matcher() *matcher {
	if m := s.first.Load(); m != nil {
		return m
	}
	return s.compile()
}

func (s *ruleset) compile() *matcher {
	if s.same != nil {
		s.first.Store(s.same.matcher())
		return s.first.Load()
	}
	sources := s.sources()
	m := compileRules(s.file, false, sources)
	if all := s.withServed(sources); len(all) > len(sources) {
		m.served = compileRules(s.file, false, all)
	}
	s.first.CompareAndSwap(nil, m)
	return s.first.Load()
}

// sources returns the patterns of the rules. A rule may have two.
func (s *ruleset) sources() []source {
	sources := make([]source, 0, len(s.rules)+1)
	for i, line := range s.rules {
		r := line.rule(s.file)
		sources = append(sources, source{pattern: r.Pattern, from: line.from, rule: i, allow: r.Allow})
		if s.file.dialect == Google && r.Allow {
			if folder, ok := pattern.IndexFolder(r.Pattern); ok {
				sources = append(sources, source{pattern: folder, from: line.from, rule: i, allow: true})
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
			if p, ok := pattern.Compile(src.pattern, s.file.dialect.Syntax(), false); ok {
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
	s.folded.CompareAndSwap(nil, compileRules(s.file, true, s.withServed(s.sources())))
	return s.folded.Load()
}

// decide returns the rule of the set that decides on t, as an index. Its rank is 0
// if none matches.
func (s *ruleset) decide(t *subject, as reading) winner {
	m := s.matcher()
	switch {
	case as == asServed && m.served != nil:
		m = m.served
	case as == asServedFolded:
		m = s.fold()
	}
	return m.match(t)
}

// decide returns the verdict of all sets on t. It is Allowed if no rule matches.
func decide(sets []*ruleset, t *subject, as reading) Verdict {
	set := sets[0]
	best := set.decide(t, as)
	for _, other := range sets[1:] {
		w := other.decide(t, as)
		better := w.rank > best.rank
		if set.file.dialect.firstMatch() && w.rank > 0 && best.rank > 0 {
			// Ranks of different sets are not comparable in these dialects.
			better = other.rules[w.rule].number() < set.rules[best.rule].number()
		}
		if better {
			set, best = other, w
		}
	}
	if best.rank == 0 {
		return Verdict{Allowed: true}
	}
	return Verdict{best.rank&1 == 1, set, best.rule}
}
