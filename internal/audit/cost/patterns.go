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

// Fold returns the patterns, in robots.txt syntax, of most of some targets: see PatternOf.
func Fold(targets []string, others ...string) (patterns []string) {
	tree := New()
	for _, one := range targets {
		tree.Add("", one, Sum{Requests: 1})
	}
	for _, row := range tree.Rows(1. / mostFolds) {
		path, _, _ := strings.Cut(row.Pattern, "?")
		pattern := PatternOf(row.Pattern, slices.Contains(targets, path+"/"), others...)
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

// PatternOf returns the pattern of a row of costs in robots.txt syntax. Of a query, it has the parameter
// that fewest of others have, which are targets that are not meant, or all; first one with a value, as
// action=diff.
func PatternOf(row string, isFolder bool, others ...string) string {
	path, query, hasQuery := strings.Cut(row, "?")
	pattern := unplain.ReplaceAllString(path, "*")
	best, least := pattern+"?", len(others)+1
	for one := range strings.SplitSeq(query, "&") {
		_, value, isNamed := strings.Cut(one, "=")
		if !isNamed {
			continue
		}
		with, n := pattern+"?*"+one, 0
		group := target.Group(with)
		for _, other := range others {
			if target.Matches(group, other) {
				n++
			}
		}
		if n < least || n == least && value != "" && strings.HasSuffix(best, "=") {
			best, least = with, n
		}
	}
	switch {
	case hasQuery:
		return best
	case isFolder:
		return pattern + "/$"
	case !strings.HasSuffix(path, "*"):
		return pattern + "$"
	}
	return pattern
}
