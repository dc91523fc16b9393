package counters

import (
	"cmp"
	"iter"
	"maps"
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
	s := &statusapi.Summary{Hour: c.series(statusapi.SpanHour), Series: c.series(span)}
	of := spanNames[span]
	reasons := make(map[outcome]*statusapi.ReasonCounts)
	for r := range c.walk(topmost(scope)) {
		switch {
		case r.isPeople():
			r.addWindows(&s.People)
		case r.isStrangers():
			r.addWindows(&s.Strangers)
		default:
			if r.addCounts(&s.Crawlers); r.isSearch() {
				r.addCounts(&s.Search)
			}
			o := outcome{Reason: r.Reason, Monitor: r.Monitor && r.action() != judge.Pass} // which passes in both modes
			if reasons[o] == nil {
				reasons[o] = &statusapi.ReasonCounts{Reason: o.Reason.String(), Action: verdict.ActionName(o.action(), o.Monitor)}
			}
			r.addWindows(&reasons[o].Windows)
		}
		r.Past.addTo(*r.points(&s.Series), of, c.at)
		r.Past.addTo(*r.points(&s.Hour), hourSpan, c.at)
	}
	s.Since, s.Series.Steps, s.Hour.Steps, s.Reasons = c.since.UTC(), c.steps(span), c.steps(statusapi.SpanHour), []statusapi.ReasonCounts{}
	for _, one := range reasons {
		s.Reasons = append(s.Reasons, *one)
	}
	slices.SortFunc(s.Reasons, func(a, b statusapi.ReasonCounts) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Total, a.Total), strings.Compare(a.Reason, b.Reason),
			strings.Compare(a.Action, b.Action))
	})
	return s
}

// series returns a series without requests. The walk that fills it in knows its steps.
func (c *Counters) series(span string) statusapi.Series {
	points := func() []uint64 { return make([]uint64, spanNames[span].count()) }
	return statusapi.Series{People: points(), Strangers: points(), Decided: statusapi.Decided[[]uint64]{
		Passed: points(), Denied: points(), Throttled: points(), WouldDeny: points(), WouldThrottle: points(),
	}}
}

// points returns the points of a series that have the requests of the row.
func (r *row) points(s *statusapi.Series) *[]uint64 {
	switch {
	case r.isPeople():
		return &s.People
	case r.isStrangers():
		return &s.Strangers
	}
	return s.Of(r.action(), r.Monitor)
}

// Sites returns the counts of the sites and hosts of a scope in a span, in no order. The caller
// has to fill in what is not counted.
func (c *Counters) Sites(scope statusapi.Scope, span string) (list []*statusapi.Site) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of, found := spanNames[span], make(map[*Site]*statusapi.Site)
	rows := c.walk(func(*Site) bool { return true })
	for s := range c.allSites() {
		if s.in(scope) {
			found[s] = &statusapi.Site{Name: s.name, Pattern: s.patternName()}
			list = append(list, found[s])
		}
	}
	for r := range rows {
		to := found[r.site]
		if to == nil {
			continue
		}
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
	return list
}

// Crawlers returns the counts of the crawlers at the sites of a scope, in no order.
// The counts of one crawler at several sites are added up. span is that of the series:
// statusapi.SpanHour, SpanDay or SpanMonth.
func (c *Counters) Crawlers(scope statusapi.Scope, span string) []*statusapi.Crawler {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := spanNames[span]
	found := make(map[id]*statusapi.Crawler)
	for r := range c.walk(topmost(scope)) {
		if r.Class == crawler.Person {
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
	return slices.Collect(maps.Values(found))
}

// LineCount has the counts of one line at one origin.
type LineCount struct {
	*Line
	Site   string
	Number int // of the line when it last decided
	statusapi.LineCounts
}

// Lines returns the counts of the lines that decided about requests to the sites and
// hosts of a scope, in no order.
func (c *Counters) Lines(scope statusapi.Scope) []*LineCount {
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
			to = &LineCount{Line: r.Line, Site: r.site.configured()}
			found[at] = to
		}
		to.add(r)
	}
	return slices.Collect(maps.Values(found))
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
