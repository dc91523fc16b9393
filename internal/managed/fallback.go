package managed

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/internal/canonical"
	"github.com/caddy-robots/caddy-robots/internal/words"
	"github.com/caddy-robots/caddy-robots/robots"
)

// fallbacks adds a group for each crawler outside the policy that would otherwise
// fall back to a group of the policy, or whose group the policy replaces: with the
// rules and limits that the crawler had before. It ends because each round adds a
// token.
func (m *merger) fallbacks() {
	for more := true; more; {
		more = false
		for row := range m.registry.All() {
			if m.inside[row] || m.written[strings.ToLower(first(row))] || !m.fallsBack(row) || !nameable(first(row)) {
				continue
			}
			g, star := groupOf(m.file, row)
			m.before(g, !star || row.CrawlDelay != crawler.No, first(row))
			m.written[strings.ToLower(first(row))] = true
			more = true
		}
	}
}

// fallsBack reports whether another group than in the site's file would apply to a
// crawler outside the policy.
func (m *merger) fallsBack(c *crawler.Crawler) bool {
	for _, t := range c.Robots {
		switch {
		case m.written[strings.ToLower(t)]:
			return true
		case m.file.Named(t) != nil:
			return m.replaces(t)
		}
	}
	return false
}

// finish adds the groups and licences to the site's file.
func (m *merger) finish() {
	s := m.site
	if n := len(s.lines); n > 0 {
		last := &s.lines[n-1]
		if last.ending == "" || last.ending == "\r" && s.ending[0] == '\n' {
			last.ending = s.ending // a CR before the LF of the next line would be one line ending
		}
	}
	if len(m.order) == 0 && len(m.policy.License) == 0 {
		return
	}
	if n := len(s.lines); n > 0 && strings.TrimSpace(strings.TrimPrefix(s.lines[n-1].text, canonical.ByteOrderMark)) != "" {
		s.add(entry{})
	}
	s.add(entry{text: beginMarker})
	if s.open {
		s.add(entry{text: "Disallow:"})
	}
	for i, g := range m.order {
		if i > 0 || s.open {
			s.add(entry{})
		}
		s.add(entry{text: "# " + cmp.Or(g.why, purposes(g.agents, m.registry))})
		for _, a := range g.agents {
			s.add(entry{text: "User-agent: " + a})
		}
		s.add(g.entries...)
	}
	for url, line := range values(m.policy.License) {
		if !slices.ContainsFunc(m.file.Licenses(), func(o robots.License) bool { return o.URL == url }) {
			s.add(entry{})
			s.add(entry{text: "License: " + url, origin: origin{Layer, line}})
		}
	}
	s.add(entry{text: endMarker})
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
