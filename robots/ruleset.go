package robots

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/caddy-robots/caddy-robots/internal/pattern"
)

// ruleset is a list of rules and their compiled matchers. The matchers of a short
// list are compiled when they are first used, which takes a millisecond at most for
// real files: most groups of most files are never used.
type ruleset struct {
	file   *File
	rules  []ruleLine
	first  atomic.Pointer[matcher] // does not ignore case
	folded atomic.Pointer[matcher] // ignores case; compiled when it is first used
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

func newRuleset(f *File, rules []ruleLine) *ruleset {
	s := &ruleset{file: f, rules: rules}
	if len(rules) > maxLater || rules[len(rules)-1].to-rules[0].from > maxLaterSize {
		s.compile()
	}
	return s
}

// matcher returns the matcher that does not ignore case.
func (s *ruleset) matcher() *matcher {
	if m := s.first.Load(); m != nil {
		return m
	}
	return s.compile()
}

func (s *ruleset) compile() *matcher {
	s.first.CompareAndSwap(nil, compileRules(s, false))
	return s.first.Load()
}

// fold returns the matcher that ignores case.
func (s *ruleset) fold() *matcher {
	if m := s.folded.Load(); m != nil {
		return m
	}
	s.folded.CompareAndSwap(nil, compileRules(s, true))
	return s.folded.Load()
}

// decision is the rule that decides on a target, and its set. Its rank is 0 if no
// rule matches.
type decision struct {
	winner
	set *ruleset
}

// decide returns the rule of all sets that decides on t. fold ignores case; t must
// then be in lower case.
func decide(sets []*ruleset, t *subject, fold bool) (best decision) {
	for i, set := range sets {
		m := set.matcher()
		if fold {
			m = set.fold()
		}
		if d := (decision{m.match(t), set}); i == 0 || d.over(&best) {
			best = d
		}
	}
	return best
}

// over reports whether the rule of d has precedence over that of another set.
func (d *decision) over(o *decision) bool {
	if d.set.file.dialect.firstMatch() && d.rank > 0 && o.rank > 0 {
		return d.line() < o.line() // ranks of different sets are not comparable in these dialects
	}
	return d.rank > o.rank
}

func (d *decision) line() int { return d.set.rules[d.rule].number() }

func (d *decision) allowed() bool { return d.rank == 0 || d.rank&1 == 1 }

func (d *decision) verdict() Verdict {
	if d.rank == 0 {
		return Verdict{Allowed: true}
	}
	return Verdict{d.allowed(), d.set, d.rule}
}

// decideViews returns the verdict on all views of a target. d decides on the target
// as requested, and allows it.
func decideViews(sets []*ruleset, v *Views, d decision) Verdict {
	verdict := d.verdict()
	sent := verdict
	google := sets[0].file.dialect == Google
	if google {
		v.addEscaped()
		if s, differs := v.sent(); differs {
			d = decide(sets, &s, false)
			if sent = d.verdict(); !sent.Allowed && !s.isRobots() {
				return sent
			}
		}
	}
	for i := 1; i < len(v.views); i++ { // the first one is as requested
		x := &v.views[i]
		if x.escaped && !google {
			continue
		}
		s := v.subject(x)
		d = decideView(sets, &s, x.fold, sent)
		if !d.allowed() {
			return d.verdict()
		}
		if verdict.set == nil {
			verdict = d.verdict()
		}
	}
	return verdict
}

// decideView returns the rule that decides on a view. sent is the verdict on the
// target as sent.
func decideView(sets []*ruleset, t *subject, fold bool, sent Verdict) decision {
	d := decide(sets, t, fold)
	if !d.allowed() && (t.isRobots() || sent.set != nil && sent.set.opens(sent.rule, t, fold, &d)) {
		return decision{}
	}
	return d
}

// variant is an Allow rule with a part that no path as served has, such as `//` or
// %2F. It has the pattern as served, and its length.
//
// Such a rule names one spelling of a path. If a target has this spelling, the
// rule also counts in the other views, with the length of the pattern as served:
// with `Disallow: /web/` and `Allow: /web/http://x.test/`, crawlers may request
// /web/http://x.test/a, though a back end may serve /web/http:/x.test/a. For all
// other spellings the rule has no effect.
type variant struct {
	winner
	pattern.Pattern
}

// opens reports whether the Allow rule that decided on the target as sent is a
// variant, and also has precedence over d, which disallows the view t.
func (s *ruleset) opens(rule int32, t *subject, fold bool, d *decision) bool {
	m := s.matcher()
	if fold {
		m = s.fold()
	}
	i, _ := slices.BinarySearchFunc(m.variants, rule, func(v variant, rule int32) int { return cmp.Compare(v.rule, rule) })
	for ; i < len(m.variants) && m.variants[i].rule == rule; i++ {
		x := &m.variants[i]
		longer := x.rank>>1 > d.rank>>1
		if s.file.dialect.firstMatch() {
			longer = s.rules[rule].number() < d.line()
		}
		if longer && x.Matches(t.form(x.Query)) {
			return true
		}
	}
	return false
}
