package robots

import (
	"slices"
	"sync"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
)

// Rule is an Allow or Disallow line. Group.NoindexRules, Group.Noindex and
// Group.NoindexViews also return Noindex lines as rules.
type Rule struct {
	Pattern string // as written
	Line    int    // from 1
	Allow   bool   // false for Disallow and Noindex

	noindex bool
}

// String writes the rule as a line of robots.txt, such as "Disallow: /a" or
// "Noindex: /a".
func (r Rule) String() string {
	d := DirectiveDisallow
	switch {
	case r.noindex:
		d = DirectiveNoindex
	case r.Allow:
		d = DirectiveAllow
	}
	return d.String() + ": " + r.Pattern
}

// Verdict is the result of a match: whether a request target is allowed, and
// the rule that decided.
type Verdict struct {
	Allowed bool

	set  *ruleset // of the rule that decided; nil if none did
	rule int32
}

// Rule returns the rule that decided, the zero Rule if none did.
func (v Verdict) Rule() Rule {
	if v.set == nil {
		return Rule{}
	}
	return v.set.rules[v.rule].rule(v.set.file)
}

// Group holds the rules and limits that apply to a crawler. They are from all
// places in the file where a User-agent line names the crawler (RFC 9309,
// section 2.2.1). The nil *Group is valid. It is for a crawler to which no
// group applies: it allows everything and has no limits.
//
// All methods are safe for concurrent use. The caller must not change the
// slices that they return.
type Group struct {
	tokens []string
	line   int
	rules  []*ruleset // usually one; see unit
	*lines
}

// lines are the lines of a group that few groups have.
type lines struct {
	noindex []*ruleset
	limits
}

// orNone returns the group, and a group without lines for nil.
func (g *Group) orNone() *Group {
	if g == nil {
		return &noGroup
	}
	return g
}

var (
	noGroup = Group{lines: &noLines}
	noLines lines
)

// Token returns the first product token of the group, as written but without a
// version. It is "*" for the group for `*`, and "" for the nil Group.
func (g *Group) Token() string {
	if g == nil {
		return ""
	}
	return g.tokens[0]
}

// Tokens returns the product tokens of all crawlers that this Group applies to,
// and their first words (see File.Words).
func (g *Group) Tokens() []string { return g.orNone().tokens }

// Line returns the number of the group's first User-agent line, 0 for the nil
// Group.
func (g *Group) Line() int { return g.orNone().line }

// Rules returns the group's Allow and Disallow lines in the order of the file.
// It leaves out lines without a path.
func (g *Group) Rules() []Rule { return rulesOf(g.orNone().rules) }

// RuleCount returns the number of the group's Rules, without making the list.
func (g *Group) RuleCount() (n int) {
	for _, set := range g.orNone().rules {
		n += len(set.rules)
	}
	return n
}

// NoindexRules returns the group's Noindex lines in the order of the file. It
// leaves out lines without a path.
func (g *Group) NoindexRules() []Rule { return rulesOf(g.orNone().noindex) }

// rulesOf returns the rules of all sets in the order of the file.
func rulesOf(sets []*ruleset) []Rule {
	lines := joinLines(sets, func(s *ruleset) []ruleLine { return s.rules }, func(r *ruleLine) int { return r.number() })
	rules := make([]Rule, len(lines))
	for i, l := range lines {
		rules[i] = l.rule(sets[0].file)
	}
	return rules
}

// joinLines returns the lines of all lists in the order of the file.
func joinLines[L, T any](lists []L, of func(L) []T, number func(*T) int) []T {
	if len(lists) == 1 {
		return of(lists[0])
	}
	var all []T
	for _, l := range lists {
		all = append(all, of(l)...)
	}
	slices.SortStableFunc(all, func(a, b T) int { return number(&a) - number(&b) })
	return all
}

// CrawlDelay returns the group's Crawl-delay. It ignores malformed values. If
// there are several, parsers differ on which one applies. CrawlDelay returns
// the shortest delay, so that a crawler that obeys any of them also obeys this
// one.
func (g *Group) CrawlDelay() (CrawlDelay, bool) {
	if delay := g.orNone().delay; delay != nil {
		return *delay, true
	}
	return CrawlDelay{}, false
}

// RequestRates returns the group's Request-rate lines. All of them apply, each
// while its window is open. RequestRates leaves out malformed lines, and
// returns only the first 16 of the others.
func (g *Group) RequestRates() []RequestRate { return g.orNone().rates }

// VisitTimes returns the group's Visit-time lines. Crawlers may send requests
// while any of the windows is open. VisitTimes leaves out malformed lines, and
// returns only the first 16 of the others.
func (g *Group) VisitTimes() []VisitTime { return g.orNone().visits }

// ContentSignals returns the group's Content-Signal lines, only the first 16. It
// leaves out lines without a key=value pair.
func (g *Group) ContentSignals() []PreferenceLine { return g.orNone().signals }

// ContentUsage returns the group's Content-Usage lines, only the first 16. It
// leaves out lines without a key=value pair.
func (g *Group) ContentUsage() []PreferenceLine { return g.orNone().usages }

// Match returns the verdict on a request target. The longest matching rule
// decides, and Allow if two are equally long (RFC 9309, section 2.2.2). If the
// file has an older dialect, the first matching rule decides (see Dialect).
// /robots.txt is always allowed. The target is a path with its query, as
// requested. Views.Reset lists the other forms that Match accepts.
func (g *Group) Match(target string) Verdict {
	if g == nil || len(g.rules) == 0 {
		return Verdict{Allowed: true}
	}
	if canonical.IsPlain(target) {
		s := subject{target, target}
		d := g.decide(&s)
		return d.verdict()
	}
	v := viewsPool.Get().(*Views)
	defer viewsPool.Put(v)
	v.Reset(target, ViewOptions{})
	s := v.requested
	if g.rules[0].file.dialect == Google {
		v.addEscaped()
		s, _ = v.sent()
	}
	d := g.decide(&s)
	v.release()
	return d.verdict()
}

// decide returns the rule that decides on a target. /robots.txt is always allowed.
func (g *Group) decide(s *subject) decision {
	d := decide(g.rules, s, false)
	if !d.allowed() && s.isRobots() {
		return decision{}
	}
	return d
}

// MatchViews returns the verdict on all views of a request target. If one of
// them is disallowed, the target is disallowed, and the verdict has the rule
// that disallows it. So if the path that a back end serves is disallowed, each
// spelling of it is disallowed. The only exception are Allow rules that name
// such a spelling (see variant).
func (g *Group) MatchViews(v *Views) Verdict {
	if g == nil || len(g.rules) == 0 {
		return Verdict{Allowed: true}
	}
	d := g.decide(&v.requested)
	if len(v.views) > 0 && d.allowed() {
		return decideViews(g.rules, v, d)
	}
	return d.verdict()
}

// NoindexViews returns the Noindex line that applies to a request target in one
// of its views, and the zero Rule for none.
func (g *Group) NoindexViews(v *Views) Rule {
	if g == nil || len(g.noindex) == 0 {
		return Rule{}
	}
	d := decide(g.noindex, &v.requested, false)
	if d.allowed() && len(v.views) > 0 {
		return decideViews(g.noindex, v, d).Rule()
	}
	return d.verdict().Rule()
}

var viewsPool = sync.Pool{New: func() any { return new(Views) }}
