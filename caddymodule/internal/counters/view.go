package counters

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
)

// steps describes the points of the series of a span.
func (c *Counters) steps(name string) statusapi.Steps {
	of := spanNames[name]
	length := int64(parts[of].step) * 60
	first := c.at.step(of) - int64(of.count()) + 1
	return statusapi.Steps{Span: name, Start: time.Unix(first*length, 0).UTC(), Step: int(length), Count: of.count()}
}

// rowsIn folds, and returns the rows for which in returns true. The caller holds mu.
func (c *Counters) rowsIn(in func(*Site) bool) iter.Seq[*row] {
	c.fold()
	return func(yield func(*row) bool) {
		for r := range c.all() {
			if r.total > 0 && in(r.crawler.site) && !yield(r) {
				return
			}
		}
	}
}

// topmost returns whether a site is in a scope, and its pattern is not: the counts of a
// pattern have those of its hosts.
func topmost(scope statusapi.Scope) func(*Site) bool {
	return func(s *Site) bool { return scope.Site(s.name) && (s.pattern == nil || !scope.Site(s.pattern.name)) }
}

// addWindows adds the requests in a row.
func (r *row) addWindows(to *statusapi.Windows[uint64]) {
	to.Hour += r.in(hourSpan)
	to.Day += r.in(daySpan)
	to.Month += r.in(monthSpan)
	to.Total += r.total
}

// addCounts adds the requests of a crawler in a row.
func (r *row) addCounts(to *statusapi.Windows[statusapi.Counts]) {
	r.addTo(&to.Hour, r.in(hourSpan))
	r.addTo(&to.Day, r.in(daySpan))
	r.addTo(&to.Month, r.in(monthSpan))
	r.addTo(&to.Total, r.total)
}

// addTo adds a number of requests in a row.
func (r *row) addTo(c *statusapi.Counts, n uint64) {
	c.Requests += n
	*c.Of(r.action(), r.monitor()) += n
	switch r.claim {
	case claim.Verified:
		c.Verified += n
	case claim.Unverified:
		c.Unverified += n
	case claim.Impostor:
		c.Impostors += n
	}
	isPacedByName := r.reason().Info().Field != "" && r.facts != nil && r.facts.Group != "" && r.facts.Group != "*"
	switch {
	case !r.crawler.known || r.action() == judge.Pass || r.reason() == judge.Impostor || isPacedByName:
	case r.monitor() && r.claim == claim.Verified:
		c.VerifiedWould += n
	case r.monitor():
	case r.claim == claim.Verified:
		c.VerifiedRefused += n
	default:
		c.ClaimsRefused += n
	}
}

// Summary returns the counts of the sites of a scope. span is statusapi.SpanHour, SpanDay or SpanMonth.
func (c *Counters) Summary(scope statusapi.Scope, span string) *statusapi.Summary {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := new(statusapi.Summary)
	of := spanNames[span]
	points := func() []uint64 { return make([]uint64, of.count()) }
	s.Series = statusapi.Series{People: points(), Strangers: points(), Decided: statusapi.Decided[[]uint64]{
		Passed: points(), Denied: points(), Throttled: points(), WouldDeny: points(), WouldThrottle: points(),
	}}
	rows := c.rowsIn(topmost(scope))
	s.Since, s.Series.Steps = c.since.UTC(), c.steps(span)
	reasons := make(map[outcome]*statusapi.ReasonCounts)
	for r := range rows {
		switch {
		case r.isPeople():
			r.addWindows(&s.People)
			r.ring.addTo(s.Series.People, of, c.at)
			continue
		case r.isStrangers():
			r.addWindows(&s.Strangers)
			r.ring.addTo(s.Series.Strangers, of, c.at)
			continue
		}
		r.ring.addTo(*s.Series.Of(r.action(), r.monitor()), of, c.at)
		if r.addCounts(&s.Crawlers); r.crawler.isSearch() {
			r.addCounts(&s.Search)
		}
		o := r.outcome
		if o.action() == judge.Pass { // in both modes
			o = newOutcome(o.reason(), false)
		}
		if reasons[o] == nil {
			reasons[o] = &statusapi.ReasonCounts{Reason: o.reason().String(), Action: verdict.ActionName(o.action(), o.monitor())}
		}
		r.addWindows(&reasons[o].Windows)
	}
	s.Reasons = sorted(reasons, func(a, b *statusapi.ReasonCounts) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Total, a.Total), strings.Compare(a.Reason, b.Reason),
			strings.Compare(a.Action, b.Action))
	})
	return s
}

// sorted returns the values of a map, never nil.
func sorted[K comparable, V any](m map[K]*V, compare func(a, b *V) int) []V {
	list := make([]V, 0, len(m))
	for _, v := range m {
		list = append(list, *v)
	}
	slices.SortFunc(list, func(a, b V) int { return compare(&a, &b) })
	return list
}

// Sites returns the counts of the sites and hosts of a scope in a span, in no order. The caller
// has to fill in what is not counted.
func (c *Counters) Sites(scope statusapi.Scope, span string) []statusapi.Site {
	c.mu.Lock()
	defer c.mu.Unlock()
	of, found := spanNames[span], make(map[*Site]*statusapi.Site)
	rows := c.rowsIn(func(s *Site) bool { return found[s] != nil })
	for s := range c.allSites() {
		if s.in(scope) {
			found[s] = &statusapi.Site{Name: s.name, Pattern: s.patternName()}
		}
	}
	for r := range rows {
		to := found[r.crawler.site]
		n := r.in(of)
		to.Any = true
		switch {
		case r.isPeople():
			to.People += n
			continue
		case r.isStrangers():
			to.Strangers += n
			continue
		}
		r.addTo(&to.Counts, n)
		to.Total += r.total
		to.Minute += r.back(hourSpan, c.at, 1)
		if r.crawler.isSearch() && r.claim == claim.Verified {
			var search statusapi.Counts
			r.addTo(&search, n)
			to.SearchRefused += search.VerifiedRefused
		}
	}
	return sorted(found, func(a, b *statusapi.Site) int { return strings.Compare(a.Name, b.Name) })
}

// Crawlers returns the counts of the crawlers at the sites of a scope, in no order.
// The counts of one crawler at several sites are added up. Of query, it uses only
// Class and Span, which must be statusapi.SpanHour, SpanDay or SpanMonth.
func (c *Counters) Crawlers(scope statusapi.Scope, query statusapi.CrawlersQuery) ([]statusapi.Crawler, statusapi.Steps) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := spanNames[query.Span]
	found := make(map[string]*statusapi.Crawler) // by Crawler.id
	for r := range c.rowsIn(topmost(scope)) {
		from := r.crawler
		if r.isPeople() || r.isStrangers() || query.Class != "" && from.class.String() != query.Class {
			continue
		}
		to := found[from.id]
		if to == nil {
			to = &statusapi.Crawler{
				Name: from.name, Class: from.class.String(), Known: from.known, Other: from.other, Operator: from.operator,
				Purposes: append([]string{}, from.purposes...), Series: make([]uint64, of.count()),
			}
			found[from.id] = to
		}
		r.addCounts(&to.Windows)
		r.ring.addTo(to.Series, of, c.at)
		if last := time.Unix(r.last.Load(), 0).UTC().Truncate(time.Minute); last.After(to.Last) {
			to.Last = last
		}
	}
	return sorted(found, func(a, b *statusapi.Crawler) int { return strings.Compare(a.Name, b.Name) }), c.steps(query.Span)
}

// LineCount has the counts of one line at one origin.
type LineCount struct {
	Line
	Site   string
	Number int // of the line when it last decided
	statusapi.LineCounts
}

// Lines returns the counts of the lines that decided about requests to the sites and
// hosts of a scope, in no order.
func (c *Counters) Lines(scope statusapi.Scope) []LineCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := make(map[uint64]*LineCount)
	for r := range c.rowsIn(func(s *Site) bool { return true }) {
		if r.facts == nil || !scope.Host(r.crawler.site.configured(), r.facts.Origin.Host) {
			continue
		}
		to := found[r.line]
		if to == nil {
			to = &LineCount{Line: *r.facts, Site: r.crawler.site.configured()}
			found[r.line] = to
		}
		to.add(r)
	}
	return sorted(found, func(a, b *LineCount) int { return cmp.Compare(a.ID, b.ID) })
}

// add adds the counts of a row.
func (l *LineCount) add(r *row) {
	*l.Of(r.action(), r.monitor()) += r.total
	if r.action() != judge.Pass {
		l.Hour += r.in(hourSpan)
		l.Day += r.in(daySpan)
	}
	if last := time.Unix(r.last.Load(), 0).UTC(); last.After(l.Last) {
		l.Last, l.Number = last, int(r.number.Load())
	}
}

// Rows returns the number of rows.
func (c *Counters) Rows() int { return c.rows.len() }

// SiteCounts has the total counts of a site. They never decrease while the process
// runs.
type SiteCounts struct {
	Site    string
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

// Add adds other to s.
func (s *SiteCounts) Add(other SiteCounts) {
	for action, count := range other.Actions {
		s.Actions[action] += count
	}
	s.People += other.People
	s.Strangers += other.Strangers
}

// Decided returns the total counts of each site of the configuration, in no order.
func (c *Counters) Decided() []SiteCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := make(map[*Site]*SiteCounts)
	rows := c.rowsIn(func(s *Site) bool { return found[s] != nil })
	for s := range c.allSites() {
		if s.pattern != nil {
			continue
		}
		n := &SiteCounts{Site: s.name, Actions: make(map[string]uint64)}
		found[s] = n
		for r := range judge.Reasons() { // so that each action of a site has a value
			for _, monitored := range []bool{false, true} {
				n.Actions[verdict.ActionName(r.Info().Action, monitored)] = 0
			}
		}
	}
	for r := range rows {
		switch to := found[r.crawler.site]; {
		case r.isPeople():
			to.People += r.total
		case r.isStrangers():
			to.Strangers += r.total
		default:
			to.Actions[verdict.ActionName(r.action(), r.monitor())] += r.total
		}
	}
	return sorted(found, func(a, b *SiteCounts) int { return strings.Compare(a.Site, b.Site) })
}
