package counters

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/claim"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/verdict"
	"github.com/caddy-robots/caddy-robots/internal/words"
)

// steps describes the points of the series of a span.
func (c *Counters) steps(name string) statusapi.Steps {
	of := spanNames[name]
	length := int64(parts[of].step) * 60
	first := c.at.step(of) - int64(of.count()) + 1
	return statusapi.Steps{Span: name, Start: time.Unix(first*length, 0).UTC(), Step: int(length), Count: of.count()}
}

// walk folds, and returns the rows for which in returns true. The caller holds mu.
func (c *Counters) walk(in func(*Site) bool) iter.Seq[*row] {
	c.fold()
	return func(yield func(*row) bool) {
		for r := range c.rows.all() {
			if r.Total > 0 && in(r.site) && !yield(r) {
				return
			}
		}
	}
}

// in reports whether a scope has the site, or the pattern that it matches.
func (s *Site) in(scope statusapi.Scope) bool { return scope.Host(s.configured(), s.name) }

// configured returns the name of the site in the configuration.
func (s *Site) configured() string { return cmp.Or(s.patternName(), s.name) }

// patternName returns the pattern that a host matches, "" for a site.
func (s *Site) patternName() string {
	if s.pattern != nil {
		return s.pattern.name
	}
	return ""
}

// Hosts returns the hosts of the sites in a scope that have counters.
func (c *Counters) Hosts(scope statusapi.Scope) (names []string) {
	for s := range c.allSites() {
		if s.pattern != nil && s.in(scope) {
			names = append(names, s.name)
		}
	}
	return names
}

// HasHost reports whether a host that only a pattern names has counters.
func (c *Counters) HasHost(name string) bool {
	has, _ := c.daysOf(name)
	return has
}

// KnowsHost reports whether a host that only a pattern names had requests on two days.
func (c *Counters) KnowsHost(name string) bool {
	_, days := c.daysOf(name)
	return days > 1
}

// daysOf returns on how many days a host that only a pattern names had requests.
func (c *Counters) daysOf(name string) (has bool, days int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	set := uint32(0)
	for r := range c.rows.all() {
		if r.site.pattern != nil && r.site.name == name {
			has, set = true, set|r.Past.days()
		}
	}
	return has, bits.OnesCount32(set)
}

// topmost returns whether a site is in a scope, and its pattern is not: the counts of a
// pattern have those of its hosts.
func topmost(scope statusapi.Scope) func(*Site) bool {
	return func(s *Site) bool { return scope.Site(s.name) && (s.pattern == nil || !scope.Site(s.pattern.name)) }
}

// addWindows adds the requests in a row.
func (r *row) addWindows(to *statusapi.Windows[uint64]) {
	to.Hour += r.Past.in(hourSpan)
	to.Day += r.Past.in(daySpan)
	to.Month += r.Past.in(monthSpan)
	to.Total += r.Total
}

// addCounts adds the requests of a crawler in a row.
func (r *row) addCounts(to *statusapi.Windows[statusapi.Counts]) {
	r.addTo(&to.Hour, r.Past.in(hourSpan))
	r.addTo(&to.Day, r.Past.in(daySpan))
	r.addTo(&to.Month, r.Past.in(monthSpan))
	r.addTo(&to.Total, r.Total)
}

// addTo adds a number of requests in a row.
func (r *row) addTo(c *statusapi.Counts, n uint64) {
	c.Requests += n
	*c.Of(r.action(), r.Monitor) += n
	switch r.Claim {
	case claim.Verified:
		c.Verified += n
	case claim.Unverified:
		c.Unverified += n
	case claim.Impostor:
		c.Impostors += n
	}
	isPacedByName := r.Reason.Info().Field != "" && r.Line != nil && r.Line.Group != "" && r.Line.Group != "*"
	switch {
	case !r.Known || r.action() == judge.Pass || r.Reason == judge.Impostor || isPacedByName:
	case r.Monitor && r.Claim == claim.Verified:
		c.VerifiedWould += n
	case r.Monitor:
	case r.Claim == claim.Verified:
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
	rows := c.walk(topmost(scope))
	s.Since, s.Series.Steps = c.since.UTC(), c.steps(span)
	reasons := make(map[outcome]*statusapi.ReasonCounts)
	for r := range rows {
		switch {
		case r.isPeople():
			r.addWindows(&s.People)
			r.Past.addTo(s.Series.People, of, c.at)
			continue
		case r.isStrangers():
			r.addWindows(&s.Strangers)
			r.Past.addTo(s.Series.Strangers, of, c.at)
			continue
		}
		r.Past.addTo(*s.Series.Of(r.action(), r.Monitor), of, c.at)
		if r.addCounts(&s.Crawlers); r.isSearch() {
			r.addCounts(&s.Search)
		}
		o := outcome{Reason: r.Reason, Monitor: r.Monitor && r.action() != judge.Pass} // which passes in both modes
		if reasons[o] == nil {
			reasons[o] = &statusapi.ReasonCounts{Reason: o.Reason.String(), Action: verdict.ActionName(o.action(), o.Monitor)}
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
	rows := c.walk(func(s *Site) bool { return found[s] != nil })
	for s := range c.allSites() {
		if s.in(scope) {
			found[s] = &statusapi.Site{Name: s.name, Pattern: s.patternName()}
		}
	}
	for r := range rows {
		to := found[r.site]
		n := r.Past.in(of)
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
		to.Total += r.Total
		to.Minute += r.Past.back(hourSpan, c.at, 1)
		if r.isSearch() && r.Claim == claim.Verified {
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
	found := make(map[id]*statusapi.Crawler)
	for r := range c.walk(topmost(scope)) {
		if r.Class == crawler.Person || query.Class != "" && r.Class.String() != query.Class {
			continue
		}
		to := found[r.id()]
		if to == nil {
			to = &statusapi.Crawler{
				Name: r.name(), Class: r.Class.String(), Known: r.Known, Other: r.Crawler == "", Operator: r.Operator,
				Purposes: words.Strings(r.Purposes), Series: make([]uint64, of.count()),
			}
			found[r.id()] = to
		}
		r.addCounts(&to.Windows)
		r.Past.addTo(to.Series, of, c.at)
		if last := time.Unix(r.Last, 0).UTC().Truncate(time.Minute); last.After(to.Last) {
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
	for r := range c.walk(func(s *Site) bool { return true }) {
		if r.Line == nil || !scope.Host(r.site.configured(), r.Line.Origin.Host) {
			continue
		}
		at := r.Line.ID.at(r.Line.Origin)
		to := found[at]
		if to == nil {
			to = &LineCount{Line: *r.Line, Site: r.site.configured()}
			found[at] = to
		}
		to.add(r)
	}
	return sorted(found, func(a, b *LineCount) int { return cmp.Compare(a.ID, b.ID) })
}

// add adds the counts of a row.
func (l *LineCount) add(r *row) {
	*l.Of(r.action(), r.Monitor) += r.Total
	if r.action() != judge.Pass {
		l.Hour += r.Past.in(hourSpan)
		l.Day += r.Past.in(daySpan)
	}
	if last := time.Unix(r.Last, 0).UTC(); last.After(l.Last) {
		l.Last, l.Number = last, int(r.Number)
	}
}
