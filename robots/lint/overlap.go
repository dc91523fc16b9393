package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/pattern"
	"github.com/caddy-robots/caddy-robots/robots"
)

// maxComparisons is the maximal number of steps in which one call of Lint
// compares rules with each other. So many steps take a few tenths of a second.
const maxComparisons = 5_000_000

// overlapRule is a compiled rule of a group.
type overlapRule struct {
	robots.Rule
	*set
	index int // among the group's rules
}

// set is the pattern of a rule as the set of paths that it matches.
type set struct {
	pattern.Pattern
	witness string
}

// patternSet compiles a pattern. It returns false for a pattern that never
// matches.
func (l *linter) patternSet(s string) (*set, bool) {
	p, ok := pattern.Compile(s, l.file.Dialect().Syntax(), false)
	return &set{p, p.Witness()}, ok
}

// contains reports whether it is certain that s contains every path of t.
func (s *set) contains(t *set) bool { return s.Matches(t.witness) && !differInQuery(s, t) }

// differInQuery reports whether two patterns can't be compared, because the
// parser compares them with different forms of a query (see robots.Views): one
// with a question mark and one without. This matters only if the query of the
// pattern has an octet that the two forms write differently.
func differInQuery(s, t *set) bool {
	if s.Query == t.Query {
		return false
	}
	if t.Query {
		s = t
	}
	_, query, _ := strings.Cut(s.witness, "?")
	return strings.ContainsAny(query, "/?%")
}

// overlaps holds the results for the groups that were compared. A rule may be
// in several groups. The linter reports it only if it has no effect in any of
// them.
type overlaps struct {
	*linter
	without map[int]*Finding // by line; nil: the rule has an effect in some group
}

// checkOverlaps compares the rules of each group with each other.
func (l *linter) checkOverlaps() {
	o := overlaps{linter: l, without: map[int]*Finding{}}
	for _, g := range l.allGroups() {
		o.compare(o.compile(g))
	}
	if l.budget < 0 {
		l.add(l.at("analysis-limited", &robots.Line{Number: 1}, 0, "", "there are too many rules to compare all of them"))
	}
	o.dropLastRuleFindings()
	for _, f := range o.without {
		if f != nil {
			l.add(f)
		}
	}
}

// compile returns the rules of a group that can match, the rule with the
// highest precedence first. It marks lines with several patterns as not
// removable.
func (o *overlaps) compile(g *robots.Group) []overlapRule {
	all := g.Rules()
	if o.budget -= len(all); o.budget < 0 {
		for _, r := range all { // not compared
			o.without[r.Line] = nil
		}
		return nil
	}
	list := make([]overlapRule, 0, len(all))
	for i, r := range all {
		if p, ok := o.patternSet(r.Pattern); ok {
			list = append(list, overlapRule{r, p, i})
		}
		if i > 0 && all[i-1].Line == r.Line {
			o.without[r.Line] = nil
		}
	}
	slices.SortStableFunc(list, func(a, b overlapRule) int {
		if !o.wildcards() {
			return cmp.Compare(a.index, b.index)
		}
		return cmp.Compare(rank(b.Octets, b.Allow), rank(a.Octets, a.Allow))
	})
	return list
}

// rank orders rules: of the rules that match, the one with the highest rank
// decides (RFC 9309, section 2.2.2).
func rank(octets int, allow bool) int {
	if allow {
		return 2*octets + 1
	}
	return 2 * octets
}

// compare checks each rule of a group.
func (o *overlaps) compare(rules []overlapRule) {
	// The matcher applies some Allow rules also to another pattern (see
	// pattern.Served), so their effect can't be derived from their own alone.
	served := slices.ContainsFunc(rules, func(r overlapRule) bool {
		_, differs := pattern.Served(r.Rule.Pattern)
		return r.Allow && differs
	})
	for i := range rules {
		r := &rules[i]
		f := o.effect(rules, i)
		if o.budget < 0 || served {
			f = nil
		}
		if before, known := o.without[r.Line]; !known || before != nil {
			o.without[r.Line] = f
		}
	}
}

// effect returns a finding if every path has the same verdict without the rule
// i, and nil otherwise. It compares the rule with all rules that may match the
// same paths, in the order of their precedence, until one of them gives the
// answer.
func (o *overlaps) effect(rules []overlapRule, i int) *Finding {
	r := &rules[i]
	o.budget -= len(rules) / 4
	if o.budget < 0 {
		return nil
	}
	for k := range rules {
		other := &rules[k]
		if k == i || !strings.HasPrefix(r.Prefix, other.Prefix) && !strings.HasPrefix(other.Prefix, r.Prefix) {
			continue
		}
		if o.budget -= 1 + r.Octets; o.budget < 0 {
			return nil
		}
		contains := other.contains(r.set)
		if k < i {
			if contains {
				return o.shadowed(r, other)
			}
			continue
		}
		if contains && r.contains(other.set) && r.Allow == other.Allow {
			continue // other never decides; that is a finding about its line
		}
		if r.Allow == other.Allow {
			if contains {
				return o.finding("without-effect", r, other, "line %d (%q) already covers these paths", other.Line, other.Rule)
			}
			continue
		}
		if !contains && o.disjoint(r, other) {
			continue
		}
		return nil
	}
	if !r.Allow {
		return nil
	}
	return o.onValue("without-effect", &o.lines[r.Line-1], "the paths of this line are allowed without it")
}

// shadowed returns the finding about a rule that never decides because of
// another rule.
func (o *overlaps) shadowed(r, by *overlapRule) *Finding {
	switch {
	case !r.contains(by.set):
		return o.finding("never-decides", r, by, "line %d (%q) decides on every path that this rule matches", by.Line, by.Rule)
	case by.Allow != r.Allow:
		return o.finding("contradiction", r, by, "line %d (%q) covers the same paths, and decides", by.Line, by.Rule)
	}
	return o.finding("never-decides", r, by, "line %d already has the same effect", by.Line)
}

func (o *overlaps) finding(code string, r, other *overlapRule, format string, args ...any) *Finding {
	return o.onValue(code, &o.lines[r.Line-1], format, args...).relateTo(other.Line)
}

// disjoint reports whether it is certain that no path matches both rules.
func (o *overlaps) disjoint(r, other *overlapRule) bool {
	if r.Wild || other.Wild {
		if o.budget -= (r.Octets + 1) * (other.Octets + 1); o.budget < 0 {
			return false
		}
	}
	_, ok, certain := pattern.Common(&r.set.Pattern, &other.set.Pattern)
	return certain && !ok && !differInQuery(r.set, other.set)
}

// dropLastRuleFindings drops the finding about the last rule of a block if all
// its rules have findings. If an author removed all of them, the User-agent
// lines of the block would become a part of the next group.
func (o *overlaps) dropLastRuleFindings() {
	for _, b := range o.blocks {
		last := 0
		for _, line := range b.body {
			if !isRule(line) {
				continue
			}
			f := o.without[line.Number]
			if f == nil || f.Code == "contradiction" { // the rule may stay
				last = 0
				break
			}
			last = line.Number
		}
		if last > 0 {
			delete(o.without, last)
		}
	}
}
