package counters

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/enforce"
)

// spans has the spans by name, with the length of a step in seconds and the number
// of steps.
var spans = map[string]struct {
	span
	step, count int
}{
	status.SpanHour:  {hourSpan, 60, minutes},
	status.SpanDay:   {daySpan, 60 * 60, hours},
	status.SpanMonth: {monthSpan, 24 * 60 * 60, days},
}

// steps describes the points of the series of a span.
func (c *Counters) steps(name string) status.Steps {
	of := spans[name]
	current := int64(c.at) * 60 / int64(of.step) // number of the step since 1970
	first := current - int64(of.count) + 1
	return status.Steps{Span: name, Start: time.Unix(first*int64(of.step), 0).UTC(), Step: of.step, Count: of.count}
}

// Summary returns the counts of the sites of a scope. The caller has to fill in its
// Origins and Health, and the modes of its sites. span is status.SpanHour, SpanDay
// or SpanMonth.
func (c *Counters) Summary(scope status.Scope, span string) *status.Summary {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	s := &status.Summary{Now: c.now().UTC(), Since: c.since.UTC(), Sites: []status.Site{}, Reasons: []status.ReasonCounts{}}
	of := spans[span]
	points := func() []uint64 { return make([]uint64, of.count) }
	s.Series = status.Series{
		Steps: c.steps(span), People: points(), Passed: points(), Denied: points(), Throttled: points(), WouldDeny: points(), WouldThrottle: points(),
	}
	sites := make(map[*Site]*status.Site)
	for _, site := range c.sites {
		if !scope.Site(site.name) {
			continue
		}
		sites[site] = &status.Site{Name: site.name, People: site.peopleWindows()}
		site.visitors.addTo(s.Series.People, of.span, c.at)
	}
	all := points()
	for row := range c.allCrawlers() {
		site := sites[row.site]
		if site == nil {
			continue
		}
		addWindows(&site.Crawlers, row.windows())
		row.past[requests].addTo(all, of.span, c.at)
		row.past[denied].addTo(s.Series.Denied, of.span, c.at)
		row.past[throttled].addTo(s.Series.Throttled, of.span, c.at)
		row.past[wouldDeny].addTo(s.Series.WouldDeny, of.span, c.at)
		row.past[wouldThrottle].addTo(s.Series.WouldThrottle, of.span, c.at)
	}
	for i, n := range all {
		s.Series.Passed[i] = subtract(n, s.Series.Denied[i]+s.Series.Throttled[i]+s.Series.WouldDeny[i]+s.Series.WouldThrottle[i])
	}
	for _, site := range sites {
		s.Sites = append(s.Sites, *site)
		addWindows(&s.Crawlers, site.Crawlers)
		s.People.Hour += site.People.Hour
		s.People.Day += site.People.Day
		s.People.Month += site.People.Month
		s.People.Total += site.People.Total
	}
	slices.SortFunc(s.Sites, func(a, b status.Site) int { return strings.Compare(a.Name, b.Name) })
	s.Reasons = c.reasons(sites)
	return s
}

// subtract returns a - b, or 0 if b is larger.
func subtract(a, b uint64) uint64 { return a - min(a, b) }

func (s *Site) peopleWindows() status.Windows[uint64] {
	h := &s.visitors
	return status.Windows[uint64]{Hour: h.sum(hourSpan), Day: h.sum(daySpan), Month: h.sum(monthSpan), Total: h.folded}
}

// windows returns the counts at the last fold.
func (c *Crawler) windows() status.Windows[status.Counts] {
	var totals [measures]uint64
	for i := range totals {
		totals[i] = c.past[i].folded
	}
	return status.Windows[status.Counts]{Hour: c.in(hourSpan), Day: c.in(daySpan), Month: c.in(monthSpan), Total: countsOf(totals)}
}

// in returns the counts of a span.
func (c *Crawler) in(of span) status.Counts {
	var sums [measures]uint64
	for i := range sums {
		sums[i] = c.past[i].sum(of)
	}
	return countsOf(sums)
}

func countsOf(n [measures]uint64) status.Counts {
	return status.Counts{
		Requests: n[requests], Passed: subtract(n[requests], n[denied]+n[throttled]+n[wouldDeny]+n[wouldThrottle]),
		Denied: n[denied], Throttled: n[throttled], WouldDeny: n[wouldDeny], WouldThrottle: n[wouldThrottle],
		Verified: n[verified], Unverified: n[unverified], Impostors: n[impostors],
	}
}

func addWindows(to *status.Windows[status.Counts], w status.Windows[status.Counts]) {
	to.Hour.Add(w.Hour)
	to.Day.Add(w.Day)
	to.Month.Add(w.Month)
	to.Total.Add(w.Total)
}

// reasons returns the number of decisions at the given sites, by reason.
func (c *Counters) reasons(sites map[*Site]*status.Site) []status.ReasonCounts {
	var sums [modes][enforce.Reasons]status.ReasonCounts
	for site := range sites {
		for mode := range site.reasons {
			for reason := range site.reasons[mode] {
				h, to := &site.reasons[mode][reason], &sums[mode][reason]
				if actions[reason] == enforce.Pass {
					to = &sums[0][reason] // the action is pass in both modes
				}
				to.Hour += h.sum(hourSpan)
				to.Day += h.sum(daySpan)
				to.Month += h.sum(monthSpan)
				to.Total += h.folded
			}
		}
	}
	list := []status.ReasonCounts{}
	for mode := range sums {
		for reason, n := range sums[mode] {
			if n.Total > 0 {
				n.Reason, n.Action = enforce.Reason(reason).String(), ActionName(actions[reason], mode == 1)
				list = append(list, n)
			}
		}
	}
	slices.SortFunc(list, func(a, b status.ReasonCounts) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Total, a.Total), strings.Compare(a.Reason, b.Reason))
	})
	return list
}

// ActionName returns the name of an action in placeholders, logs and metrics: pass,
// deny or throttle, or in monitor mode would_deny or would_throttle.
func ActionName(a enforce.Action, monitor bool) string {
	if !monitor {
		return a.String()
	}
	switch a {
	case enforce.Deny:
		return "would_deny"
	case enforce.Throttle:
		return "would_throttle"
	}
	return a.String()
}

// Crawlers returns the counts of the crawlers at the sites of a scope, in no order.
// The counts of one crawler at several sites are added up. Of query, it uses only
// Span, which must be status.SpanHour, SpanDay or SpanMonth.
func (c *Counters) Crawlers(scope status.Scope, query status.CrawlersQuery) ([]status.Crawler, status.Steps) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	type key struct {
		name         string
		known, other bool
	}
	of := spans[query.Span]
	found := make(map[key]*status.Crawler)
	for row := range c.allCrawlers() {
		if !scope.Site(row.site.name) || row.past[requests].folded == 0 && row.repeated.Load() == 0 {
			continue
		}
		k := key{row.name, row.known, row.other}
		if !row.known {
			k.name = strings.ToLower(k.name)
		}
		to := found[k]
		if to == nil {
			to = &status.Crawler{
				Name: row.name, Class: row.class.String(), Known: row.known, Other: row.other, Operator: row.operator, Purpose: row.purpose,
				Series: make([]uint64, of.count),
			}
			found[k] = to
		}
		addWindows(&to.Windows, row.windows())
		row.past[requests].addTo(to.Series, of.span, c.at)
		if last := time.Unix(int64(row.last)*60, 0).UTC(); last.After(to.Last) {
			to.Last = last
		}
	}
	list := make([]status.Crawler, 0, len(found))
	for _, one := range found {
		list = append(list, *one)
	}
	return list, c.steps(query.Span)
}

// LineCount has the counts of one line at one origin.
type LineCount struct {
	ID     LineID
	Source uint64
	Origin enforce.Origin
	Site   string
	Layer  enforce.Layer
	Line   int    // its number when it last decided
	Group  string // the first product token of its group
	Text   string
	Reason enforce.Reason
	status.LineCounts
}

// Lines returns the counts of the lines that decided about requests to the sites and
// hosts of a scope, in no order.
func (c *Counters) Lines(scope status.Scope) []LineCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	var list []LineCount
	for _, r := range c.lines.all() {
		if !scope.Host(r.site.name, r.origin.Host) {
			continue
		}
		n := LineCount{
			ID: r.id, Source: r.source, Origin: r.origin, Site: r.site.name, Layer: r.layer, Line: int(r.line.Load()),
			Group: r.group, Text: r.text, Reason: r.reason,
		}
		count := func(mode int, a enforce.Action) uint64 { return r.decided[mode][a].Load() }
		n.Passed = count(0, enforce.Pass) + count(1, enforce.Pass)
		n.Denied, n.Throttled = count(0, enforce.Deny), count(0, enforce.Throttle)
		n.WouldDeny, n.WouldThrottle = count(1, enforce.Deny), count(1, enforce.Throttle)
		n.Hour, n.Day = r.refused.sum(hourSpan), r.refused.sum(daySpan)
		n.Last = time.Unix(r.last.Load(), 0).UTC()
		list = append(list, n)
	}
	return list
}

// Refusals returns the refusals that are kept for the sites and hosts of a scope,
// newest first.
func (c *Counters) Refusals(scope status.Scope, query status.RecentQuery) *status.Recent {
	limit := query.Limit
	if limit <= 0 {
		limit = status.DefaultLimit
	}
	kept, last := c.refusals.since(query.After)
	recent := &status.Recent{Refusals: []status.Refusal{}}
	for _, f := range kept {
		if !scope.Host(f.Site, f.Host) {
			continue
		}
		if recent.Last == 0 {
			recent.Last = f.Seq
		}
		if len(recent.Refusals) == limit {
			break
		}
		recent.Refusals = append(recent.Refusals, f.status())
	}
	if scope.All() {
		recent.Last = last
	}
	recent.Last = max(recent.Last, query.After)
	return recent
}

// status converts a refusal for the admin API.
func (f *Refusal) status() status.Refusal {
	return status.Refusal{
		Seq: f.Seq, Time: f.Time.UTC(), Site: f.Site, Host: f.Host, Method: f.Method, Path: f.Path, Client: f.Client, UserAgent: f.UserAgent,
		Crawler: f.Crawler, Class: f.Class, Purpose: f.Purpose, Verified: f.Verified, Action: ActionName(f.Action, f.Monitor),
		Reason: f.Reason.String(), Group: f.Group, Rule: f.Rule, Layer: f.Layer.String(), Line: f.Line, File: f.File,
		RetryAfter: int((f.RetryAfter + time.Second - 1) / time.Second), Omitted: f.Omitted,
	}
}

// Sizes returns the number of crawlers and of lines that have counters.
func (c *Counters) Sizes() (crawlers, rules int) { return c.crawlers.len(), c.lines.len() }

// SiteCounts has the total counts of a site. They never decrease while the process
// runs.
type SiteCounts struct {
	Site    string
	Actions map[string]uint64 // decisions about crawlers, by ActionName
	People  uint64
}

// Total returns the number of decisions.
func (s SiteCounts) Total() (n uint64) {
	for _, count := range s.Actions {
		n += count
	}
	return n
}

// Decided returns the total counts of each site, in no order.
func (c *Counters) Decided() []SiteCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	list := make([]SiteCounts, 0, len(c.sites))
	for _, s := range c.sites {
		n := SiteCounts{Site: s.name, Actions: make(map[string]uint64), People: s.visitors.folded}
		for mode := range s.reasons {
			for reason := range s.reasons[mode] {
				n.Actions[ActionName(actions[reason], mode == 1)] += s.reasons[mode][reason].folded
			}
		}
		list = append(list, n)
	}
	return list
}
