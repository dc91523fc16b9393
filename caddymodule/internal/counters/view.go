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

// walk folds, and returns the rows that have counts. The caller holds mu.
func (c *Counters) walk() iter.Seq[*row] {
	c.fold()
	return func(yield func(*row) bool) {
		for r := range c.rows.all() {
			if r.Total > 0 && !yield(r) {
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

// KnowsHost reports whether a host that only a pattern names had requests on two days, at the
// last fold.
func (c *Counters) KnowsHost(name string) bool {
	_, days := c.daysOf(name)
	return days > 1
}

// daysOf returns on how many days a host that only a pattern names had requests.
func (c *Counters) daysOf(name string) (has bool, days int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	set := uint32(0)
	for _, s := range c.sites {
		if people := c.rows.find(s.hostHash(name)); people != nil {
			has, set = true, set|people.site.days
		}
	}
	return has, bits.OnesCount32(set)
}

// LineCount has the counts of one line at one origin.
type LineCount struct {
	*Line
	Site   string
	Number int // of the line when it last decided
	statusapi.LineCounts
}

// View is a copy of the counts of a scope at one time. Its lists are in no order.
type View struct {
	*statusapi.Summary
	Sites    []*statusapi.Site    // and hosts; the caller has to fill in what is not counted
	Crawlers []*statusapi.Crawler // the counts of one at several sites are added up
	Lines    []*LineCount         // that decided about requests

	scope statusapi.Scope
	span  span
	at    minute

	sites    []*Site                 // with a view
	named    map[[2]string]*siteView // by pattern or site, and name; nil for one server
	reasons  map[outcome]*statusapi.ReasonCounts
	crawlers map[id]*statusapi.Crawler
	lines    map[uint64]*LineCount
}

// siteView is what a view has of a site, while it is made.
type siteView struct {
	counts *statusapi.Site // nil if it is not in the scope
	// it is in the scope, and its pattern is not: the counts of a pattern have those of its hosts
	topmost bool
}

// View returns the counts of a scope. span is that of the series and of the counts of sites:
// statusapi.SpanHour, SpanDay or SpanMonth.
func (c *Counters) View(scope statusapi.Scope, span string) *View {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fold()
	v := &View{
		Summary: &statusapi.Summary{Since: c.since.UTC(), Hour: c.series(statusapi.SpanHour), Series: c.series(span), Reasons: []statusapi.ReasonCounts{}},
		scope:   scope, span: spanNames[span], at: c.at, reasons: make(map[outcome]*statusapi.ReasonCounts),
		crawlers: make(map[id]*statusapi.Crawler), lines: make(map[uint64]*LineCount),
	}
	if c.others != nil {
		v.named = make(map[[2]string]*siteView)
	}
	v.addAll(c)
	for _, o := range c.others {
		v.addOthers(o)
	}
	for _, one := range v.reasons {
		v.Reasons = append(v.Reasons, *one)
	}
	slices.SortFunc(v.Reasons, func(a, b statusapi.ReasonCounts) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Total, a.Total), strings.Compare(a.Reason, b.Reason),
			strings.Compare(a.Action, b.Action))
	})
	v.Crawlers, v.Lines = slices.Collect(maps.Values(v.crawlers)), slices.Collect(maps.Values(v.lines))
	return v
}

// addAll adds the rows of c, and reports whether it has a site in the scope. The caller holds c.mu.
func (v *View) addAll(c *Counters) (any bool) {
	for r := range c.rows.all() {
		site := v.siteOf(r.site)
		any = any || site.counts != nil
		if r.Total == 0 {
			continue
		}
		if site.counts != nil {
			v.addToSite(site.counts, r)
		}
		if site.topmost { // few rows, of many hosts: the sum of a ring takes time
			v.addToSums(r, r.windows())
		}
		if r.Line != nil && v.scope.Host(r.site.configured(), r.Line.Origin.Host) {
			v.addToLine(r)
		}
	}
	for _, s := range v.sites {
		s.view = nil
	}
	v.sites = v.sites[:0]
	return any
}

// siteOf returns what the view has of a site.
func (v *View) siteOf(s *Site) *siteView {
	if s.view != nil {
		return s.view
	}
	v.sites = append(v.sites, s)
	name := [2]string{s.configured(), s.name}
	s.view = v.named[name]
	if s.view == nil {
		s.view = &siteView{topmost: v.scope.Site(s.name) && (s.pattern == nil || !v.scope.Site(s.pattern.name))}
		if s.in(v.scope) {
			s.view.counts = &statusapi.Site{Name: s.name, Pattern: s.patternName()}
			v.Sites = append(v.Sites, s.view.counts)
		}
		if v.named != nil {
			v.named[name] = s.view
		}
	}
	return s.view
}

// addToSite adds a row to the counts of its site.
func (v *View) addToSite(to *statusapi.Site, r *row) {
	n := r.Past.in(v.span)
	to.Any = true
	switch {
	case r.isPeople():
		to.People += n
		return
	case r.isStrangers():
		to.Strangers += n
		return
	}
	r.addTo(&to.Counts, n)
	to.Minute += r.Past.back(hourSpan, v.at, 1)
	if r.isSearch() && r.Claim == claim.Verified {
		var search statusapi.Counts
		r.addTo(&search, n)
		to.SearchRefused += search.VerifiedRefused
	}
}

// addToSums adds a row to what is summed up over all sites.
func (v *View) addToSums(r *row, n statusapi.Windows[uint64]) {
	switch {
	case r.isPeople():
		v.People.Add(&n, add)
	case r.isStrangers():
		v.Strangers.Add(&n, add)
	default:
		if v.Summary.Crawlers.Add(&n, r.addTo); r.isSearch() {
			v.Search.Add(&n, r.addTo)
		}
		if r.Class == crawler.Library || r.Class == crawler.Program {
			v.Programs.Add(&n, add)
		}
		o := outcome{Reason: r.Reason, Monitor: r.Monitor && r.action() != judge.Pass} // which passes in both modes
		if v.reasons[o] == nil {
			v.reasons[o] = &statusapi.ReasonCounts{Reason: o.Reason.String(), Action: verdict.ActionName(o.action(), o.Monitor)}
		}
		v.reasons[o].Add(&n, add)
	}
	r.Past.addTo(*r.points(&v.Series), v.span, v.at)
	r.Past.addTo(*r.points(&v.Hour), hourSpan, v.at)
	if r.Class != crawler.Person {
		v.addToCrawler(r, n)
	}
}

// addToCrawler adds a row to the counts of its crawler.
func (v *View) addToCrawler(r *row, n statusapi.Windows[uint64]) {
	to := v.crawlers[r.id()]
	if to == nil {
		to = &statusapi.Crawler{
			Name: r.name(), Class: r.Class.String(), Known: r.Known, Other: r.Crawler == "", Operator: r.Operator,
			Purposes: words.Strings(r.Purposes), Series: make([]uint64, v.span.count()),
		}
		v.crawlers[r.id()] = to
	}
	to.Add(&n, r.addTo)
	r.Past.addTo(to.Series, v.span, v.at)
	if last := time.Unix(r.Last, 0).UTC().Truncate(time.Minute); last.After(to.Last) {
		to.Last = last
	}
}

// addToLine adds a row to the counts of its line.
func (v *View) addToLine(r *row) {
	to := v.lines[r.line]
	if to == nil {
		to = &LineCount{Line: r.Line, Site: r.site.configured()}
		v.lines[r.line] = to
	}
	*to.Of(r.action(), r.Monitor) += r.Total
	if r.action() != judge.Pass {
		to.Hour += r.Past.in(hourSpan)
		to.Day += r.Past.in(daySpan)
	}
	if last := time.Unix(r.Last, 0).UTC(); last.After(to.Last) {
		to.Last, to.Number = last, int(r.Number)
	}
}

// windows returns the requests in a row.
func (r *row) windows() statusapi.Windows[uint64] {
	return statusapi.Windows[uint64]{Hour: r.Past.in(hourSpan), Day: r.Past.in(daySpan), Month: r.Past.in(monthSpan), Total: r.Total}
}

// add adds requests.
func add(to *uint64, more uint64) { *to += more }

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

// series returns a series without requests.
func (c *Counters) series(span string) statusapi.Series {
	points := func() []uint64 { return make([]uint64, spanNames[span].count()) }
	return statusapi.Series{Steps: c.steps(span), People: points(), Strangers: points(), Decided: statusapi.Decided[[]uint64]{
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
