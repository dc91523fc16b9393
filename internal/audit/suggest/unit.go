package suggest

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/software"
	"github.com/caddy-robots/caddy-robots/robots"
)

// unit is a set of paths for which one change is proposed.
type unit struct {
	patterns []string // in robots.txt syntax
	preset   int      // index in presets; -1 for paths that are only expensive in this log
	group    *robots.Group
	evidence
}

// isIn reports whether a limit holds one of the unit's paths.
func (u *unit) isIn(l judge.Limit) bool {
	held, example := software.GroupOf(l.Paths...), strings.NewReplacer("*", "x", "$", "")
	return len(l.Paths) == 0 ||
		slices.ContainsFunc(u.patterns, func(p string) bool { return software.Matches(held, example.Replace(p)) })
}

// maxUnits is the largest number of units that are considered.
const maxUnits = 100

// units returns the paths that were expensive in the log, and those of all presets.
func units(costs *audit.Costs) (list []*unit) {
	known := make(map[string]bool)
	add := func(preset int, patterns ...string) {
		if key := strings.Join(patterns, " "); !known[key] && len(list) < maxUnits {
			known[key] = true
			list = append(list, &unit{patterns: patterns, preset: preset, group: software.GroupOf(patterns...)})
		}
	}
	for i, p := range software.All {
		for _, path := range p.Paths {
			add(i, path.Patterns...)
		}
	}
	for _, row := range costs.Patterns {
		path, query, hasQuery := strings.Cut(row.Pattern, "?")
		if !isPlain(path) {
			continue
		}
		switch {
		case hasQuery:
			add(-1, path+"?")
			for name := range strings.SplitSeq(strings.TrimSuffix(query, "="), "=&") {
				if name != "*" {
					add(-1, software.Param(name)...)
				}
			}
		case strings.Trim(path, "/*") == "": // nothing in the path says which pages these are
		case strings.HasSuffix(path, "/*"):
			add(-1, strings.TrimRight(path, "/*")+"/")
		default:
			add(-1, path+"$")
		}
	}
	return list
}

// isPlain reports whether a path has only characters that mean the same in robots.txt
// and in a Caddyfile, besides *. Clients choose the paths of a log.
func isPlain(path string) bool {
	return strings.Trim(path, "/*abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~:-") == ""
}

// isListPage reports whether a target seems to be a further page of a list.
func isListPage(target string) bool {
	path, query, _ := strings.Cut(target, "?")
	return software.HasParam(query, "page", "paged", "p", "pg", "start", "offset") || strings.Contains(path, "/page/")
}
