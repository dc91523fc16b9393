package cost

import (
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/audit/target"
)

// IsWhole reports whether a pattern names nothing: it is that of the front page, or of all pages.
func IsWhole(pattern string) bool { return strings.Trim(pattern, "/*?$") == "" }

// mostFolds bounds the patterns that Fold finds: each has a part of the targets, 1/mostFolds at least.
const mostFolds = 4

// unplain is a name in a path that may have a meaning in robots.txt or in a Caddyfile. Clients choose
// these names.
var unplain = regexp.MustCompile(`[^/]*[^/*A-Za-z0-9._~:@,+%-][^/]*`)

// Fold returns the patterns, in robots.txt syntax, of most of some targets. Of a query, they
// have a parameter that all have.
func Fold(targets []string) (patterns []string) {
	tree := New()
	for _, one := range targets {
		tree.Add("", one, Sum{Requests: 1})
	}
	for _, row := range tree.Rows(1. / mostFolds) {
		path, _, _ := strings.Cut(row.Pattern, "?")
		pattern := PatternOf(row.Pattern, slices.Contains(targets, path+"/"))
		if mostFolds*int(row.Requests) >= len(targets) && !slices.Contains(patterns, pattern) {
			patterns = append(patterns, pattern)
		}
	}
	return slices.DeleteFunc(slices.Clone(patterns), func(one string) bool {
		return slices.ContainsFunc(patterns, func(other string) bool { return covers(other, one) })
	})
}

// covers reports whether a pattern that names something is of all paths of another one too.
func covers(pattern, other string) bool {
	return pattern != other && !IsWhole(pattern) && target.Matches(target.Group(pattern), other)
}

// PatternOf returns the pattern of a row of costs in robots.txt syntax.
func PatternOf(row string, isFolder bool) string {
	path, query, hasQuery := strings.Cut(row, "?")
	name, _, isNamed := strings.Cut(query, "=")
	pattern := unplain.ReplaceAllString(path, "*")
	switch {
	case isNamed && !unplain.MatchString(name):
		return pattern + "?*" + name + "="
	case hasQuery:
		return pattern + "?"
	case isFolder:
		return pattern + "/$"
	case !strings.HasSuffix(path, "*"):
		return pattern + "$"
	}
	return pattern
}
