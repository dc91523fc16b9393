package audit

import (
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// Against compares the verdicts of Site.Robots (now) with those of Site.Was (before): of
// two robots.txt files under the same settings, as if these enforced them.
type Against struct {
	// Sources are the robots.txt files of Site.Was, in the form of Report.Sources.
	Sources []*Source `json:"-"`
	// Changed is the number of requests that would get another action.
	Changed int64 `json:"changed"`
	// MoreRefused is the number of requests that are refused now and passed before,
	// MorePassed the reverse. Changed also counts those that are throttled instead of
	// denied, or denied instead of throttled.
	MoreRefused int64 `json:"more_refused"`
	MorePassed  int64 `json:"more_passed"`
	// Browsers is the number of requests with browsers' User-Agents that are refused
	// now, whether or not they were refused before.
	Browsers int64 `json:"browsers"`
	// Search and SearchWas are the numbers of requests of search engines, without
	// those of impostors, that are refused now and before.
	Search    int64 `json:"search"`
	SearchWas int64 `json:"search_was"`
	// Bad is true if Browsers is not 0, or if more requests of any one search engine
	// are refused now than before. `caddy robots audit` then exits with status 2.
	Bad bool `json:"bad"`
	// Differences are the rows with another action than before, with Row.Was: first those that
	// passed before, and within that by Requests, most first. At most 500.
	Differences []*Row `json:"-"`
}

// maxDifferences is the largest number of differences that are shown.
const maxDifferences = 500

// isComparable reports whether it is known what both Site.Robots and Site.Was would have
// done with the request.
func (v *Judged) isComparable() bool {
	return len(v.Rulings) == 2 && v.Rulings[0].source != nil && (v.Rulings[1].source != nil || len(v.host.site.Was) == 0)
}

// setWas completes the row of a request that was compared, its first one.
func (a *auditor) setWas(row *Row, v *Judged) {
	was := verdict.Of(&v.Rulings[1].Decision)
	if v.crawler == nil { // now it is a browser or app
		row.Crawler, row.Class = strings.Clone(was.Crawler), was.Class
	}
	row.Action, was.Action = row.action.String(), row.was.action.String() // as if they were enforced
	example := v.shown(a.mask, nil)
	row.Was, row.Example = &was.Verdict, &example
}

// compare returns the comparison.
func (a *auditor) compare() *Against {
	g := &Against{Differences: []*Row{}}
	for _, s := range a.sites {
		g.Sources = append(g.Sources, s.lines[1].sources...)
	}
	more := make(map[*Crawler]int64) // refused requests of search engines, without those before
	for _, row := range a.rows.sorted() {
		if row.Was == nil {
			continue
		}
		now, was, n := row.action != judge.Pass, row.was.action != judge.Pass, row.Requests
		addIf(&g.Browsers, row.browser, n)
		if now && row.isOfSearch() {
			g.Search += n
			more[row.client] += n
		}
		if was && row.isOfSearch() {
			g.SearchWas += n
			more[row.client] -= n
		}
		if row.action == row.was.action {
			continue
		}
		g.Changed += n
		addIf(&g.MoreRefused, now && !was, n)
		addIf(&g.MorePassed, was && !now, n)
		g.Differences = append(g.Differences, row)
	}
	g.Bad = g.Browsers > 0
	for _, n := range more {
		g.Bad = g.Bad || n > 0
	}
	slices.SortStableFunc(g.Differences, func(x, y *Row) int {
		return min(int(x.was.action), 1) - min(int(y.was.action), 1)
	})
	g.Differences = g.Differences[:min(len(g.Differences), maxDifferences)]
	return g
}

// isOfSearch reports whether the requests are those of a search engine, and no impostor's.
func (r *Row) isOfSearch() bool {
	return r.client != nil && r.client.isSearch() && r.claim != claim.Impostor
}
