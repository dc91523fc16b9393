package live

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Summary implements statusapi.Reporter.
func (r *Reporter) Summary(scope statusapi.Scope, query statusapi.SummaryQuery) (*statusapi.Summary, error) {
	query.Span = cmp.Or(query.Span, statusapi.SpanHour)
	c := r.app.Counters
	if query.Brief {
		return c.Summary(scope, query.Span), nil
	}
	for _, h := range r.handlers() {
		for _, site := range h.Hosts {
			c.Site(site) // so that sites without requests are included
		}
	}
	s, handlers := c.Summary(scope, query.Span), r.bySite()
	rows := c.Sites(scope, query.Span)
	rows = append(rows, r.uncounted(scope, rows)...)
	s.Hosts = len(c.Hosts(scope))
	s.Verify = slices.ContainsFunc(r.handlersIn(scope), func(h *Handler) bool { return h.Verifies })
	s.Modes, s.Origins.States = make(map[string]int), make(map[string]int)
	for i := range rows {
		row := &rows[i]
		row.Mode, row.Overridden = handlers.mode(row.Name, row.Pattern)
	}
	rows = slices.DeleteFunc(rows, func(row statusapi.Site) bool { return row.Mode == modeOff && !row.Any })
	states := make(siteStates)
	for i := range rows {
		s.Modes[rows[i].Mode]++
		states.at(rows[i].Name)
	}
	health := r.health(scope, func(p *inForce, kind string) {
		outcome := p.Rules.Outcome().String()
		s.Origins.Origins++
		s.Origins.Rules += p.Rules.RuleCount()
		s.Origins.States[outcome]++
		states.add(p, outcome, kind)
	})
	for _, p := range slices.Backward(health.Problems) {
		if isTrouble(p) {
			states.at(p.Subject).kind = p.Kind // of most problems, it is a site
		}
	}
	if s.Crawlers.Total.Requests == 0 {
		s.Empty = r.empty(scope, s)
	}
	s.Health, s.Changes = *health, c.changes(scope, s.Series.Start)
	for i := range rows {
		row := &rows[i]
		state := states.at(row.Name)
		outcome := cmp.Or(state.outcome, states.at(row.Pattern).outcome, judge.Pending.String())
		row.State, row.OK = cmp.Or(state.kind, outcome), state.kind == ""
	}
	if query.Limit == 0 {
		s.Sites = slices.DeleteFunc(rows, func(row statusapi.Site) bool { return row.Pattern != "" && (scope.All() || !scope.Site(row.Name)) })
		slices.SortFunc(s.Sites, func(a, b statusapi.Site) int { return strings.Compare(a.Name, b.Name) })
	} else {
		s.Sites = worst(rows, query)
	}
	return s, nil
}

// modeOff is the Site.Mode of a site without a handler.
const modeOff = "off"

// siteHandlers has the handlers of each site.
type siteHandlers map[string][]*Handler

func (r *Reporter) bySite() siteHandlers {
	list := make(siteHandlers)
	for _, h := range r.handlers() {
		for _, site := range h.Hosts {
			list[site] = append(list[site], h)
		}
	}
	return list
}

// of returns the handlers of a site, or of a host that a pattern matches.
func (s siteHandlers) of(name, pattern string) []*Handler {
	if list, ok := s[name]; ok {
		return list
	}
	return s[pattern]
}

// mode returns Site.Mode and Site.Overridden of a site, or of a host that a pattern matches.
func (s siteHandlers) mode(name, pattern string) (mode string, overridden bool) {
	for _, h := range s.of(name, pattern) {
		modes := h.modes()
		now := modes.At(name)
		if now == nil {
			continue
		}
		overridden = overridden || modes.isOverridden(name)
		if mode == "" || mode == now.String() {
			mode = now.String()
		} else {
			mode = statusapi.Both
		}
	}
	return cmp.Or(mode, modeOff), overridden
}

// uncounted returns the hosts that a scope names, a handler serves by a pattern, and
// that have no counters.
func (r *Reporter) uncounted(scope statusapi.Scope, counted []statusapi.Site) (list []statusapi.Site) {
	for _, name := range scope.Hosts() {
		if slices.ContainsFunc(counted, func(row statusapi.Site) bool { return row.Name == name }) {
			continue
		}
		if i := slices.IndexFunc(r.handlers(), func(h *Handler) bool { return h.ownsHost(name) }); i >= 0 {
			list = append(list, statusapi.Site{Name: name, Pattern: r.handlers()[i].SiteOf(name)})
		}
	}
	return list
}

// siteState has the Origin.State of the robots.txt of a site, and its first Problem.Kind.
type siteState struct{ outcome, kind string }

// siteStates has the states of sites and hosts, by siteName.
type siteStates map[string]*siteState

// at returns the state of a site, and adds it if there is none.
func (s siteStates) at(site string) *siteState {
	state := s[siteName(site)]
	if state == nil {
		state = new(siteState)
		s[siteName(site)] = state
	}
	return state
}

// add adds what is in force at an origin: to its host, or to the site of a host that has
// no counters.
func (s siteStates) add(p *inForce, outcome, kind string) {
	note := func(state *siteState) { state.outcome, state.kind = outcome, cmp.Or(state.kind, kind) }
	if p.shared {
		for _, site := range p.Hosts {
			note(s.at(site))
		}
		return
	}
	site := s.at(p.SiteOf(p.Origin.Host))
	if host := s[p.Origin.Host]; host != nil {
		site.outcome = cmp.Or(site.outcome, outcome)
		site = host
	} else if p.Invented && statusapi.IsUnmeant(kind) { // its tenant's, or a client has invented the host
		kind = ""
	}
	note(site)
}

// worst returns the sites with the text of a query in their name, the worst first, as many
// as the query wants, never nil.
func worst(rows []statusapi.Site, query statusapi.SummaryQuery) []statusapi.Site {
	name := strings.ToLower(query.Name)
	var list []*statusapi.Site
	for i := range rows {
		if strings.Contains(rows[i].Name, name) {
			list = append(list, &rows[i])
		}
	}
	slices.SortFunc(list, func(a, b *statusapi.Site) int {
		return cmp.Or(before(!a.OK, !b.OK), cmp.Compare(b.SearchRefused, a.SearchRefused),
			cmp.Compare(statusapi.Refused(b.Decided), statusapi.Refused(a.Decided)), cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Name, b.Name))
	})
	found := []statusapi.Site{}
	for _, row := range list[:min(len(list), query.Limit)] {
		found = append(found, *row)
	}
	return found
}

// crawlerOrders are the values of CrawlersQuery.Sort that are a count.
var crawlerOrders = map[string]func(*statusapi.Counts) uint64{
	"requests":       func(c *statusapi.Counts) uint64 { return c.Requests },
	"passed":         func(c *statusapi.Counts) uint64 { return c.Passed },
	"denied":         func(c *statusapi.Counts) uint64 { return c.Denied },
	"throttled":      func(c *statusapi.Counts) uint64 { return c.Throttled },
	"would_deny":     func(c *statusapi.Counts) uint64 { return c.WouldDeny },
	"would_throttle": func(c *statusapi.Counts) uint64 { return c.WouldThrottle },
	"verified":       func(c *statusapi.Counts) uint64 { return c.Verified },
	"unverified":     func(c *statusapi.Counts) uint64 { return c.Unverified },
	"impostors":      func(c *statusapi.Counts) uint64 { return c.Impostors },
}

// Crawlers implements statusapi.Reporter.
func (r *Reporter) Crawlers(scope statusapi.Scope, query statusapi.CrawlersQuery) (*statusapi.Crawlers, error) {
	query.Span, query.Sort = cmp.Or(query.Span, statusapi.SpanDay), cmp.Or(query.Sort, "requests")
	order := crawlerOrders[query.Sort]
	if order == nil && query.Sort != statusapi.SortName && query.Sort != statusapi.SortLast {
		return nil, badRequest("sort=%q: want name, last, requests, passed, denied, throttled, would_deny, would_throttle, "+
			"verified, unverified or impostors",
			query.Sort)
	}
	list, steps := r.app.Counters.Crawlers(scope, query)
	if name := strings.ToLower(query.Name); name != "" {
		list = slices.DeleteFunc(list, func(c statusapi.Crawler) bool { return !strings.Contains(strings.ToLower(c.Name), name) })
	}
	slices.SortFunc(list, func(a, b statusapi.Crawler) int {
		byName := cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.Class, b.Class))
		switch query.Sort {
		case statusapi.SortName:
			return byName
		case statusapi.SortLast:
			return cmp.Or(b.Last.Compare(a.Last), byName)
		}
		return cmp.Or(cmp.Compare(order(b.In(query.Span)), order(a.In(query.Span))), cmp.Compare(b.Total.Requests, a.Total.Requests), byName)
	})
	for i := range list {
		if c := &list[i]; c.Name == query.Advise {
			c.Actions = r.actionsFor(c, scope)
		}
	}
	page, list := statusapi.Part(query.Pages, list)
	return &statusapi.Crawlers{Page: page, Steps: steps, Crawlers: list}, nil
}

// Recent implements statusapi.Reporter.
func (r *Reporter) Recent(scope statusapi.Scope, query statusapi.RecentQuery) (*statusapi.Recent, error) {
	return r.app.Counters.Refusals(scope, query), nil
}
