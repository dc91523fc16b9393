package counters

import (
	"cmp"
	"iter"
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

// Summary returns the counts of the sites of a scope. The caller has to fill in what is not
// counted, and the sites. span is statusapi.SpanHour, SpanDay or SpanMonth.
func (c *Counters) Summary(scope statusapi.Scope, span string) *statusapi.Summary {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	s := &statusapi.Summary{Now: c.now().UTC(), Since: c.since.UTC(), Sites: []statusapi.Site{}, Rows: []statusapi.SiteRow{}}
	of := spanNames[span]
	points := func() []uint64 { return make([]uint64, of.count()) }
	s.Series = statusapi.Series{
		Steps: c.steps(span), People: points(), Passed: points(), Denied: points(), Throttled: points(), WouldDeny: points(),
		WouldThrottle: points(), Strangers: points(),
	}
	series := [...][]uint64{
		requests: s.Series.Passed, denied: s.Series.Denied, throttled: s.Series.Throttled,
		wouldDeny: s.Series.WouldDeny, wouldThrottle: s.Series.WouldThrottle,
	}
	sites := c.topmost(scope)
	for _, site := range sites {
		site.visitors.addTo(s.Series.People, of, c.at)
		site.visitors.addWindows(&s.People)
		if strangers := site.strangers(); strangers != nil {
			strangers.past[requests].addTo(s.Series.Strangers, of, c.at)
			strangers.past[requests].addWindows(&s.Strangers)
		}
	}
	for row := range robotsAt(slices.Values(sites)) {
		windows := row.windows()
		if addCounts(&s.Crawlers, &windows); row.isSearch() {
			addCounts(&s.Search, &windows)
		}
		for m, points := range series {
			row.past[m].addTo(points, of, c.at)
		}
	}
	for i, n := range s.Series.Passed {
		s.Series.Passed[i] = subtract(n, s.Series.Denied[i]+s.Series.Throttled[i]+s.Series.WouldDeny[i]+s.Series.WouldThrottle[i])
	}
	s.Reasons = reasons(sites)
	return s
}

// topmost returns the sites and hosts of a scope, without hosts whose pattern is in it:
// the counts of a pattern have those of its hosts. The caller holds mu.
func (c *Counters) topmost(scope statusapi.Scope) (sites []*Site) {
	for s := range c.allSites() {
		if scope.Site(s.name) && (s.pattern == nil || !scope.Site(s.pattern.name)) {
			sites = append(sites, s)
		}
	}
	return sites
}

// Row has the counts of a site or host in a span. The caller of Rows has to fill in what is not
// counted.
type Row struct {
	statusapi.SiteRow
	Pattern string // as statusapi.Site.Pattern
	Any     bool   // anything was counted since Summary.Since

	site *Site
}

// Rows returns the counts of the sites and hosts of a scope in a span, in no order.
func (c *Counters) Rows(scope statusapi.Scope, span string) []Row {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	of, list := spanNames[span], make([]Row, 0, cmp.Or(len(scope.Hosts()), len(c.sites)+c.hosts.len()))
	for s := range c.allSites() {
		if s.gone || !s.in(scope) {
			continue
		}
		n := s.counts(of)
		row := Row{site: s, Pattern: s.patternName(), Any: s.visitors.folded > 0 || s.strangers() != nil, SiteRow: statusapi.SiteRow{
			Name: s.name, Requests: n.Requests, Refused: n.Denied + n.Throttled, WouldRefuse: n.WouldRefuse, SearchRefused: s.searchRefused.sum(of),
		}}
		for _, h := range s.reasons.all() {
			row.Minute += h.back(hourSpan, c.at, 1)
			row.Any = row.Any || h.folded > 0
		}
		list = append(list, row)
	}
	return list
}

// counts returns the counts of a span.
func (s *Site) counts(of span) statusapi.FleetCounts {
	n := statusapi.FleetCounts{People: s.visitors.sum(of)}
	if strangers := s.strangers(); strangers != nil {
		n.Strangers = strangers.past[requests].sum(of)
	}
	for o, h := range s.reasons.all() {
		count := h.sum(of)
		n.Requests += count
		switch o.measure() {
		case denied:
			n.Denied += count
		case throttled:
			n.Throttled += count
		case wouldDeny, wouldThrottle:
			n.WouldRefuse += count
		}
	}
	return n
}

// Sites returns the counts of the sites and hosts of rows. The caller has to fill in their
// modes.
func (c *Counters) Sites(rows []Row) []statusapi.Site {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]statusapi.Site, len(rows))
	for i, row := range rows {
		list[i].Name, list[i].Pattern, list[i].Minute = row.Name, row.Pattern, row.Minute
		if row.site != nil {
			row.site.visitors.addWindows(&list[i].People)
			if strangers := row.site.strangers(); strangers != nil {
				strangers.past[requests].addWindows(&list[i].Strangers)
			}
			for row := range robotsAt(slices.Values([]*Site{row.site})) {
				windows := row.windows()
				if addCounts(&list[i].Crawlers, &windows); row.isSearch() {
					addCounts(&list[i].Search, &windows)
				}
			}
		}
	}
	return list
}

// FleetRows returns the counts of the sites of a scope and of their hosts, and of the crawlers
// there, in no order.
func (c *Counters) FleetRows(scope statusapi.Scope) (sites, crawlers []statusapi.FleetRow) {
	all, _ := c.Crawlers(scope, statusapi.CrawlersQuery{Span: statusapi.SpanDay})
	for i := range all {
		of := func(c statusapi.Counts) statusapi.FleetCounts {
			return statusapi.FleetCounts{Requests: c.Requests, Denied: c.Denied, Throttled: c.Throttled, WouldRefuse: c.WouldDeny + c.WouldThrottle}
		}
		crawlers = append(crawlers, statusapi.FleetRow{Name: all[i].Name, Class: all[i].Class,
			FleetSpans: statusapi.FleetSpans{Hour: of(all[i].Hour), Day: of(all[i].Day)}})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	for s := range c.allSites() {
		if spans := (statusapi.FleetSpans{Hour: s.counts(hourSpan), Day: s.counts(daySpan)}); !s.gone && s.in(scope) {
			sites = append(sites, statusapi.FleetRow{Name: s.name, Pattern: s.patternName(), FleetSpans: spans})
		}
	}
	return sites, crawlers
}

// subtract returns a - b, or 0 if b is larger.
func subtract(a, b uint64) uint64 { return a - min(a, b) }

// isSearch reports whether the crawler is that of a search engine.
func (c *Crawler) isSearch() bool { return slices.Contains(c.purposes, crawler.Search) }

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
		VerifiedRefused: n[verifiedRefused], ClaimsRefused: n[claimsRefused], VerifiedWould: n[verifiedWould],
	}
}

// reasons returns the number of decisions at the given sites, by reason.
func reasons(sites []*Site) []statusapi.ReasonCounts {
	sums := make(map[outcome]*statusapi.ReasonCounts)
	for _, site := range sites {
		for o, h := range site.reasons.all() {
			if o.action() == judge.Pass { // in both modes
				o = newOutcome(o.reason(), false)
			}
			if sums[o] == nil {
				sums[o] = &statusapi.ReasonCounts{Reason: o.reason().String(), Action: verdict.ActionName(o.action(), o.monitor())}
			}
			h.addWindows(&sums[o].Windows)
		}
	}
	list := []statusapi.ReasonCounts{}
	for _, n := range sums {
		if n.Total > 0 {
			list = append(list, *n)
		}
	}
	slices.SortFunc(list, func(a, b statusapi.ReasonCounts) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Total, a.Total), strings.Compare(a.Reason, b.Reason),
			strings.Compare(a.Action, b.Action))
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
	for row := range robotsAt(slices.Values(c.topmost(scope))) {
		if row.past[requests].folded == 0 || query.Class != "" && row.class.String() != query.Class {
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
// hosts of a scope, in no order. The loop must not call methods of c.
func (c *Counters) Lines(scope statusapi.Scope) iter.Seq[LineCount] {
	return func(yield func(LineCount) bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.fold()
		for line := range c.lines.values() {
			if scope.Host(line.site.configured(), line.Origin.Host) && !yield(line.counts()) {
				return
			}
		}
	}
}

// counts returns the counts of the line. The caller holds Counters.mu.
func (l *Line) counts() LineCount {
	n := func(m measure) uint64 { return l.decided[m].Load() }
	return LineCount{
		lineFacts: l.lineFacts, Site: l.site.configured(), Number: int(l.number.Load()),
		LineCounts: statusapi.LineCounts{
			Passed: n(requests), Denied: n(denied), Throttled: n(throttled), WouldDeny: n(wouldDeny), WouldThrottle: n(wouldThrottle),
			Hour: l.refused.sum(hourSpan), Day: l.refused.sum(daySpan), Last: time.Unix(l.last.Load(), 0).UTC(),
		},
	}
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

	Strangers uint64
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
	var list []SiteCounts
	for s := range c.allSites() {
		if s.pattern != nil && (!s.known || s.gone) {
			continue
		}
		n := SiteCounts{Site: s.name, Pattern: s.patternName(), Actions: make(map[string]uint64), People: s.visitors.folded}
		if strangers := s.strangers(); strangers != nil {
			n.Strangers = strangers.past[requests].folded
		}
		if s.pattern == nil {
			for o := range outcomes() { // so that each action has a value
				n.Actions[verdict.ActionName(o.action(), o.monitor())] = 0
			}
		}
		for o, h := range s.reasons.all() {
			n.Actions[verdict.ActionName(o.action(), o.monitor())] += h.folded
		}
		list = append(list, n)
	}
	return list
}
