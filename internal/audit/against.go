package audit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/verify"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// Against compares the verdicts of two sets of robots.txt files under the same
// settings: those of Site.Robots (now) and those of Site.Was (before).
type Against struct {
	// Sources are the files of Site.Was, in the form of Report.Sources.
	Sources []Source `json:"sources"`
	// Changed is the number of requests that would get another action.
	Changed int64 `json:"changed"`
	// MoreRefused is the number of requests that are refused now and passed before,
	// MorePassed the reverse. Changed also counts those that are throttled instead of
	// denied, or denied instead of throttled.
	MoreRefused int64 `json:"more_refused"`
	MorePassed  int64 `json:"more_passed"`
	// Browsers is the number of requests with browsers' User-Agents that are refused
	// now, whether or not they were refused before. Requests of suspects are not
	// counted.
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
	Crawler  string    `json:"crawler"`
	Class    string    `json:"class"`    // as Crawler.Class
	Purposes []string  `json:"purposes"` // the main one first
	Was      Verdict   `json:"was"`      // by Site.Was
	Now      Verdict   `json:"now"`      // by Site.Robots
	Requests int64     `json:"requests"`
	Examples []Example `json:"examples"` // at most 3
}

// against compares the verdicts of two sets of robots.txt files.
type against struct {
	mask        masker
	report      Against
	differences map[differenceKey]int // index in report.Differences
	search      map[string]*[2]int64  // refused requests of search engines, now and before
}

// differenceKey identifies a Difference.
type differenceKey struct {
	crawler  string
	class    crawler.Class
	now, was Verdict
}

// Limits for differences.
const (
	maxDifferences = 500
	maxDifferent   = 3 // examples of each difference
)

func newAgainst(mask masker) *against {
	a := &against{mask: mask, differences: make(map[differenceKey]int)}
	a.report.Sources, a.report.Differences = []Source{}, []Difference{}
	return a
}

// count compares the two verdicts on a request.
func (g *against) count(v *judgement) {
	now, was := v.now.Action != enforce.Pass, v.was.Action != enforce.Pass
	agent := &v.now.Agent
	if agent.Class == crawler.Person {
		agent = &v.was.Agent
	}
	if row := agent.Crawler; row != nil && row.CountsAs(crawler.Search) && v.now.Claim.State != verify.Impostor && (now || was) {
		n := valueOf(&g.search, row.Name, func() *[2]int64 { return new([2]int64) })
		if now {
			n[0]++
		}
		if was {
			n[1]++
		}
	}
	if now && v.isBrowser() {
		g.report.Browsers++
	}
	if v.now.Action == v.was.Action {
		return
	}
	g.report.Changed++
	if now && !was {
		g.report.MoreRefused++
	} else if was && !now {
		g.report.MorePassed++
	}
	g.add(v, agent)
}

// add counts a changed verdict as a Difference.
func (g *against) add(v *judgement, agent *crawler.Agent) {
	name := agent.Token
	purposes := []string{}
	if agent.Crawler != nil {
		name, purposes = agent.Crawler.Name, words.Strings(agent.Crawler.Purposes)
	}
	before, _ := v.host.site.was.at(v.at)
	verdict := v.source.verdict(&v.now)
	key := differenceKey{crawler: name, class: agent.Class, now: verdict, was: before.verdict(v.was)}
	list := &g.report.Differences
	i, known := g.differences[key]
	if !known {
		if i = len(*list); i >= maxDifferences {
			return
		}
		key.crawler = strings.Clone(name)
		*list = append(*list, Difference{Crawler: key.crawler, Class: agent.Class.String(), Purposes: purposes, Was: key.was, Now: key.now, Examples: []Example{}})
		g.differences[key] = i
	}
	d := &(*list)[i]
	d.Requests++
	if len(d.Examples) < maxDifferent {
		d.Examples = append(d.Examples, g.mask.example(v, verdict))
	}
}

// finish returns the comparison.
func (g *against) finish(sites []*site) *Against {
	r := &g.report
	for _, s := range sites {
		for _, src := range s.was.sources {
			one, _ := src.report()
			r.Sources = append(r.Sources, one)
		}
	}
	r.Bad = r.Browsers > 0
	for _, n := range g.search {
		r.Search += n[0]
		r.SearchWas += n[1]
		r.Bad = r.Bad || n[0] > n[1]
	}
	slices.SortStableFunc(r.Differences, func(x, y Difference) int { return cmp.Compare(y.Requests, x.Requests) })
	passed := func(d Difference) bool { return d.Was.Action == enforce.Pass.String() }
	refused := slices.DeleteFunc(slices.Clone(r.Differences), passed)
	r.Differences = append(slices.DeleteFunc(r.Differences, func(d Difference) bool { return !passed(d) }), refused...)
	return r
}
