package headers

import (
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/nameglob"
)

// pathGlob is a pattern for paths in robots.txt syntax (RFC 9309, section
// 2.2.3): it matches the start of a path and query. * matches any octets, and $
// at the end of the pattern matches the end of the target.
type pathGlob struct {
	prefix   string   // normal form of the text before the first *
	parts    []string // normal forms of the texts between and after the *
	anchored bool     // the pattern ends in $, so the target must end with the last part
}

func newPathGlob(s string) *pathGlob {
	s, end := strings.CutSuffix(s, "$")
	parts := strings.Split(s, "*")
	for i, part := range parts {
		parts[i] = string(appendNormal(nil, part))
	}
	g := &pathGlob{prefix: parts[0], anchored: end}
	for i, part := range parts[1:] {
		if part != "" || end && i == len(parts)-2 {
			g.parts = append(g.parts, part)
		}
	}
	return g
}

// match reports whether the pattern matches target, which must be in normal
// form. It searches for each part only once, behind the part before, so its
// time is proportional to the length of target.
func (g *pathGlob) match(target string) bool {
	rest, found := strings.CutPrefix(target, g.prefix)
	if !found {
		return false
	}
	if len(g.parts) == 0 {
		return !g.anchored || rest == ""
	}
	middle := g.parts
	if g.anchored {
		middle = middle[:len(middle)-1]
	}
	for _, part := range middle {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return !g.anchored || strings.HasSuffix(rest, g.parts[len(g.parts)-1])
}

// matchViews reports whether the pattern matches one of the two forms of a path.
func (g *pathGlob) matchViews(v *views) bool {
	return g.match(v.target) || v.served != "" && g.match(v.served)
}

// nameRegexp is a regular expression that is searched for in a file name. If it
// is equivalent to a few literals, such as `\.(pdf|docx?)$`, the tables of file
// names have these literals instead.
type nameRegexp struct {
	re    *regexp.Regexp
	globs []*nameglob.Glob // equivalent patterns; nil if there are none, so that the regular expression must be run
}

func newNameRegexp(s string) (*nameRegexp, error) {
	re, err := regexp.Compile(s)
	if err != nil {
		return nil, err
	}
	return &nameRegexp{re, nameglob.FromRegexp(s)}, nil
}

func (n *nameRegexp) match(name string) bool {
	if n.globs == nil {
		return n.re.MatchString(name)
	}
	return slices.ContainsFunc(n.globs, func(g *nameglob.Glob) bool { return g.Match(name) })
}
