package judge

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Name reports whether paths, as PathGroup returns them, have that of a request target, in any
// spelling that the rules know. They never have /robots.txt and exempt paths.
func (p *plans) Name(paths *robots.Group, target string) bool {
	if IsRobotsTxt(target) {
		return false
	}
	s := p.settings
	v := s.viewsOf(target)
	defer views.Put(v)
	return !paths.MatchViews(v).Allowed && !s.exemptPaths.MatchViews(v).Allowed
}

// DisallowsPart reports whether the group for `*` disallows a request target, and not the
// whole site.
func (p *plans) DisallowsPart(target string) bool {
	rule, disallowed := p.matchStar(target)
	return disallowed && !isWholeSite(rule.Pattern)
}

// DisallowsNoPart reports whether the group for `*` disallows nothing, or only the whole site.
func (p *plans) DisallowsNoPart() bool {
	for _, rule := range p.file.Star().Rules() {
		if !rule.Allow && rule.Pattern != "" && !isWholeSite(rule.Pattern) {
			return false
		}
	}
	return true
}

// isWholeSite reports whether a pattern matches every path.
func isWholeSite(pattern string) bool {
	rest := strings.Trim(strings.TrimSuffix(pattern, "*$"), "*")
	return rest == "" || rest == "/"
}
