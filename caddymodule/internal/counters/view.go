package counters

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// steps describes the points of the series of a span.
func (c *Counters) steps(name string) statusapi.Steps {
	of := spanNames[name]
	length := int64(rings[of].step) * 60
	first := c.at.step(of) - int64(of.count()) + 1
	return statusapi.Steps{Span: name, Start: time.Unix(first*length, 0).UTC(), Step: int(length), Count: of.count()}
}

// Summary returns the counts of the sites of a scope. The caller has to fill in its
// Origins and Health, and the modes of its sites. span is statusapi.SpanHour, SpanDay
// or SpanMonth.
func (c *Counters) Summary(scope statusapi.Scope, span string) *statusapi.Summary {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	s := &statusapi.Summary{Now: c.now().UTC(), Since: c.since.UTC(), Sites: []statusapi.Site{}, Rows: []statusapi.SiteRow{},
		Reasons: []statusapi.ReasonCounts{}}
	of := spanNames[span]
	points := func() []uint64 { return make([]uint64, of.count()) }
	s.Series = statusapi.Series{
		Steps: c.steps(span), People: points(), Passed: points(), Denied: points(), Throttled: points(), WouldDeny: points(),
		WouldThrottle: points(),
	}
	sites := c.place(scope)
	shown := make([]statusapi.Site, len(sites))
	for i, site := range sites {
		shown[i].Name, shown[i].Pattern = site.name, site.patternName()
		site.visitors.addTo(s.Series.People, of, c.at)
		site.visitors.addWindows(&s.People)
		site.visitors.addWindows(&shown[i].People)
		if pattern := site.pattern; pattern.isPlaced() {
			site.visitors.addWindows(&shown[pattern.slot-1].People)
		}
	}
	series := [...][]uint64{
		requests: s.Series.Passed, denied: s.Series.Denied, throttled: s.Series.Throttled,
		wouldDeny: s.Series.WouldDeny, wouldThrottle: s.Series.WouldThrottle,
	}
	for _, row := range c.allCrawlers() {
		if !row.site.isPlaced() {
			continue
		}
		search, windows := slices.Contains(row.purposes, crawler.Search), row.windows()
		minute := row.past[requests].back(hourSpan, c.at, 1)
		for _, at := range [...]*Site{row.site, row.site.pattern} {
			if !at.isPlaced() {
				continue
			}
			site := &shown[at.slot-1]
			site.Minute += minute
			if addCounts(&site.Crawlers, &windows); search {
				addCounts(&site.Search, &windows)
			}
		}
		if addCounts(&s.Crawlers, &windows); search {
			addCounts(&s.Search, &windows)
		}
		for m, points := range series {
			row.past[m].addTo(points, of, c.at)
		}
	}
	for i, n := range s.Series.Passed {
		s.Series.Passed[i] = subtract(n, s.Series.Denied[i]+s.Series.Throttled[i]+s.Series.WouldDeny[i]+s.Series.WouldThrottle[i])
	}
	s.Sites = shown[:0]
	for i, site := range sites {
		if !site.gone {
			s.Sites = append(s.Sites, shown[i])
		}
	}
	s.Reasons = c.reasons(sites)
	return s
}

// place returns the sites and hosts of a scope, sorted by name, and gives each its slot.
// The caller holds mu.
func (c *Counters) place(scope statusapi.Scope) (sites []*Site) {
	for _, site := range c.allSites() {
		if site.slot = 0; site.in(scope) {
			sites = append(sites, site)
		}
	}
	slices.SortFunc(sites, func(a, b *Site) int { return strings.Compare(a.name, b.name) })
	for i, site := range sites {
		site.slot = i + 1
	}
	return sites
}

// isPlaced reports whether the latest place has returned the site.
func (s *Site) isPlaced() bool { return s != nil && s.slot > 0 }

// subtract returns a - b, or 0 if b is larger.
func subtract(a, b uint64) uint64 { return a - min(a, b) }

// windows returns the counts at the last fold.
func (c *Crawler) windows() statusapi.Windows[statusapi.Counts] {
	sum := func(of span) func(*history) uint64 {
		return func(h *history) uint64 { return h.sum(of) }
	}
	return statusapi.Windows[statusapi.Counts]{
		Hour: c.counts(sum(hourSpan)), Day: c.counts(sum(daySpan)), Month: c.counts(sum(monthSpan)),
		Total: c.counts(func(h *history) uint64 { return h.folded }),
	}
}

func addCounts(to, more *statusapi.Windows[statusapi.Counts]) {
	to.Hour.Add(more.Hour)
	to.Day.Add(more.Day)
	to.Month.Add(more.Month)
	to.Total.Add(more.Total)
}

// counts returns the numbers that a function returns for the measures.
func (c *Crawler) counts(number func(*history) uint64) statusapi.Counts {
	var n [measures]uint64
	for m := range n {
		n[m] = number(&c.past[m])
	}
	return statusapi.Counts{
		Requests: n[requests], Passed: subtract(n[requests], n[denied]+n[throttled]+n[wouldDeny]+n[wouldThrottle]),
		Denied: n[denied], Throttled: n[throttled], WouldDeny: n[wouldDeny], WouldThrottle: n[wouldThrottle],
		Verified: n[verified], Unverified: n[unverified], Impostors: n[impostors],
		VerifiedRefused: n[verifiedRefused], ClaimsRefused: n[claimsRefused],
	}
}

// reasons returns the number of decisions at the given sites, by reason.
func (c *Counters) reasons(sites []*Site) []statusapi.ReasonCounts {
	var sums [outcomes]statusapi.ReasonCounts
	for _, site := range sites {
		for o, h := range site.reasons.all() {
			to := &sums[o]
			if o.action() == judge.Pass {
				to = &sums[o.reason()] // the action is pass in both modes
			}
			h.addWindows(&to.Windows)
		}
	}
	list := []statusapi.ReasonCounts{}
	for o := range outcomes {
		if n := sums[o]; n.Total > 0 {
			n.Reason, n.Action = o.reason().String(), verdict.ActionName(o.action(), o.monitor())
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b statusapi.ReasonCounts) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Total, a.Total), strings.Compare(a.Reason, b.Reason))
	})
	return list
}

// Crawlers returns the counts of the crawlers at the sites of a scope, in no order.
// The counts of one crawler at several sites are added up. Of query, it uses only
// Class and Span, which must be statusapi.SpanHour, SpanDay or SpanMonth.
func (c *Counters) Crawlers(scope statusapi.Scope, query statusapi.CrawlersQuery) ([]statusapi.Crawler, statusapi.Steps) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	type key struct {
		name         string
		known, other bool
	}
	of := spanNames[query.Span]
	found := make(map[key]*statusapi.Crawler)
	c.place(scope)
	for _, row := range c.allCrawlers() {
		if row.past[requests].folded == 0 || !row.site.isPlaced() || query.Class != "" && row.class.String() != query.Class {
			continue
		}
		k := key{row.name, row.known, row.other}
		if !row.known {
			k.name = strings.ToLower(k.name)
		}
		to := found[k]
		if to == nil {
			to = &statusapi.Crawler{
				Name: row.name, Class: row.class.String(), Known: row.known, Other: row.other, Operator: row.operator,
				Purposes: words.Strings(row.purposes),
				Series:   make([]uint64, of.count()),
			}
			found[k] = to
		}
		windows := row.windows()
		addCounts(&to.Windows, &windows)
		row.past[requests].addTo(to.Series, of, c.at)
		if last := time.Unix(int64(row.last)*60, 0).UTC(); last.After(to.Last) {
			to.Last = last
		}
	}
	list := make([]statusapi.Crawler, 0, len(found))
	for _, one := range found {
		list = append(list, *one)
	}
	return list, c.steps(query.Span)
}

// LineCount has the counts of one line at one origin.
type LineCount struct {
	lineFacts
	Site   string
	Number int // of the line when it last decided
	statusapi.LineCounts
}

// Lines returns the counts of the lines that decided about requests to the sites and
// hosts of a scope, in no order.
func (c *Counters) Lines(scope statusapi.Scope) []LineCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	nodes := c.lines.nodes()
	list := make([]LineCount, 0, len(nodes))
	for _, node := range nodes {
		line := node.value
		if !scope.Host(line.site.name, line.Origin.Host) {
			continue
		}
		n := func(m measure) uint64 { return line.decided[m].Load() }
		list = append(list, LineCount{
			lineFacts: line.lineFacts, Site: line.site.name, Number: int(line.number.Load()),
			LineCounts: statusapi.LineCounts{
				Passed: n(requests), Denied: n(denied), Throttled: n(throttled), WouldDeny: n(wouldDeny), WouldThrottle: n(wouldThrottle),
				Hour: line.refused.sum(hourSpan), Day: line.refused.sum(daySpan), Last: time.Unix(line.last.Load(), 0).UTC(),
			},
		})
	}
	return list
}

// Sizes returns the number of crawlers and of lines that have counters.
func (c *Counters) Sizes() (crawlers, rules int) { return c.crawlers.len(), c.lines.len() }

// SiteCounts has the total counts of a site. They never decrease while the process
// runs.
type SiteCounts struct {
	Site    string
	Pattern string            // of a host that only a pattern names, which counts too; "" for a site
	Actions map[string]uint64 // decisions about crawlers, by verdict.ActionName
	People  uint64
}

// Total returns the number of decisions.
func (s SiteCounts) Total() (n uint64) {
	for _, count := range s.Actions {
		n += count
	}
	return n
}

// Decided returns the total counts of each site, and of the hosts that had requests on
// two days, in no order.
func (c *Counters) Decided() []SiteCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	counts := make(map[*Site]*SiteCounts)
	for _, s := range c.allSites() {
		n := &SiteCounts{Site: s.name, Pattern: s.patternName(), Actions: make(map[string]uint64)}
		if counts[s] = n; s.pattern != nil {
			continue
		}
		for o := range outcomes { // so that each action has a value
			n.Actions[verdict.ActionName(o.action(), o.monitor())] = 0
		}
	}
	for s, own := range counts {
		for _, n := range []*SiteCounts{own, counts[s.pattern]} {
			if n == nil {
				continue
			}
			n.People += s.visitors.folded
			for o, h := range s.reasons.all() {
				n.Actions[verdict.ActionName(o.action(), o.monitor())] += h.folded
			}
		}
	}
	list := make([]SiteCounts, 0, len(counts))
	for s, n := range counts {
		if s.pattern == nil || s.known && !s.gone {
			list = append(list, *n)
		}
	}
	return list
}
