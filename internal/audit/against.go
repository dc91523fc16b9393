package audit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/audit/mask"
	"github.com/caddy-robots/caddy-robots/internal/managed"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Against compares the verdicts of Site.Robots (now) with those of Site.Was (before): of
// two robots.txt files under the same settings, as if these enforced them.
type Against struct {
	// Sources are the robots.txt files of Site.Was, in the form of Report.Sources.
	Sources []*Source `json:"sources"`
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
	// Differences are the changed verdicts by crawler and rule: first those that
	// passed before, and within that by Requests, most first. At most 500.
	Differences []Difference `json:"differences"`
}

// Difference counts the requests of one crawler whose verdict changed from Was to Now.
type Difference struct {
	Crawler  string          `json:"crawler"`
	Class    string          `json:"class"`    // as Crawler.Class
	Purposes []string        `json:"purposes"` // the main one first
	Was      verdict.Verdict `json:"was"`      // by Site.Was
	Now      verdict.Verdict `json:"now"`      // by Site.Robots
	Requests int64           `json:"requests"`
	Example  Request         `json:"example"` // the first of the requests
}

// against compares the verdicts of two sets of sites.
type against struct {
	Against
	mask        mask.Masker
	differences map[differenceKey]int // index in Differences
	search      map[string]*[2]int64  // refused requests of search engines, now and before
}

// differenceKey identifies a Difference.
type differenceKey struct {
	crawler  string
	class    crawler.Class
	now, was verdict.Verdict
}

// maxDifferences is the largest number of differences that are told apart.
const maxDifferences = 500

// count compares the two verdicts on a request.
func (g *against) count(v *Judged) {
	by, before := &v.Rulings[0], &v.Rulings[1]
	now, was := by.Action != judge.Pass, before.Action != judge.Pass
	agent := &by.Agent
	if agent.Class == crawler.Person {
		agent = &before.Agent
	}
	if row := agent.Crawler; row != nil && row.CountsAs(crawler.Search) && by.Claim.State != claim.Impostor && (now || was) {
		n := valueOf(&g.search, row.Name, func() *[2]int64 { return new([2]int64) })
		countIf(&n[0], now)
		countIf(&n[1], was)
	}
	countIf(&g.Browsers, now && v.isBrowser())
	if by.Action == before.Action {
		return
	}
	g.Changed++
	countIf(&g.MoreRefused, now && !was)
	countIf(&g.MorePassed, was && !now)
	g.add(v, agent)
}

// verdict returns the Verdict of a decision, as if the settings enforced it.
func (g *against) verdict(r *Ruling) verdict.Verdict {
	v := verdict.Of(&r.Decision).Verdict
	v.Action = r.Action.String()
	return v
}

// add counts a changed verdict as a Difference.
func (g *against) add(v *Judged, agent *crawler.Agent) {
	name := agent.Token
	purposes := []string{}
	if agent.Crawler != nil {
		name, purposes = agent.Crawler.Name, words.Strings(agent.Crawler.Purposes)
	}
	now, was := g.verdict(&v.Rulings[0]), g.verdict(&v.Rulings[1])
	key := differenceKey{crawler: name, class: agent.SentClass(), now: now, was: was}
	list := &g.Differences
	i, known := g.differences[key]
	if !known {
		if i = len(*list); i >= maxDifferences {
			return
		}
		key.crawler = strings.Clone(name)
		example := v.shown(g.mask, g.mask, nil)
		if hidden := managed.HiddenLayer.String(); (was.Layer == hidden || now.Layer == hidden) && !g.mask.Full { // hidden paths must not be shown
			example.Target = mask.Hidden
		}
		*list = append(*list, Difference{
			Crawler: key.crawler, Class: agent.SentClass().String(), Purposes: purposes, Was: was, Now: now, Example: example,
		})
		g.differences[key] = i
	}
	(*list)[i].Requests++
}

// finish returns the comparison.
func (g *against) finish(sites []*site) *Against {
	for _, s := range sites {
		g.Sources = append(g.Sources, s.was.sources...)
	}
	g.Bad = g.Browsers > 0
	for _, n := range g.search {
		g.Search += n[0]
		g.SearchWas += n[1]
		g.Bad = g.Bad || n[0] > n[1]
	}
	order := func(d Difference) int { // what passed before comes first
		if d.Was.Action == judge.Pass.String() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(g.Differences, func(x, y Difference) int { return cmp.Or(order(x)-order(y), cmp.Compare(y.Requests, x.Requests)) })
	return &g.Against
}

// isComparable reports whether it is known what both Site.Robots and Site.Was would have
// done with the request.
func (v *Judged) isComparable() bool {
	return len(v.Rulings) == 2 && v.Rulings[0].source != nil && (v.Rulings[1].source != nil || len(v.host.site.Was) == 0)
}
