package headers

import (
	"regexp"
	"slices"

	"github.com/caddy-robots/caddy-robots/internal/nameglob"
)

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
