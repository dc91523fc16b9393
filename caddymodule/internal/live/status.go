package live

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Status implements statusapi.Reporter.
func (r *Reporter) Status(scope statusapi.Scope, query statusapi.Query) (*statusapi.Status, error) {
	c := r.app.Counters
	query.Limit = cmp.Or(query.Limit, statusapi.DefaultLimit)
	for _, h := range r.handlers() {
		for _, site := range h.Hosts {
			c.Site(site) // so that sites without requests are included
		}
	}
	view := c.View(scope, query.Span)
	s := &statusapi.Status{Summary: view.Summary, Modes: make(map[string]int)}
	s.Verify = slices.ContainsFunc(r.handlersIn(scope), func(h *Handler) bool { return h.Verifies })
	sites := r.withModes(scope, view.Sites)
	states := make(siteStates, len(sites))
	for _, row := range sites {
		s.Modes[row.Mode]++
		states.at(row.Name)
		if row.Pattern != "" {
			s.Hosts++
		}
	}
	shared, refused := r.shared(scope), make(map[originID]uint64)
	for _, n := range view.Lines {
		if n.Day > 0 {
			refused[shared.idOf(n)] += n.Day
		}
	}
	var health *statusapi.Health
	files, chosen, wanted, f := topOf(query.Limit, nil, compareFiles), []file{}, parseID(query.ID), new(file)
	busiest := linesOf(statusapi.LinesQuery{Refused: true, Limit: query.Limit}, shared, view.Lines, func(yield func(*inForce) bool) {
		health = r.health(scope, view.Crawlers, func(p *inForce, kind string) {
			s.Origins.Origins++
			s.Origins.Rules += p.Rules.RuleCount()
			states.add(p, kind)
			*f = file{*p, kind == "", refused[p.id]}
			if files.add(f); p.id == wanted {
				chosen = append(chosen, *f)
			}
			yield(p)
		})
	})
	for _, p := range slices.Backward(health.Problems) {
		if isTrouble(p) {
			states.at(p.Subject).kind = p.Kind // of most problems, it is a site
		}
	}
	s.Health = *health
	for _, row := range sites {
		state := states.at(row.Name)
		outcome := cmp.Or(state.outcome, states.at(row.Pattern).outcome, judge.Pending.String())
		row.State, row.OK = cmp.Or(state.kind, outcome), state.kind == ""
	}
	s.Sites = worst(sites, query)
	s.CrawlersTotal = len(view.Crawlers)
	s.Busiest = topOf(query.Limit, view.Crawlers, func(a, b *statusapi.Crawler) int {
		return cmp.Or(cmp.Compare(b.In(query.Span).Requests, a.In(query.Span).Requests), cmp.Compare(b.Total.Requests, a.Total.Requests),
			strings.Compare(a.Name, b.Name), strings.Compare(a.Class, b.Class))
	}).first
	recent := c.Kept(scope, query.After)
	s.Last = query.After
	if len(recent) > 0 {
		s.Last = recent[0].Seq
	}
	s.Recent = []statusapi.Refusal{}
	for _, f := range recent[:min(len(recent), query.Limit)] {
		s.Recent = append(s.Recent, *f)
	}
	s.Rules, s.RulesTotal = busiest.Lines, busiest.Total
	s.Files = []statusapi.Origin{}
	if !slices.ContainsFunc(files.first, func(f file) bool { return f.id == wanted }) {
		files.first = append(files.first, chosen...)
	}
	for i := range files.first {
		s.Files = append(s.Files, r.origin(&files.first[i].inForce))
	}
	return s, nil
}

// withModes returns the sites and hosts of a scope with their modes, also those without counts.
func (r *Reporter) withModes(scope statusapi.Scope, rows []*statusapi.Site) []*statusapi.Site {
	handlers := r.bySite()
	rows = append(rows, r.uncounted(scope, rows)...)
	for _, row := range rows {
		row.Mode, row.Overridden = handlers.mode(row.Name, row.Pattern)
	}
	return slices.DeleteFunc(rows, func(row *statusapi.Site) bool { return row.Mode == modeOff && !row.Any })
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
func (r *Reporter) uncounted(scope statusapi.Scope, counted []*statusapi.Site) (list []*statusapi.Site) {
	for _, name := range scope.Hosts() {
		if slices.ContainsFunc(counted, func(row *statusapi.Site) bool { return row.Name == name }) {
			continue
		}
		if i := slices.IndexFunc(r.handlers(), func(h *Handler) bool { return h.ownsHost(name) }); i >= 0 {
			list = append(list, &statusapi.Site{Name: name, Pattern: r.handlers()[i].SiteOf(name)})
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
	state := s[statusapi.SiteName(site)]
	if state == nil {
		state = new(siteState)
		s[statusapi.SiteName(site)] = state
	}
	return state
}

// add adds what is in force at an origin: to its host, or to the site of a host that has
// no counters.
func (s siteStates) add(p *inForce, kind string) {
	outcome := p.Rules.Outcome().String()
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
// as the query wants.
func worst(rows []*statusapi.Site, query statusapi.Query) []statusapi.Site {
	name := strings.ToLower(query.Name)
	rows = slices.DeleteFunc(rows, func(row *statusapi.Site) bool { return !strings.Contains(row.Name, name) })
	return topOf(query.Limit, rows, func(a, b *statusapi.Site) int {
		return cmp.Or(before(!a.OK, !b.OK), cmp.Compare(b.SearchRefused, a.SearchRefused),
			cmp.Compare(statusapi.Refused(b.Decided), statusapi.Refused(a.Decided)), cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Name, b.Name))
	}).first
}
