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

// Against compares the verdicts of Options.Sites (now) with those of Options.Was
// (before): of two configurations, or of two robots.txt files under the same settings.
// Two configurations are compared with their modes: what is only monitored passes.
type Against struct {
	// Config is Options.WasConfig.
	Config string `json:"config,omitempty"`
	// Sources are the robots.txt files of Options.Was, in the form of Report.Sources.
	Sources []Source `json:"sources"`
	// Changed is the number of requests that would get another action.
	Changed int64 `json:"changed"`
	// MoreRefused is the number of requests that are refused now and passed before,
	// MorePassed the reverse. Changed also counts those that are throttled instead of
	// denied, or denied instead of throttled, and those that pass both times, but that
	// monitor mode would refuse only once.
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
	// Sites are the sites with requests in the log, ordered by Changed, most first, then
	// by Requests. At most 200.
	Sites []SiteChanges `json:"sites"`
	// Differences are the changed verdicts by site, crawler and rule: first those that
	// passed before, and within that by Requests, most first. At most 500.
	Differences []Difference `json:"differences"`
}

// SiteChanges counts the changed actions of one site.
type SiteChanges struct {
	Site string `json:"site"` // its hosts, at most 5; * for all hosts that no other site names
	// Only is now or was if only Options.Sites or only Options.Was has a robots handler
	// for its hosts; "" if both do.
	Only     string   `json:"only,omitempty"`
	Requests int64    `json:"requests"` // that were compared
	Changed  int64    `json:"changed"`
	Changes  []Change `json:"changes"` // most requests first
}

// Change counts the requests whose action changed from Was to Now: pass, deny or
// throttle, or in monitor mode would_deny or would_throttle.
type Change struct {
	Was      string `json:"was"`
	Now      string `json:"now"`
	Requests int64  `json:"requests"`
}

// Difference counts the requests of one crawler whose verdict changed from Was to Now.
// The Action of a Verdict is that of a Change. Its Reason is no_handler if the
// configuration has no robots handler for the host.
type Difference struct {
	Site     string    `json:"site"` // as SiteChanges.Site
	Crawler  string    `json:"crawler"`
	Class    string    `json:"class"`    // as Crawler.Class
	Purposes []string  `json:"purposes"` // the main one first
	Was      Verdict   `json:"was"`      // by Options.Was
	Now      Verdict   `json:"now"`      // by Options.Sites
	Requests int64     `json:"requests"`
	Examples []Example `json:"examples"` // at most 3
}

// against compares the verdicts of two sets of sites.
type against struct {
	mask        mask.Masker
	report      Against
	sites       map[siteName]*SiteChanges // a site with several robots.txt files is in several elements of auditor.sites
	differences map[differenceKey]int     // index in report.Differences
	search      map[string]*[2]int64      // refused requests of search engines, now and before
}

// siteName is SiteChanges.Site and SiteChanges.Only.
type siteName struct{ site, only string }

// differenceKey identifies a Difference.
type differenceKey struct {
	site, crawler string
	class         crawler.Class
	now, was      Verdict
}

// Limits for differences.
const (
	maxDifferences = 500
	maxDifferent   = 3   // examples of each difference
	maxSiteChanges = 200 // in the report
)

// action returns the action of a decision. robots.txt files are compared as if the
// settings enforced them.
func (g *against) action(d *judge.Decision) string {
	return verdict.ActionName(d.Action, d.Monitored && g.report.Config != "")
}

// refuses reports whether an action refuses requests.
func refuses(action string) bool {
	return action == judge.Deny.String() || action == judge.Throttle.String()
}

// site returns the counts of the site of a host.
func (g *against) site(h *hostTally) *SiteChanges {
	if h.changes == nil {
		name := siteName{site: h.site.name()}
		switch {
		case h.site.none:
			name = siteName{h.was.name(), "was"}
		case h.was.none:
			name.only = "now"
		}
		h.changes = valueOf(&g.sites, name, func() *SiteChanges {
			return &SiteChanges{Site: name.site, Only: name.only, Changes: []Change{}}
		})
	}
	return h.changes
}

// add counts a changed action.
func (s *SiteChanges) add(was, now string) {
	s.Changed++
	i := slices.IndexFunc(s.Changes, func(c Change) bool { return c.Was == was && c.Now == now })
	if i < 0 {
		i = len(s.Changes)
		s.Changes = append(s.Changes, Change{Was: was, Now: now})
	}
	s.Changes[i].Requests++
}

// count compares the two verdicts on a request.
func (g *against) count(v *judgement) {
	nowDoes, wasDid := g.action(&v.now), g.action(v.was)
	now, was := refuses(nowDoes), refuses(wasDid)
	site := g.site(v.host)
	site.Requests++
	agent := &v.now.Agent
	if agent.Class == crawler.Person {
		agent = &v.was.Agent
	}
	if row := agent.Crawler; row != nil && row.CountsAs(crawler.Search) && v.now.Claim.State != claim.Impostor && (now || was) {
		n := valueOf(&g.search, row.Name, func() *[2]int64 { return new([2]int64) })
		countIf(&n[0], now)
		countIf(&n[1], was)
	}
	countIf(&g.report.Browsers, now && v.isBrowser())
	if nowDoes == wasDid {
		return
	}
	g.report.Changed++
	site.add(wasDid, nowDoes)
	countIf(&g.report.MoreRefused, now && !was)
	countIf(&g.report.MorePassed, was && !now)
	g.add(v, agent, site.Site)
}

// verdict returns the Verdict of a site, by a source that may be nil.
func (g *against) verdict(s *site, src *source, d *judge.Decision) Verdict {
	v := src.verdict(d)
	v.Action = g.action(d)
	if s.none && g.report.Config != "" {
		v.Reason = "no_handler"
	}
	return v
}

// add counts a changed verdict as a Difference.
func (g *against) add(v *judgement, agent *crawler.Agent, site string) {
	name := agent.Token
	purposes := []string{}
	if agent.Crawler != nil {
		name, purposes = agent.Crawler.Name, words.Strings(agent.Crawler.Purposes)
	}
	now, was := g.verdict(v.host.site, v.source, &v.now), g.verdict(v.host.was, v.sourceWas, v.was)
	key := differenceKey{site: site, crawler: name, class: agent.SentClass(), now: now, was: was}
	list := &g.report.Differences
	i, known := g.differences[key]
	if !known {
		if i = len(*list); i >= maxDifferences {
			return
		}
		key.crawler = strings.Clone(name)
		*list = append(*list, Difference{
			Site: site, Crawler: key.crawler, Class: agent.SentClass().String(), Purposes: purposes, Was: was, Now: now, Examples: []Example{},
		})
		g.differences[key] = i
	}
	d := &(*list)[i]
	d.Requests++
	if len(d.Examples) < maxDifferent {
		e := v.example(g.mask, now)
		if was.Layer == managed.HiddenLayer.String() && !g.mask.Full { // as of now
			e.Target = mask.Hidden
		}
		d.Examples = append(d.Examples, e)
	}
}

// finish returns the comparison. sites are those of Options.Was.
func (g *against) finish(sites []*site) *Against {
	r := &g.report
	for _, s := range sites {
		for _, src := range s.now.sources {
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
	for _, s := range g.sites {
		sortMost(s.Changes, func(c *Change) (int64, string) { return c.Requests, c.Was + c.Now })
		r.Sites = append(r.Sites, *s)
	}
	slices.SortFunc(r.Sites, func(x, y SiteChanges) int {
		return cmp.Or(cmp.Compare(y.Changed, x.Changed), cmp.Compare(y.Requests, x.Requests), strings.Compare(x.Site, y.Site))
	})
	r.Sites = r.Sites[:min(len(r.Sites), maxSiteChanges)]
	slices.SortStableFunc(r.Differences, func(x, y Difference) int { return cmp.Compare(y.Requests, x.Requests) })
	passed := func(d Difference) bool { return !refuses(d.Was.Action) }
	refused := slices.DeleteFunc(slices.Clone(r.Differences), passed)
	r.Differences = append(slices.DeleteFunc(r.Differences, func(d Difference) bool { return !passed(d) }), refused...)
	return r
}
