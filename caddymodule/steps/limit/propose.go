package limit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/propose"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/limits"
	"github.com/caddy-robots/caddy-robots/internal/audit/cost"
	"github.com/caddy-robots/caddy-robots/internal/audit/target"
	"github.com/caddy-robots/caddy-robots/internal/snippet"
)

// Bounds of what is proposed.
const (
	proposedDays = 3   // of log that a proposal takes
	keptPart     = 4   // a limit lets one of so many requests pass
	maxProposed  = 100 // sets of paths
	maxTogether  = 10  // paths of a set
)

// Propose implements propose.Proposer: for paths that were expensive in the log, a limit that lets a
// quarter of the requests of robots pass.
func (l *Limits) Propose(s *propose.Site) (list []propose.Proposal, err error) {
	if len(l.Limits) > 0 {
		s.Note("The site has limits already: no other limit is suggested for their paths.")
	}
	if len(l.Limits) >= limits.Max {
		return nil, nil
	}
	if s.Flooded > 0 && len(s.Hosts) == 0 {
		sum, held := costsOf(s, func(string) bool { return true })
		one := limits.Limit{Each: fmt.Sprintf("%d/1m", s.Flooded)}
		list = append(list, propose.Proposal{
			Step: &Limits{Limits: append(slices.Clone(l.Limits), one)}, Text: snippet.Limit(nil, "each "+one.Each),
			Why:    "bounds the pace of each robot. It holds no person and no search engine, but feed readers and link previews",
			AtMost: limits.Max - len(l.Limits), Estimate: sum, Held: held,
		})
	}
	for _, patterns := range expensive(s.Paths) {
		group := target.Group(patterns...)
		if slices.ContainsFunc(l.Limits, func(one limits.Limit) bool { return isIn(one, patterns) }) {
			continue
		}
		sum, held := costsOf(s, func(pattern string) bool { return target.Matches(group, example.Replace(pattern)) })
		rate := snippet.Rate(float64(sum.Requests) / s.Period.Minutes() / keptPart)
		lines := []string{"all " + rate.String()}
		if len(s.Hosts) > 0 {
			lines = append(lines, "hosts "+strings.Join(s.Hosts, " "))
		}
		one := limits.Limit{Paths: patterns, All: rate.String(), Hosts: s.Hosts}
		list = append(list, propose.Proposal{
			Step: &Limits{Limits: append(slices.Clone(l.Limits), one)}, Text: snippet.Limit(patterns, lines...),
			Why: fmt.Sprintf("bounds what robots fetch of %s to a quarter of their pace. It holds no person and no search "+
				"engine, but feed readers and link previews", strings.Join(patterns, " ")),
			Days: proposedDays, AtMost: limits.Max - len(l.Limits), Estimate: sum, Held: held, Paths: patterns,
		})
	}
	return list, nil
}

// example replaces the wildcards of a pattern.
var example = strings.NewReplacer("*", "x", "$", "")

// isIn reports whether a limit holds one of several paths.
func isIn(l limits.Limit, patterns []string) bool {
	held := target.Group(l.Paths...)
	return len(l.Paths) == 0 ||
		slices.ContainsFunc(patterns, func(p string) bool { return target.Matches(held, example.Replace(p)) })
}

// expensive returns the paths, in robots.txt syntax, that rows of costs are about: those for which one
// limit is proposed are together.
func expensive(rows []cost.Row) (list [][]string) {
	known := make(map[string]bool)
	add := func(patterns ...string) {
		if key := strings.Join(patterns, " "); key != "" && !known[key] && len(list) < maxProposed {
			known[key] = true
			list = append(list, patterns)
		}
	}
	if dear, hasCheap := dearest(rows, ""); hasCheap {
		add(dear...)
	}
	for _, row := range rows {
		path, _, hasQuery := strings.Cut(row.Pattern, "?")
		if !propose.IsPlain(path) {
			continue
		}
		switch {
		case hasQuery:
			dear, _ := dearest(rows, path+"?")
			add(dear...)
			add(path + "?")
		case strings.Trim(path, "/*") == "": // nothing in the path says which pages these are
		default:
			add(ofPath(path))
		}
	}
	return list
}

// ofPath returns the pattern of a path without a query.
func ofPath(path string) string {
	if strings.HasSuffix(path, "/*") {
		return strings.TrimRight(path, "/*") + "/"
	}
	return path + "$"
}

// dearest returns the patterns of rows with a prefix of which a request costs as much as those of all, or more,
// at most maxTogether. hasCheap says that there are others.
func dearest(rows []cost.Row, prefix string) (patterns []string, hasCheap bool) {
	var whole cost.Sum
	for _, row := range rows {
		if strings.HasPrefix(row.Pattern, prefix) {
			whole.Add(row.Sum)
		}
	}
	var dear, cheap []string
	for _, row := range rows {
		path, _, _ := strings.Cut(row.Pattern, "?")
		switch {
		case !strings.HasPrefix(row.Pattern, prefix):
		case row.Share(whole)*float64(whole.Requests) < float64(row.Requests):
			cheap = append(cheap, row.Pattern)
		case propose.IsPlain(path) && !cost.IsWhole(row.Pattern) && len(dear) < maxTogether:
			dear = append(dear, row.Pattern)
		}
	}
	for _, row := range dear {
		pattern := ofPath(row)
		if strings.Contains(row, "?") {
			pattern = cost.PatternOf(row, false, cheap...)
		}
		if !slices.Contains(patterns, pattern) {
			patterns = append(patterns, pattern)
		}
	}
	return patterns, len(cheap) > 0
}

// costsOf returns what the robots that a limit holds cost on some paths, and their names.
func costsOf(s *propose.Site, isThere func(pattern string) bool) (sum cost.Sum, held []string) {
	for _, row := range s.Paths {
		if !isThere(row.Pattern) {
			continue
		}
		for _, client := range row.Clients {
			i := slices.IndexFunc(s.Crawlers, func(c propose.Crawler) bool { return c.Name == client.Name })
			if i >= 0 && isHeld(&s.Crawlers[i]) {
				sum.Add(client.Sum)
				held = append(held, client.Name)
			}
		}
	}
	return sum, held
}

// isHeld reports whether a crawler is a robot that a limit holds.
func isHeld(c *propose.Crawler) bool {
	return propose.Crawls(c.Class) && (c.Row == nil || !c.Row.CountsAs(crawler.Search) && !c.Row.CountsAs(crawler.Ads))
}
