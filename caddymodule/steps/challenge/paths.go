package challenge

import (
	"regexp"
	"slices"
	"strings"
)

// Bounds of what fold finds.
const (
	maxDepth  = 8 // names of a target
	mostFolds = 4 // patterns
)

// plainName is a name of a target that means the same in robots.txt and in a Caddyfile. Clients
// choose these names.
var plainName = regexp.MustCompile(`^[A-Za-z0-9._~:@,+%-]{1,64}$`)

// namesOf returns the names in a target, as they are in a pattern: those of the path, each with
// its slash, and those of the query's parameters. One that is not plain is a star.
func namesOf(target string) (names []string) {
	path, query, hasQuery := strings.Cut(target, "?")
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if !plainName.MatchString(name) && path != "/" {
			name = "*"
		}
		names = append(names, "/"+name)
	}
	if hasQuery {
		names = append(names, "?")
		for parameter := range strings.SplitSeq(query, "&") {
			if name, _, _ := strings.Cut(parameter, "="); plainName.MatchString(name) {
				names = append(names, "*"+name+"=")
			}
		}
	}
	return names[:min(len(names), maxDepth+1)]
}

// fold returns the patterns, in robots.txt syntax, of most of some targets: what nine of ten have
// at a place stays, also what a quarter has in a path, and the rest becomes a star.
func fold(targets []string) (patterns []string) {
	var all [][]string
	for _, target := range targets {
		all = append(all, namesOf(target))
	}
	var split func(some [][]string, kept []string)
	split = func(some [][]string, kept []string) {
		times, longer := make(map[string]int), 0
		for _, names := range some {
			if len(names) > len(kept) {
				times[names[len(kept)]]++
				longer++
			}
		}
		var common []string
		for name, n := range times {
			if len(kept) < maxDepth && name != "/*" && (10*n >= 9*len(some) || name[0] == '/' && 4*n >= len(all)) {
				common = append(common, name)
			}
		}
		slices.Sort(common)
		for _, name := range common {
			isOther := func(names []string) bool { return len(names) <= len(kept) || names[len(kept)] != name }
			split(slices.DeleteFunc(slices.Clone(some), isOther), append(slices.Clip(kept), name))
		}
		goesOn := 2*longer > len(some) && len(kept) < maxDepth
		switch pattern := asPattern(kept, longer > 0); {
		case len(common) > 0:
		case goesOn && slices.Contains(kept, "?"):
			split(some, append(slices.Clip(kept), ""))
		case goesOn:
			split(some, append(slices.Clip(kept), "/*"))
		case !slices.Contains(patterns, pattern) && len(patterns) < mostFolds:
			patterns = append(patterns, pattern)
		}
	}
	split(all, nil)
	return patterns
}

// asPattern returns the pattern of names, and of what is below them if it is that of a folder.
func asPattern(kept []string, isFolder bool) string {
	for len(kept) > 0 && kept[len(kept)-1] == "/*" {
		kept, isFolder = kept[:len(kept)-1], true
	}
	pattern := strings.Join(kept, "")
	switch {
	case strings.Contains(pattern, "?"):
		return pattern
	case isFolder:
		return pattern + "/*"
	}
	return pattern + "$"
}
