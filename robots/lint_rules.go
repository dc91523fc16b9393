package robots

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots/internal/pattern"
)

// maxComparisons bounds the steps that compare rules with each other in one
// run of the linter: some tenths of a second.
const maxComparisons = 5_000_000

// lintRule is a rule of a group, compiled.
type lintRule struct {
	*Rule
	pattern.Pattern
	rank    uint32
	index   int32 // among the group's rules
	witness string
}

// checkRules compares the rules of each group with each other.
func (l *linter) checkRules() {
	reported := map[int]bool{}
	for _, g := range l.file.Groups() {
		if len(g.rules) != 1 || l.budget < 0 {
			continue
		}
		set := g.rules[0]
		rules := l.compile(set)
		l.checkFolders(rules)
		for i := range rules {
			if r := &rules[i]; !reported[r.Line] && (l.shadowed(g, set, r) || l.effectless(g, rules, i)) {
				reported[r.Line] = true
			}
		}
	}
	if l.budget < 0 {
		l.add(l.at("analysis-limited", &Line{Number: 1}, 0, "", "more than %d comparisons", maxComparisons))
	}
}

// compile returns the rules of a set that can match, highest rank first.
func (l *linter) compile(set *ruleset) []lintRule {
	list := make([]lintRule, 0, len(set.rules))
	for i := range set.rules {
		r := &set.rules[i]
		p, ok := pattern.Compile(r.Pattern, set.dialect.Syntax(), false)
		if !ok {
			continue
		}
		list = append(list, lintRule{r, p, rank(set.dialect, p.Octets, i, r.Allow), int32(i), p.Witness()})
	}
	slices.SortStableFunc(list, func(a, b lintRule) int { return cmp.Compare(b.rank, a.rank) })
	return list
}

// shadowed reports a rule that never decides. Whatever matches the witness of
// a pattern matches all that the pattern does, so that the rule which decides
// on the witness decides wherever this one could.
func (l *linter) shadowed(g *Group, set *ruleset, r *lintRule) bool {
	l.budget -= len(r.witness)
	if l.budget < 0 || r.Query && !sameInQuery(r.Rule.Pattern) {
		return false
	}
	w := set.matcher.match(&subject{r.witness, r.witness})
	if w.rank == 0 || w.rule == r.index {
		return false
	}
	by := &set.rules[w.rule]
	if by.Allow == r.Allow && w.rank == r.rank && by.Line == r.Line {
		return false // one line of several patterns
	}
	line := &l.lines[r.Line-1]
	other, _ := pattern.Compile(by.Pattern, set.dialect.Syntax(), false)
	same := r.Matches(other.Witness())
	var f *Finding
	switch {
	case same && by.Allow != r.Allow:
		f = l.onValue("contradiction", line, "line %d has %q for the same paths of %s, and wins", by.Line, *by, g.Token())
	case same:
		f = l.onValue("never-decides", line, "line %d says the same for %s", by.Line, g.Token())
	default:
		f = l.onValue("never-decides", line, "%q of line %d decides wherever it matches for %s", *by, by.Line, g.Token())
	}
	f.Related = by.Line
	l.add(f)
	return true
}

// effectless reports a rule without which every path has the same verdict,
// and an exception that stands after what it is an exception from. It goes
// down the rules of lower rank until one settles it.
func (l *linter) effectless(g *Group, rules []lintRule, i int) bool {
	r := &rules[i]
	line := &l.lines[r.Line-1]
	for k := i + 1; k < len(rules); k++ {
		o := &rules[k]
		l.budget--
		if l.budget < 0 {
			return false
		}
		if n := min(len(r.Prefix), len(o.Prefix)); r.Prefix[:n] != o.Prefix[:n] {
			continue
		}
		l.budget -= len(r.witness)
		contains := o.Matches(r.witness)
		if contains && r.Matches(o.witness) {
			continue // o never decides, which is found elsewhere
		}
		if o.Allow != r.Allow {
			if !contains {
				if r.Wild || o.Wild {
					l.budget -= min(len(r.witness)*len(o.witness), pattern.MaxProduct)
				}
				if _, ok, certain := pattern.Common(&r.Pattern, &o.Pattern); certain && !ok {
					continue
				}
			}
			if contains && r.Allow && o.Line < r.Line && !l.file.dialect.firstMatch() {
				f := l.onValue("allow-after-disallow", line, "an exception from line %d", o.Line)
				f.Related = o.Line
				l.add(f)
			}
			return false
		}
		if contains {
			f := l.onValue("without-effect", line, "%q of line %d covers it for %s", *o.Rule, o.Line, g.Token())
			f.Related = o.Line
			l.add(f)
			return true
		}
	}
	if !r.Allow {
		return false
	}
	l.add(l.onValue("without-effect", line, "nothing that it allows is disallowed to %s", g.Token()))
	return true
}

// sameInQuery reports whether a pattern reads the same in the two forms that
// a query is compared in.
func sameInQuery(p string) bool {
	_, query, _ := strings.Cut(p, "?")
	return string(canonical.Append(nil, query, canonical.Path)) == string(canonical.Append(nil, query, canonical.Query))
}

// manyFiles is how many paths of one folder make a list of files.
const manyFiles = 20

// checkFolders reports folders of which many paths are disallowed one by one.
func (l *linter) checkFolders(rules []lintRule) {
	type folder struct {
		count int
		first *Rule
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
		if f.count >= manyFiles {
			l.add(l.onValue("list-of-files", &l.lines[f.first.Line-1], "%d paths of %s", f.count, name).suggest(name))
		}
	}
}
