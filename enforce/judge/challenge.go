package judge

import (
	"strings"

	"github.com/caddy-robots/caddy-robots/robots"
)

// Challenge says on which paths clients with a browser's User-Agent may have to show that
// they are browsers. The caller finds out whether they do. The zero value names no path.
type Challenge struct {
	// Paths are patterns in robots.txt syntax.
	Paths []string
	// Disallowed adds the paths that the group for `*` disallows. A rule that disallows the
	// whole site does not count.
	Disallowed bool
	// Place is the line of the configuration. Without it, only its Text is known: String.
	Place *Place
}

// String returns the line of the configuration, such as `challenge /blame/*`.
func (c *Challenge) String() string {
	if c.Disallowed {
		return "challenge disallowed"
	}
	return "challenge " + strings.Join(c.Paths, " ")
}

// compileChallenge compiles Settings.Challenge.
func (s *Compiled) compileChallenge() error {
	if s.Challenge.Place == nil {
		s.Challenge.Place = &Place{Text: s.Challenge.String()}
	}
	var paths []robots.Rule
	for _, p := range s.Challenge.Paths {
		if err := CheckPathPattern(p); err != nil {
			return err
		}
		paths = append(paths, robots.Rule{Pattern: p})
	}
	if len(paths) > 0 {
		s.challenge = hiddenGroup(paths)
	}
	return nil
}

// Challenges reports whether Settings.Challenge names the path of a request target. It
// names no exempt path.
func (p *plans) Challenges(target string) bool {
	s := p.settings
	if s.challenge == nil {
		return s.Challenge.Disallowed && p.DisallowsPart(target)
	}
	if IsRobotsTxt(target) {
		return false
	}
	v := s.viewsOf(target)
	defer views.Put(v)
	return !s.challenge.MatchViews(v).Allowed && !s.exemptPaths.MatchViews(v).Allowed
}

// DisallowsPart reports whether the group for `*` disallows a request target, and not the
// whole site.
func (p *plans) DisallowsPart(target string) bool {
	rule, disallowed := p.matchStar(target)
	return disallowed && !isWholeSite(rule.Pattern)
}

// ChallengesNothing reports whether Settings.Challenge names no path, because the group for
// `*` disallows none but the whole site.
func (p *plans) ChallengesNothing() bool {
	s := p.settings
	if !s.Challenge.Disallowed || s.challenge != nil {
		return false
	}
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
