package managed

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// maxComparedRules limits how many rules of the site are compared with the
// policy.
const maxComparedRules = 2000

// noteLongerAllows adds a note for each Allow of the site that overrides a path
// that the policy denies.
func (m *merger) noteLongerAllows(after *robots.File) {
	budget := maxComparedRules
	for _, t := range m.list {
		if t.terms.all {
			continue
		}
		g := after.Named(first(t.crawler))
		for _, r := range t.base.Rules() {
			if budget--; budget < 0 {
				return
			}
			if !r.Allow {
				continue
			}
			path := example(r.Pattern)
			if v := g.Match(path); !v.Allowed || v.Rule == nil || v.Rule.Pattern != r.Pattern {
				continue
			}
			for _, p := range t.terms.paths {
				if denies(p.pattern, path, m.settings.Dialect) {
					m.notes.add(LongerAllow, t.crawler.Name, r.String(), r.Line, p.line)
					break
				}
			}
		}
	}
}

// example returns a path that a pattern matches.
func example(pattern string) string {
	path := strings.ReplaceAll(strings.TrimSuffix(pattern, "$"), "*", "")
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path
}

// denies reports whether a Disallow rule with the pattern denies a path.
func denies(pattern, path string, d robots.Dialect) bool {
	f := robots.Parse([]byte("User-agent: *\nDisallow: "+pattern+"\n"), robots.WithDialect(d))
	return !f.Star().Match(path).Allowed
}
