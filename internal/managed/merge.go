package managed

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Merged is a site's file with the lines of a policy. It implements
// judge.Merged.
type Merged struct {
	// Kept are the groups of the site's file that stay as they are, by their lines.
	Kept []Kept

	text    []byte
	origins []origin // by line, from 1
}

// Kept is a group of the site's file that stays as it is, though the policy names the purpose of
// its crawlers.
type Kept struct {
	Crawlers []string
	Line     int // of the site's file
}

// MergedIn returns the merge that made the file of rules, or nil if the file has
// no lines of a policy.
func MergedIn(rules *judge.Rules) *Merged {
	m, _ := rules.Merged().(*Merged)
	return m
}

// Text returns the whole file.
func (m *Merged) Text() []byte { return m.text }

// Origin returns where a line of the merged file comes from. Lines count from
// 1. The layer is judge.FileLayer for a line of the site's own file or a copy
// of one, Layer for a line that a statement of the policy
// produced, and judge.NoLayer for a line without a rule or value that Merge
// adds: a comment, a blank line, a User-agent line, or a Disallow without a path.
// (The Disallow is for a group without rules, which would otherwise continue
// with the next group.)
func (m *Merged) Origin(line int) (judge.Layer, int) {
	if line < 1 || line > len(m.origins) {
		return judge.NoLayer, 0
	}
	from := m.origins[line-1]
	return from.layer, from.line
}

// Merge adds the lines of the policy to a site's own file, which is parsed by
// settings.Dialect. If the site has no file, file is empty. If the group for `*` applies to a crawler that has no
// group of its own (settings.BoundByStar), a group that the policy adds for the
// crawler has a copy of the rules for `*`. Crawlers that the policy does not apply
// to keep their rules and limits.
//
// If Merge returns an error, use the site's file as it is. The causes are: the
// site's file or the merged file is larger than robots.MaxSize (500 KiB), or the
// groups of the site's file have more than a million rules together.
func (l *Lines) Merge(file []byte, settings *judge.Settings) (*Merged, error) {
	if len(file) > robots.MaxSize {
		return nil, errTooLarge
	}
	m := merger{Lines: l, settings: settings, site: readSite(file, settings.Dialect), file: robots.Parse(file, robots.WithDialect(settings.Dialect)),
		replaced: map[string]bool{}, written: map[string]bool{}, groups: map[string]*group{}}
	rules := 0
	for _, g := range m.file.Groups() {
		rules += g.RuleCount()
	}
	if rules > maxRules {
		return nil, errTooMany
	}
	m.targets()
	m.replace()
	m.preferences()
	for i := range m.list {
		m.write(&m.list[i])
	}
	m.fallbacks()
	m.finish()
	text := m.site.text()
	if len(text) > robots.MaxSize {
		return nil, errTooLarge
	}
	slices.SortFunc(m.keeps, func(a, b Kept) int { return cmp.Compare(a.Line, b.Line) })
	return &Merged{Kept: m.keeps, text: text, origins: words.Map(m.site.lines, func(e entry) origin { return e.origin })}, nil
}

// maxRules bounds the rules of all groups of a site's file: a rule counts for each
// group that it is in. A file of 500 KiB can have 27 million.
const maxRules = 1_000_000

// merger makes one merged file.
type merger struct {
	*Lines
	settings *judge.Settings
	site     *site        // the site's file, which becomes the merged one
	file     *robots.File // the site's file as it was
	list     []target
	inside   map[*crawler.Crawler]bool
	replaced map[string]bool // tokens of crawlers whose groups in the site's file become comments, in lower case
	written  map[string]bool // tokens that have a new group with other rules, in lower case
	order    []*group
	groups   map[string]*group // by their comments and lines
	keeps    []Kept
}

// target is a crawler that the policy applies to in this file.
type target struct {
	crawler *crawler.Crawler
	terms   terms
	base    *robots.Group // the group of the site's file that applies to it; may be nil
	star    bool          // base is the group for `*`
	replace bool          // the site's file has a group for it
}

// targets finds the crawlers that the policy applies to in this file.
func (m *merger) targets() {
	m.inside = map[*crawler.Crawler]bool{}
	// Control-only tokens come last. Tools show a group by its first token, and
	// control-only tokens arrive in no request.
	list := map[bool][]target{} // by Crawler.ControlOnly
	for c := range m.registry.All() {
		cv := &m.covers[c.Index()]
		if !cv.both.any() {
			continue
		}
		t := target{crawler: c, terms: cv.both}
		if own := m.ownGroup(m.file, c); own != nil {
			t.terms = cv.named
			if !t.terms.any() {
				m.keep(c.Name, own.Line())
				continue
			}
			t.base, t.replace = own, true
		} else if t.base, t.star = groupOf(m.file, c); t.star && !m.settings.BoundByStar(c.Class, c) {
			t.base = nil
		}
		if !nameable(first(c)) || m.owner(c) != c {
			continue // no new group can give it the policy's rules
		}
		m.inside[c] = true
		for _, other := range m.byFirst[strings.ToLower(first(c))] {
			m.inside[other] = true
		}
		list[c.ControlOnly] = append(list[c.ControlOnly], t)
	}
	m.list = slices.Concat(list[false], list[true])
}

// keep notes that the group of a crawler in the site's file stays.
func (m *merger) keep(name string, line int) {
	for i := range m.keeps {
		if k := &m.keeps[i]; k.Line == line {
			k.Crawlers = append(k.Crawlers, name)
			return
		}
	}
	m.keeps = append(m.keeps, Kept{[]string{name}, line})
}

// replace turns the groups that the policy replaces into comments. Crawlers that had such a
// group together with others get one with the same rules.
func (m *merger) replace() {
	for _, t := range m.list {
		if t.replace {
			for _, token := range append([]string{first(t.crawler)}, t.crawler.Tokens()...) {
				m.replaced[strings.ToLower(token)] = true
			}
		}
	}
	for _, token := range m.site.replace(m.replaces) {
		m.before(m.file.Group(token), true, token)
	}
}

// replaces reports whether the policy replaces the groups that a token names.
func (m *merger) replaces(token string) bool {
	return m.replaced[strings.ToLower(token)] || m.replaced[strings.ToLower(canonical.FirstWord(token))]
}

// preferences adds a copy of each group of the site that stays and may crawl, with the
// preferences of the policy.
func (m *merger) preferences() {
	if len(m.policy.Signal) == 0 {
		return
	}
	kept := robots.Parse(m.site.text(), robots.WithDialect(m.settings.Dialect))
	groups := kept.Groups()
	if m.file.Star() == nil {
		groups = append(groups, nil)
	}
	for _, g := range groups {
		b := body{dialect: m.settings.Dialect}
		b.preferences(g, &m.policy)
		if !mayCrawl(g) || !slices.ContainsFunc(b.entries, func(e entry) bool { return e.layer == Layer }) {
			continue
		}
		agents := []string{"*"}
		if g != nil {
			agents = slices.DeleteFunc(slices.Clone(g.Tokens()), func(t string) bool { return t != "*" && !slices.Contains(kept.Tokens(), t) })
		}
		b.copy(g, true)
		m.put(b.entries, "the preferences of this site, with its own rules", agents...)
	}
}

// write adds the group of a target.
func (m *merger) write(t *target) {
	b := body{dialect: m.settings.Dialect}
	if t.terms.all {
		b.add("Disallow: /", Layer, t.terms.line)
	} else {
		b.preferences(t.base, &m.policy)
		for _, p := range t.terms.paths { // first, because some crawlers apply the first rule that matches
			b.add("Disallow: "+p.Pattern, Layer, p.Line)
		}
		b.copy(t.base, !t.star || t.crawler.CrawlDelay != crawler.No)
	}
	m.put(b.entries, "", first(t.crawler))
	m.written[strings.ToLower(first(t.crawler))] = true
}

// before adds a group with the rules that a group of the site's file had.
func (m *merger) before(g *robots.Group, paced bool, token string) {
	b := body{dialect: m.settings.Dialect}
	if mayCrawl(g) {
		b.preferences(g, &m.policy)
	}
	b.copy(g, paced)
	m.put(b.entries, "as before", token)
}

// put adds a group for agents. Agents with the same lines share a group.
func (m *merger) put(entries []entry, why string, agents ...string) {
	key := fmt.Sprintf("%q %#v", why, entries)
	g := m.groups[key]
	if g == nil {
		g = &group{entries: entries, why: why}
		m.groups[key] = g
		m.order = append(m.order, g)
	}
	g.agents = append(g.agents, agents...)
}
