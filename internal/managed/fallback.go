package managed

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// maxRounds limits how often groups are added for crawlers that fall back to
// other groups. Each round gives a group to all crawlers that need one; the
// next round finds crawlers that fall back to these groups.
const maxRounds = 8

// fallbacks returns the merged file. It adds a group for each crawler outside
// the policy that would otherwise fall back to one of the new groups.
func (m *merger) fallbacks() (merged *site, text []byte) {
	for range maxRounds {
		merged = m.build()
		text = merged.text()
		if len(text) > robots.MaxSize || !m.round(m.parse(text)) {
			break
		}
	}
	return merged, text
}

// round adds groups, and reports whether it added any.
func (m *merger) round(after *robots.File) (more bool) {
	keep := func(want, got *robots.Group, paced bool, token, name string) {
		if want != got && m.rulesText(want, paced) != m.rulesText(got, paced) && m.copyGroup(want, paced, token) {
			m.notes.add(FallbackGroup, name, "", want.Line(), 0)
			more = true
		}
	}
	for row := range m.registry.All() {
		if !m.inside[row] {
			want, star := groupOf(m.file, row)
			got, _ := groupOf(after, row)
			keep(want, got, !star || row.CrawlDelay != crawler.No, first(row), row.Name)
		}
	}
	for _, token := range m.file.Tokens() {
		if !m.ofTarget(token) {
			keep(m.file.Named(token), after.Named(token), true, token, token)
		}
	}
	return more
}

// ofTarget reports whether a token of the site's file belongs to a crawler that
// the policy applies to.
func (m *merger) ofTarget(token string) bool {
	for c := range m.inside {
		if own := m.ownTokens(c); words.ContainsFold(own, token) || words.ContainsFold(own, canonical.FirstWord(token)) {
			return true
		}
	}
	return false
}

// copyGroup adds a copy of a site's group for one crawler. It reports whether
// it did.
func (m *merger) copyGroup(g *robots.Group, paced bool, token string) bool {
	if m.written[strings.ToLower(token)] || !nameable(token) {
		return false
	}
	b := body{dialect: m.settings.Dialect}
	if g == nil || mayCrawl(g) {
		b.preferences(g, &m.policy)
	}
	b.copy(g, paced)
	m.put(b.entries, "as before", token)
	return true
}

// rulesText is a cache of the function rulesText.
func (m *merger) rulesText(g *robots.Group, paced bool) string {
	key := textKey{g, paced}
	text, ok := m.texts[key]
	if !ok {
		text = rulesText(g, paced)
		m.texts[key] = text
	}
	return text
}

// textKey is the key of merger.texts.
type textKey struct {
	group *robots.Group
	paced bool
}

// rulesText returns a group's rules and, if paced is true, its limits as a
// text. Equal texts mean equal verdicts.
func rulesText(g *robots.Group, paced bool) string {
	var lines []string
	for _, r := range g.Rules() {
		lines = append(lines, r.String())
	}
	if paced {
		var limits body
		limits.pace(g, 0, 0)
		for _, e := range limits.entries {
			lines = append(lines, e.text)
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines) // a rule that is repeated changes nothing
	return strings.Join(lines, "\n")
}

// build returns the merged file.
func (m *merger) build() *site {
	s := &site{lines: slices.Clone(m.kept.lines), ending: m.kept.ending}
	if n := len(s.lines); n > 0 {
		last := &s.lines[n-1]
		if last.ending == "" || last.ending == "\r" && s.ending[0] == '\n' {
			last.ending = s.ending // a CR before the LF of the next line would be one line ending
		}
	}
	if len(m.order) == 0 && len(m.policy.License) == 0 {
		return s
	}
	if n := len(s.lines); n > 0 && strings.TrimSpace(strings.TrimPrefix(s.lines[n-1].text, canonical.ByteOrderMark)) != "" {
		s.add(entry{})
	}
	s.add(entry{text: beginMarker})
	open := m.kept.open(m.settings.Dialect)
	if open {
		s.add(entry{text: "Disallow:"})
	}
	for i, g := range m.order {
		if i > 0 || open {
			s.add(entry{})
		}
		s.add(entry{text: "# " + cmp.Or(g.why, purposes(g.agents, m.registry))})
		for _, a := range g.agents {
			s.add(entry{text: "User-agent: " + a})
		}
		s.add(g.entries...)
	}
	for _, l := range m.policy.License {
		if !slices.ContainsFunc(m.file.Licenses(), func(o robots.License) bool { return o.URL == l.URL }) {
			s.add(entry{})
			s.add(entry{text: "License: " + l.URL, origin: origin{judge.PolicyLayer, l.Line}})
		}
	}
	s.add(entry{text: endMarker})
	return s
}

// purposes returns the purposes of crawlers, for a comment above their group.
func purposes(agents []string, registry *crawler.Registry) string {
	var list []string
	for _, a := range agents {
		if row := registry.Lookup(a); row != nil {
			list = append(list, words.Strings(row.Purposes)...)
		}
	}
	slices.Sort(list)
	return "purpose: " + strings.Join(slices.Compact(list), ", ")
}
