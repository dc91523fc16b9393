package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/internal/pattern"
)

// maxComparisons bounds the steps that compare rules with each other in one run
// of the linter: they take a few tenths of a second.
const maxComparisons = 5_000_000

// overlapRule is a rule of a group, compiled.
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

// contains reports whether s has every path that t has. It may return false
// although s has them; it never returns true wrongly.
func (s *set) contains(t *set) bool { return s.Matches(t.witness) && !differInQuery(s, t) }

// disjoint reports whether it is certain that s and t have no path in common.
func (s *set) disjoint(t *set) bool {
	_, ok, certain := pattern.Common(&s.Pattern, &t.Pattern)
	return certain && !ok && !differInQuery(s, t)
}

// differInQuery reports whether two patterns are compared with different forms
// of a query, and one of them has an octet there that the forms write
// differently. A pattern without a question mark is compared with the form that
// paths have.
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
// in several groups; it is reported only if it has no effect in any of them.
type overlaps struct {
	*linter
	without     map[int]*Finding // by line; nil: the rule has an effect in some group
	misordered  map[int]*Finding // by line: exceptions that follow the rule that they limit
	folders     map[int]bool     // lines that were reported as the first of a list
	neededStars map[int]bool     // lines that outrank another rule only because the `*` at the end counts as an octet
}

// checkOverlaps compares the rules of each group with each other.
func (l *linter) checkOverlaps() {
	o := overlaps{linter: l, without: map[int]*Finding{}, misordered: map[int]*Finding{}, folders: map[int]bool{}, neededStars: map[int]bool{}}
	for _, g := range l.allGroups() {
		rules := o.compile(g)
		o.checkFolders(rules)
		o.compare(newRuleIndex(rules))
	}
	if l.budget < 0 {
		l.add(l.at("analysis-limited", &robots.Line{Number: 1}, 0, "", "there are too many rules to compare each with each"))
	}
	o.dropLastRuleFindings()
	o.dropStarFindings()
	for _, found := range []map[int]*Finding{o.without, o.misordered} {
		for _, f := range found {
			if f != nil {
				l.add(f)
			}
		}
	}
}

// compile returns the rules of a group that can match, sorted by precedence. It
// leaves out lines with several patterns, since one pattern can't be removed
// alone.
func (o *overlaps) compile(g *robots.Group) []overlapRule {
	all := g.Rules()
	if o.budget -= len(all); o.budget < 0 {
		o.dropFindings(all)
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
		return cmp.Or(cmp.Compare(b.Octets, a.Octets), allowFirst(a.Allow, b.Allow))
	})
	return list
}

// allowFirst orders Allow before Disallow.
func allowFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// dropFindings drops the findings on rules that were not compared.
func (o *overlaps) dropFindings(rules []robots.Rule) {
	for _, r := range rules {
		o.without[r.Line] = nil
	}
}

// compare checks each rule of a group.
func (o *overlaps) compare(x *ruleIndex) {
	served := slices.ContainsFunc(x.rules, func(r overlapRule) bool { return r.Allow && servedDiffers(r.Rule.Pattern) })
	for i := range x.rules {
		r := &x.rules[i]
		f := o.effect(x, i)
		o.checkStar(x, i)
		if o.budget < 0 || served {
			f = nil
		}
		if before, known := o.without[r.Line]; !known || before != nil {
			o.without[r.Line] = f
		}
	}
}

// servedDiffers reports whether a pattern has a part that no path has once it
// is decoded and cleaned. Such an Allow rule also covers the clean form.
func servedDiffers(p string) bool {
	path, _, _ := strings.Cut(lowerASCII(p), "?")
	for _, part := range []string{"//", "/./", "/../", "%2f", "%2e"} {
		if strings.Contains(path, part) {
			return true
		}
	}
	return false
}

// effect returns a finding if every path has the same verdict without the rule,
// else nil. It compares the rule with those that may match the same paths:
// first with those of higher precedence, then with those of lower precedence,
// until one of them gives the answer.
func (o *overlaps) effect(x *ruleIndex, i int) *Finding {
	r := &x.rules[i]
	for _, k := range x.related(i, &o.budget) {
		if o.budget -= 1 + r.Octets; o.budget < 0 {
			return nil
		}
		other := &x.rules[k]
		contains := other.contains(r.set)
		if k < i {
			if contains {
				return o.shadowed(r, other)
			}
			continue
		}
		if contains && r.contains(other.set) && r.Allow == other.Allow {
			continue // other never decides; its own line has that finding
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
		if contains && r.Allow && other.Line < r.Line && o.wildcards() && o.misordered[r.Line] == nil {
			o.misordered[r.Line] = o.finding("allow-after-disallow", r, other, "this exception from line %d stands below it: older readers never reach it", other.Line)
		}
		return nil
	}
	if !r.Allow {
		return nil
	}
	return o.onValue("without-effect", &o.lines[r.Line-1], "nothing that this line allows is disallowed")
}

// shadowed returns the finding on a rule that never decides because of another
// one.
func (o *overlaps) shadowed(r, by *overlapRule) *Finding {
	switch {
	case !r.contains(by.set):
		return o.finding("never-decides", r, by, "line %d (%q) decides wherever this rule matches", by.Line, by.Rule)
	case by.Allow != r.Allow:
		return o.finding("contradiction", r, by, "line %d (%q) covers the same paths, and decides", by.Line, by.Rule)
	}
	return o.finding("never-decides", r, by, "line %d already says the same", by.Line)
}

func (o *overlaps) finding(code string, r, other *overlapRule, format string, args ...any) *Finding {
	f := o.onValue(code, &o.lines[r.Line-1], format, args...)
	f.Related = other.Line
	return f
}

// disjoint reports whether it is certain that no path matches both rules.
func (o *overlaps) disjoint(r, other *overlapRule) bool {
	if r.Wild || other.Wild {
		o.budget -= (r.Octets + 1) * (other.Octets + 1)
		if o.budget < 0 {
			return false
		}
	}
	return r.disjoint(other.set)
}

// dropLastRuleFindings drops the finding on the last rule of a block if all its rules
// would be removed: its User-agent lines would become part of the next group.
func (o *overlaps) dropLastRuleFindings() {
	for i := range o.blocks {
		last := 0
		for _, line := range o.blocks[i].body {
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

// checkStar checks whether a rule that ends in a `*` outranks another rule, or
// the other way round, only because the `*` counts as an octet.
func (o *overlaps) checkStar(x *ruleIndex, i int) {
	r := &x.rules[i]
	short := strings.TrimRight(r.Rule.Pattern, "*")
	if short == r.Rule.Pattern || o.neededStars[r.Line] || !o.wildcards() {
		return
	}
	octets := r.Octets - (len(r.Rule.Pattern) - len(short))
	for _, k := range x.related(i, &o.budget) {
		other := &x.rules[k]
		if other.Allow == r.Allow || decides(r.Octets, r.Allow, other.Octets) == decides(octets, r.Allow, other.Octets) {
			continue
		}
		if o.budget -= 1 + r.Octets; o.budget < 0 || !o.disjoint(r, other) {
			o.neededStars[r.Line] = true
			return
		}
	}
}

// decides reports whether a rule with a number of octets outranks a rule of the
// other kind, Allow or Disallow (RFC 9309, section 2.2.2).
func decides(octets int, allow bool, other int) bool {
	return octets > other || octets == other && allow
}

// dropStarFindings drops the findings that suggest removing a `*` that has an effect.
// If there were too many rules to compare, it drops all of them.
func (o *overlaps) dropStarFindings() {
	o.findings = slices.DeleteFunc(o.findings, func(f Finding) bool {
		return f.Code == "trailing-star" && (o.neededStars[f.Line] || o.budget < 0)
	})
}

// ruleIndex finds the rules of a group that may match the same paths as one of
// them: those whose prefixes agree as far as they go.
type ruleIndex struct {
	rules    []overlapRule
	byPrefix []int            // sorted by prefix
	exact    map[string][]int // rules by their prefix
}

func newRuleIndex(rules []overlapRule) *ruleIndex {
	x := &ruleIndex{rules: rules, byPrefix: make([]int, len(rules)), exact: make(map[string][]int, len(rules))}
	for i := range rules {
		x.byPrefix[i] = i
		x.exact[rules[i].Prefix] = append(x.exact[rules[i].Prefix], i)
	}
	slices.SortFunc(x.byPrefix, func(a, b int) int { return strings.Compare(rules[a].Prefix, rules[b].Prefix) })
	return x
}

// related returns the indexes of these rules in ascending order, without i
// itself.
func (x *ruleIndex) related(i int, budget *int) []int {
	prefix := x.rules[i].Prefix
	var list []int
	for n := range prefix {
		list = append(list, x.exact[prefix[:n]]...)
	}
	*budget -= len(prefix) * len(prefix) / 8
	from, _ := slices.BinarySearchFunc(x.byPrefix, prefix, func(k int, p string) int { return strings.Compare(x.rules[k].Prefix, p) })
	for _, k := range x.byPrefix[from:] {
		if !strings.HasPrefix(x.rules[k].Prefix, prefix) || *budget < 0 {
			break
		}
		*budget--
		if k != i {
			list = append(list, k)
		}
	}
	slices.Sort(list)
	return list
}

// manyFiles is how many paths of one folder make a list of files.
const manyFiles = 20

// checkFolders reports folders of which many paths are disallowed one by one.
func (o *overlaps) checkFolders(rules []overlapRule) {
	type folder struct {
		count int
		first robots.Rule
	}
	folders := map[string]*folder{}
	for i := range rules {
		r := &rules[i]
		slash := strings.LastIndexByte(strings.TrimSuffix(r.Prefix, "/"), '/')
		if r.Wild || slash <= 0 {
			continue
		}
		name := r.Prefix[:slash+1]
		f := folders[name]
		if f == nil {
			f = &folder{first: r.Rule}
			folders[name] = f
		}
		if r.Allow {
			f.count = -1 << 30 // an exception: the list is needed
		}
		f.count++
		if r.Line < f.first.Line {
			f.first = r.Rule
		}
	}
	for name, f := range folders {
		if f.count >= manyFiles && !o.folders[f.first.Line] {
			o.folders[f.first.Line] = true
			o.add(o.onValue("list-of-files", &o.lines[f.first.Line-1], "%d rules for paths of %s: one rule covers the whole folder, if all of it may be disallowed", f.count, name).suggest(name))
		}
	}
}
