package suggest

import (
	"net/url"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
	"github.com/caddy-robots/caddy-robots/internal/audit"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/target"
	"github.com/caddy-robots/caddy-robots/robots"
)

// unit is a set of paths for which one change is proposed.
type unit struct {
	patterns []string // in robots.txt syntax
	group    *robots.Group
	robots   cost.Sum        // what robots that a limit holds cost there
	held     map[string]bool // their names
}

// example replaces the wildcards of a pattern.
var example = strings.NewReplacer("*", "x", "$", "")

// isIn reports whether a limit holds one of the unit's paths.
func (u *unit) isIn(l limits.Limit) bool {
	held := target.Group(l.Paths...)
	return len(l.Paths) == 0 ||
		slices.ContainsFunc(u.patterns, func(p string) bool { return target.Matches(held, example.Replace(p)) })
}

// maxUnits is the largest number of units that are considered.
const maxUnits = 100

// units returns the paths that were expensive in the log.
func units(r *audit.Report) (list []*unit) {
	known := make(map[string]bool)
	add := func(patterns ...string) {
		if key := strings.Join(patterns, " "); !known[key] && len(list) < maxUnits {
			known[key] = true
			list = append(list, &unit{patterns: patterns, group: target.Group(patterns...), held: make(map[string]bool)})
		}
	}
	for _, row := range r.Costs.Patterns {
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
	for _, u := range list {
		u.addCosts(r)
	}
	return list
}

// addCosts adds what the robots that a limit holds cost on the unit's paths.
func (u *unit) addCosts(r *audit.Report) {
	for _, row := range r.Costs.Patterns {
		if !target.Matches(u.group, example.Replace(row.Pattern)) {
			continue
		}
		for _, client := range row.Clients {
			i := slices.IndexFunc(r.Crawlers, func(c *audit.Crawler) bool { return c.Name == client.Name && !c.Rest })
			if i >= 0 && isHeld(r.Crawlers[i]) {
				u.robots.Add(client.Sum)
				u.held[client.Name] = true
			}
		}
	}
}

// isPlain reports whether a path has only characters that mean the same in robots.txt
// and in a Caddyfile, besides *. Clients choose the paths of a log.
func isPlain(path string) bool {
	return strings.Trim(path, "/*abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~:-") == ""
}

// isNameable reports whether a policy may name the crawler.
// The others bring people to the site, or act for them.
func isNameable(row *crawler.Crawler) bool {
	return row != nil && row.Class == crawler.Registered && !row.ControlOnly && len(row.Robots) > 0 && len(row.Purposes) > 0 &&
		(row.Purposes[0] == crawler.AIData || slices.Contains(purposes, row.Purposes[0])) && !isSearch(row)
}

// isSearch reports whether the crawler is that of a search engine.
func isSearch(row *crawler.Crawler) bool { return row != nil && row.CountsAs(crawler.Search) }

// crawls are the classes of the robots that a limit holds, but for search engines and
// advertisers.
var crawls = []string{crawler.Registered.String(), crawler.Named.String(), crawler.SelfDeclared.String(), crawler.Scraper.String()}

// isHeld reports whether a crawler is a robot that a limit holds.
func isHeld(c *audit.Crawler) bool {
	row := c.Row()
	return slices.Contains(crawls, c.Class) && !isSearch(row) && (row == nil || !row.CountsAs(crawler.Ads))
}

// isFromElsewhere reports whether the Referer is a page of another site, such as a
// search engine.
func isFromElsewhere(r *audit.Judged) bool {
	u, err := url.Parse(r.Referer)
	return err == nil && u.Host != "" && !strings.EqualFold(u.Hostname(), r.Host)
}
