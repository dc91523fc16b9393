package suggest

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/limits"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/target"
	"github.com/caddy-robots/caddy-robots/robots"
)

// unit is a set of paths for which one change is proposed.
type unit struct {
	patterns []string // in robots.txt syntax
	group    *robots.Group
	evidence
}

// isIn reports whether a limit holds one of the unit's paths.
func (u *unit) isIn(l limits.Limit) bool {
	held, example := target.Group(l.Paths...), strings.NewReplacer("*", "x", "$", "")
	return len(l.Paths) == 0 ||
		slices.ContainsFunc(u.patterns, func(p string) bool { return target.Matches(held, example.Replace(p)) })
}

// maxUnits is the largest number of units that are considered.
const maxUnits = 100

// units returns the paths that were expensive in the log.
func units(costs *audit.Costs) (list []*unit) {
	known := make(map[string]bool)
	add := func(patterns ...string) {
		if key := strings.Join(patterns, " "); !known[key] && len(list) < maxUnits {
			known[key] = true
			list = append(list, &unit{patterns: patterns, group: target.Group(patterns...)})
		}
	}
	for _, row := range costs.Patterns {
		path, query, hasQuery := strings.Cut(row.Pattern, "?")
		if !isPlain(path) {
			continue
		}
		switch {
		case hasQuery:
			add(path + "?")
			for name := range strings.SplitSeq(strings.TrimSuffix(query, "="), "=&") {
				if name != "*" {
					add("/*?"+name+"=", "/*&"+name+"=") // the first parameter, or another one
				}
			}
		case strings.Trim(path, "/*") == "": // nothing in the path says which pages these are
		case strings.HasSuffix(path, "/*"):
			add(strings.TrimRight(path, "/*") + "/")
		default:
			add(path + "$")
		}
	}
	return list
}

// isPlain reports whether a path has only characters that mean the same in robots.txt
// and in a Caddyfile, besides *. Clients choose the paths of a log.
func isPlain(path string) bool {
	return strings.Trim(path, "/*abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~:-") == ""
}
