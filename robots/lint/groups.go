package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/robots"
)

// block is a group as it is written in the file: User-agent lines and the lines
// below them. Several blocks may name the same crawler.
type block struct {
	agents    []*robots.Line // its User-agent lines
	body      []*robots.Line
	hasRules  bool            // body has an Allow or Disallow line, possibly with an empty value
	continued []continuedLine // its User-agent lines below a blank line
}

// continuedLine is a User-agent line that belongs to the group above a blank
// line, which does not end that group.
type continuedLine struct {
	line  *robots.Line
	blank int // number of the blank line
}

// tokens returns the product tokens that a User-agent line names, in lower
// case.
func (l *linter) tokens(line *robots.Line) []string {
	values := []string{line.Value}
	if l.lists() {
		values = strings.Fields(line.Value)
	}
	var list []string
	for _, v := range values {
		if t := canonical.Lower(robots.ProductToken(v)); t != "" {
			list = append(list, t)
		}
	}
	return list
}

// checkGroups checks which crawlers the groups apply to.
func (l *linter) checkGroups() {
	hasRules := map[string]bool{}
	first := map[string]*robots.Line{}
	for _, b := range l.blocks {
		seen := map[string]bool{}
		unread := map[string]bool{} // rules that were reported for the group
		for _, line := range b.agents {
			for _, token := range l.tokens(line) {
				hasRules[token] = hasRules[token] || b.hasRules
				if before, ok := first[token]; ok && !seen[token] {
					l.add(l.onValue("split-group", line, "line %d already starts a group for %s", before.Number, line.Value).relateTo(before.Number))
				} else if !ok {
					first[token] = line
				}
				seen[token] = true
				if c, ok := l.crawlers.Lookup(token); ok {
					l.checkSupport(b, line, c, unread)
				}
			}
		}
		for _, c := range b.continued {
			if b.hasRules { // the author probably meant to start another group
				f := l.onValue("joined-groups", c.line, "the rules below also apply to the crawlers above the blank line %d", c.blank)
				l.add(f.relateTo(c.blank))
			}
		}
	}
	l.checkGroupsWithoutRules(hasRules)
	l.checkSearchEngines()
}

// checkGroupsWithoutRules reports groups without rules.
func (l *linter) checkGroupsWithoutRules(hasRules map[string]bool) {
	for _, b := range l.blocks {
		var line *robots.Line
		for _, agent := range b.agents {
			for _, token := range l.tokens(agent) {
				if !hasRules[token] {
					hasRules[token], line = true, cmp.Or(line, agent)
				}
			}
		}
		if line != nil {
			l.add(l.onValue("group-without-rules", line, "%s may fetch everything: its group has no Allow or Disallow line", line.Value))
		}
	}
}

// checkSupport reports, for each kind of line that one of the group's crawlers
// does not support, the first such line.
func (l *linter) checkSupport(b *block, agent *robots.Line, c Crawler, reported map[string]bool) {
	for _, line := range b.body {
		v := line.Value
		var f *Finding
		switch {
		case isRule(line) && c.NoWildcards && v != "*" && (strings.Contains(v, "*") || strings.HasSuffix(v, "$")):
			f = l.onValue("wildcard-unread", line, "%s reads * and $ as ordinary characters", agent.Value)
		case line.Directive == robots.DirectiveAllow && c.NoAllow && v != "":
			f = l.onValue("allow-unread", line, "%s ignores Allow lines", agent.Value)
		case line.Directive == robots.DirectiveCrawlDelay && c.NoDelay:
			f = l.onValue("crawl-delay-unread", line, "%s ignores Crawl-delay", agent.Value)
		default:
			continue
		}
		if reported[f.Code] {
			continue
		}
		reported[f.Code] = true
		f.Related = agent.Number
		l.add(f)
	}
}

// allGroups returns all groups that may apply to a crawler, including those
// that only the first word of a product token selects (see robots.File.Words).
func (l *linter) allGroups() []*robots.Group {
	list := l.file.Groups()
	seen := map[*robots.Group]bool{}
	for _, g := range list {
		seen[g] = true
	}
	for _, token := range l.file.Tokens() {
		if g := l.file.Named(canonical.FirstWord(token)); g != nil && !seen[g] {
			seen[g] = true
			list = append(list, g)
		}
	}
	return list
}

// checkSearchEngines reports rules that disallow the whole site to a search
// engine.
func (l *linter) checkSearchEngines() {
	blocked := map[int][]string{}
	for _, c := range l.crawlers.SearchEngines() {
		g := l.file.Group(c.Tokens...)
		v := g.Match("/")
		if v.Allowed || !l.coversSite(v.Rule().Pattern) || l.hasAllow(g) {
			continue
		}
		blocked[v.Rule().Line] = append(blocked[v.Rule().Line], c.Name)
	}
	for number, engines := range blocked {
		slices.Sort(engines)
		l.add(l.onValue("search-engine-shut-out", &l.lines[number-1], "this rule disallows the whole site to %s", strings.Join(engines, ", ")))
	}
}

// hasAllow reports whether a group has an Allow line that can match, so that
// some paths may be allowed.
func (l *linter) hasAllow(g *robots.Group) bool {
	return slices.ContainsFunc(g.Rules(), func(r robots.Rule) bool {
		_, ok := l.patternSet(r.Pattern)
		return r.Allow && ok
	})
}
