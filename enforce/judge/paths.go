package judge

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Paths are path patterns in robots.txt syntax. They are immutable.
type Paths struct{ group *robots.Group }

// NewPaths compiles patterns.
func NewPaths(patterns []string) (*Paths, error) {
	var rules []robots.Rule
	for _, p := range patterns {
		if err := CheckPathPattern(p); err != nil {
			return nil, err
		}
		rules = append(rules, robots.Rule{Pattern: p})
	}
	return &Paths{hiddenGroup(rules)}, nil
}

// Name reports whether paths have that of a request target, in any spelling that the rules
// know. They never have /robots.txt and exempt paths.
func (p *plans) Name(paths *Paths, target string) bool {
	if IsRobotsTxt(target) {
		return false
	}
	s := p.settings
	v := s.viewsOf(target)
	defer views.Put(v)
	return !paths.group.MatchViews(v).Allowed && !s.exemptPaths.MatchViews(v).Allowed
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
