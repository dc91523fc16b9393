package diff

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/pattern"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Two groups have different verdicts on some path if and only if they have
// different verdicts on one of a limited number of paths, called witnesses: the
// texts that pattern.Merge returns for each rule and for each pair of rules.
//
// Proof: Take a path with different verdicts, the rule that decides on it in
// the first group, and the rule that decides on it in the second group. One of
// the witnesses of this pair stands for a set of paths that includes the path.
// Both rules match all paths of the set. Any other rule that matches the
// witness also matches the whole set, so if it had precedence over one of the
// two rules, it would also decide on the path. Therefore the two rules also
// decide on the witness. At least one of the two rules is in only one of the
// groups: if both groups had both rules, the same rule would decide in both.
// (In a dialect in which the first match decides, this is so only if the common
// rules have the same order; see commonRules.)

// ruleLine is a rule as a line of robots.txt.
type ruleLine struct {
	allow   bool
	pattern string
}

// candidate is a pattern of a rule of either group.
type candidate struct {
	pattern.Pattern
	changed bool // the rule is in only one of the groups
}

// verdicts searches for paths on which the groups have different verdicts.
func (d *differ) verdicts(p *pair) {
	before, after := p.oldGroup.Rules(), p.newGroup.Rules()
	sameDialect := d.before.Dialect() == d.after.Dialect()
	if sameDialect && slices.EqualFunc(before, after, func(x, y robots.Rule) bool { return x.Allow == y.Allow && x.Pattern == y.Pattern }) {
		return
	}
	f := finder{differ: d, pair: p, first: len(d.changes), found: map[[2]int]int{}}
	list := f.candidates(before, after)
	longest := d.before.Dialect() == robots.RFC9309 || d.before.Dialect() == robots.Google
	if !longest && !slices.Equal(commonRules(before, after), commonRules(after, before)) {
		for _, c := range list {
			c.changed = true // where the first match decides, any pair of rules may have changed places
		}
	}
	changed := slices.DeleteFunc(slices.Clone(list), func(c *candidate) bool { return !c.changed })
	if longest && len(changed) == 0 {
		return // the same rules in another order, or repeated
	}
	var fresh, inexact bool
	f.fill, fresh = f.freshOctet(list)
	f.mixed, inexact = f.queryForms(list)
	d.incomplete = d.incomplete || !fresh || inexact
	root := &candidate{Pattern: pattern.Pattern{Prefix: "/"}}
	var overlapping []*candidate // patterns that may match the same paths as a changed pattern
	for _, c := range list {
		if d.steps -= 1 + len(changed)/16; d.steps < 0 {
			return
		}
		if slices.ContainsFunc(changed, c.mayOverlap) {
			overlapping = append(overlapping, c)
			for _, path := range c.Examples() {
				f.try(path)
			}
			f.witnesses(c, root)
		}
	}
	for i, c := range overlapping {
		d.steps -= len(overlapping) / 16
		for j, o := range overlapping {
			if !c.changed || o.changed && j <= i || !c.Wild && !o.Wild || !c.mayOverlap(o) {
				continue
			}
			if len(d.changes)-f.first >= maxChanges {
				d.incomplete = true
				return
			}
			if f.witnesses(c, o); d.steps < 0 {
				return
			}
		}
	}
}

// commonRules returns the rules of list that are also in other, in the order of
// list, each once: only the first one can decide.
func commonRules(list, other []robots.Rule) (common []ruleLine) {
	left := make(map[ruleLine]bool)
	for _, r := range other {
		left[ruleLine{r.Allow, r.Pattern}] = true
	}
	for _, r := range list {
		if l := (ruleLine{r.Allow, r.Pattern}); left[l] {
			left[l] = false
			common = append(common, l)
		}
	}
	return common
}

// mayOverlap reports whether both patterns may match the same path. It compares
// the texts before their first `*`: one must be a prefix of the other.
func (c *candidate) mayOverlap(o *candidate) bool {
	n := min(len(c.Prefix), len(o.Prefix))
	return c.Prefix[:n] == o.Prefix[:n]
}

// finder collects the paths on which a pair of groups has different verdicts.
type finder struct {
	*differ
	*pair
	first int            // index in changes of the first change of this pair
	found map[[2]int]int // index in changes, by the lines of the rules that decide
	fill  string         // an octet that no pattern has; see freshOctet
	mixed bool           // see queryForms
}

// candidates returns the patterns of both groups' rules.
func (f *finder) candidates(before, after []robots.Rule) (list []*candidate) {
	sides := map[ruleLine]int{}
	var order []ruleLine
	for side, rules := range [][]robots.Rule{before, after} {
		for _, r := range rules {
			l := ruleLine{r.Allow, r.Pattern}
			if sides[l] == 0 {
				order = append(order, l)
			}
			sides[l] |= side + 1
		}
	}
	for _, l := range order {
		texts := []string{l.pattern}
		if f.google && l.allow {
			if folder, ok := pattern.IndexFolder(l.pattern); ok {
				texts = append(texts, folder)
			}
		}
		if sides[l] != 3 && l.allow {
			if _, differs := pattern.Served(l.pattern); differs {
				f.incomplete = true // the rule may also match a path as served
			}
		}
		syntaxes := slices.Compact([]pattern.Syntax{f.before.Dialect().Syntax(), f.after.Dialect().Syntax()})
		for _, text := range texts {
			for _, syntax := range syntaxes {
				if p, ok := pattern.Compile(text, syntax, false); ok {
					list = append(list, &candidate{p, sides[l] != 3 || len(syntaxes) > 1})
				}
			}
		}
	}
	return list
}

// fillOctets are the octets that a witness may have in place of a `*`, in the
// order of preference. None of them has a special meaning in a path.
const fillOctets = "xzqjkvwyuobcdefghilmnprstaXZQJKVWYUOBCDEFGHILMNPRSTA0123456789~_-!',()@:|^`<>{}[]\"\\"

// freshOctet returns an octet that no pattern has, and false if there is none
// in fillOctets.
func (f *finder) freshOctet(list []*candidate) (string, bool) {
	var used [256]bool
	for _, c := range list {
		for _, octet := range []byte(c.Witness()) {
			used[octet] = true
		}
	}
	if i := strings.IndexFunc(fillOctets, func(r rune) bool { return !used[r] }); i >= 0 {
		return fillOctets[i : i+1], true
	}
	return "x", false
}

// queryForms reports whether the patterns are compared with different forms of
// the query (see robots.Views): some have a question mark and others, with a
// `*`, do not. If so, it also reports whether a pattern has an escape that only
// one of the forms has; such patterns are not compared exactly.
func (f *finder) queryForms(list []*candidate) (mixed, inexact bool) {
	var with, without, escapes bool
	for _, c := range list {
		if c.Query {
			with = true
			escapes = escapes || hasAny(c.Witness(), "%26", "%3D", "%2B", "%3B")
		} else if c.Wild {
			without = true
			escapes = escapes || hasAny(c.Witness(), "%2F", "%3F")
		}
	}
	mixed = with && without && !f.google
	return mixed, mixed && escapes
}

func hasAny(s string, list ...string) bool {
	return slices.ContainsFunc(list, func(e string) bool { return strings.Contains(s, e) })
}

// witnesses compares the verdicts on the witnesses of a pair of patterns.
func (f *finder) witnesses(c, o *candidate) {
	f.steps -= 20
	complete := pattern.Merge(&c.Pattern, &o.Pattern, f.fill, &f.steps, func(text string) bool {
		f.try(text)
		if f.mixed {
			f.try(escapeQuery(text, &c.Pattern, &o.Pattern))
		}
		return f.steps >= 0
	})
	f.incomplete = f.incomplete || !complete
}

// escapeQuery escapes the delimiters in the query of text, except those without
// which p and q would not match it. Fewer other patterns match the result.
func escapeQuery(text string, p, q *pattern.Pattern) string {
	query := strings.IndexByte(text, '?') + 1
	if query == 0 {
		return text
	}
	for i := len(text) - 1; i >= query; i-- {
		if strings.IndexByte("/?&=+;", text[i]) < 0 {
			continue
		}
		escaped := text[:i] + string(canonical.AppendEscape(nil, text[i])) + text[i+1:]
		if matches(p, escaped) && matches(q, escaped) {
			text = escaped
		}
	}
	return text
}

// matches reports whether p matches a canonical path with its query.
func matches(p *pattern.Pattern, text string) bool {
	path, query, found := strings.Cut(text, "?")
	keep := canonical.Path
	if p.Query {
		keep = canonical.Query
	}
	if found {
		path = string(canonical.Append([]byte(path+"?"), query, keep))
	}
	return p.Matches(path)
}

// try compares the verdicts on a path, and adds a change or an example path if
// they differ.
func (f *finder) try(path string) {
	if f.steps -= 30 + len(path); f.steps < 0 {
		return
	}
	x, y := f.oldGroup.Match(path), f.newGroup.Match(path)
	if x.Allowed == y.Allowed {
		return
	}
	old, new := x.Rule(), y.Rule()
	key := [2]int{old.Line, new.Line}
	i, ok := f.found[key]
	if !ok {
		if len(f.changes)-f.first >= maxChanges {
			f.incomplete = true
			return
		}
		c := Change{What: "verdict", Allowed: y.Allowed, OldLine: old.Line, NewLine: new.Line}
		if old.Line > 0 {
			c.Old = old.String()
		}
		if new.Line > 0 {
			c.New = new.String()
		}
		i = len(f.changes)
		f.found[key] = i
		f.add(f.pair, c)
	}
	if c := &f.changes[i]; len(c.Paths) < maxExamples && !slices.Contains(c.Paths, path) {
		c.Paths = append(c.Paths, path)
	}
}
