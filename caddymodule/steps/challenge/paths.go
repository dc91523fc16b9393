package challenge

import (
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
)

// mostFolds bounds the patterns that fold finds: each has a part of the targets, 1/mostFolds at least.
const mostFolds = 4

// unplain is a name in a path that may have a meaning in robots.txt or in a Caddyfile. Clients choose
// these names.
var unplain = regexp.MustCompile(`[^/]*[^/*A-Za-z0-9._~:@,+%-][^/]*`)

// fold returns the patterns, in robots.txt syntax, of most of some targets, as an audit of logs finds
// them. Of a query, they have a parameter that all have.
func fold(targets []string) (patterns []string) {
	tree := cost.New()
	for _, target := range targets {
		tree.Add("", target, cost.Sum{Requests: 1})
	}
	for _, row := range tree.Rows(1. / mostFolds) {
		path, _, _ := strings.Cut(row.Pattern, "?")
		pattern := patternOf(row.Pattern, slices.Contains(targets, path+"/"))
		if mostFolds*int(row.Requests) >= len(targets) && !slices.Contains(patterns, pattern) {
			patterns = append(patterns, pattern)
		}
	}
	return patterns
}

// patternOf returns the pattern of a row of costs in robots.txt syntax.
func patternOf(row string, isFolder bool) string {
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
