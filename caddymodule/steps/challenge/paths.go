package challenge

import (
	"regexp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
)

// What makes it doubtful that lone addresses storm a site.
const (
	tooEarly  = "it is not known yet whether other visitors fetch style sheets and images there"
	elsewhere = "hardly any visitor of other pages fetches style sheets and images there either, which may be another server's"
	programs  = "most say that they are programs or HTTP libraries, which can't show that they are browsers; `programs on` and `http_clients on` hold them to robots.txt"
)

// The numbers of addresses that say something: of all whose pages are kept; of those with other pages
// than the stormed ones, a share of all; and of those that fetch embedded files, a share of these
// others, for robots want other pages too, and fetch nothing.
const (
	leastAddresses = 16
	otherShare     = 16
	embedShare     = 8
)

// isWhole reports whether a pattern names nothing: it is that of the front page, or of all pages.
func isWhole(pattern string) bool { return strings.Trim(pattern, "/*?$") == "" }

// stormed returns the patterns of the latest pages of lone addresses, and the doubt that they say
// something of a storm, "" for none.
func (c *Check) stormed(s *Storm) (patterns []string, doubt string) {
	s.mu.Lock()
	latest := s.latest
	s.mu.Unlock()
	now := s.evaluated.Load()
	embeds := func(one *sample) bool {
		v := c.memory.memos.Get(one.address)
		if v == nil {
			return false
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		return now-v.embedded < day
	}
	var targets, ofPrograms []string
	for i := range latest {
		if one := &latest[i]; one.isSure && c.page != nil || one.isLone && !embeds(one) { // many people may share an address
			if one.isProgram {
				ofPrograms = append(ofPrograms, one.target)
			} else {
				targets = append(targets, one.target)
			}
		}
	}
	if len(ofPrograms) > len(targets) {
		return fold(ofPrograms), programs
	}
	patterns = fold(targets)
	named := slices.DeleteFunc(slices.Clone(patterns), isWhole) // visitors open the others too
	if len(named) == 0 {
		named = patterns
	}
	paths, _ := judge.PathGroup(named)
	all, others, with := make(map[uint64]bool), make(map[uint64]bool), 0
	for i := range latest {
		one := &latest[i]
		if one.target == "" {
			continue
		}
		all[one.address] = true
		if others[one.address] || !paths.Match(one.target).Allowed {
			continue
		}
		others[one.address] = true
		if embeds(one) {
			with++
		}
	}
	switch {
	case len(all) < leastAddresses:
		return patterns, tooEarly
	case otherShare*len(others) >= len(all) && embedShare*with < len(others):
		return patterns, elsewhere
	}
	return patterns, ""
}

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
	return slices.DeleteFunc(slices.Clone(patterns), func(one string) bool {
		return slices.ContainsFunc(patterns, func(other string) bool { return covers(other, one) })
	})
}

// covers reports whether a pattern that names something is of all paths of another one too.
func covers(pattern, other string) bool {
	group, err := judge.PathGroup([]string{pattern})
	return err == nil && pattern != other && !isWhole(pattern) && !group.Match(other).Allowed
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
