package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Summary implements statusapi.Reporter.
func (r *Reporter) Summary(scope statusapi.Scope, query statusapi.SummaryQuery) (*statusapi.Summary, error) {
	query.Span = cmp.Or(query.Span, statusapi.SpanHour)
	if query.Brief {
		return r.app.Counters.Summary(scope, query.Span), nil
	}
	modes := r.modes()
	for _, h := range r.handlers() {
		for _, site := range h.Hosts {
			r.app.Counters.Site(site) // so that sites without requests are included
		}
	}
	s := r.app.Counters.Summary(scope, query.Span)
	s.Sites = append(s.Sites, r.uncounted(scope, s.Sites)...)
	s.Hosts.Counted, s.Hosts.More = r.app.Counters.Hosts(scope)
	s.Modes = make(map[string]int)
	kept := s.Sites[:0]
	for _, site := range s.Sites {
		site.Mode, site.Overridden = modes.of(&site)
		if site.Mode == modeOff && site.Crawlers.Total.Requests+site.People.Total == 0 {
			continue
		}
		s.Modes[site.Mode]++
		kept = append(kept, site)
	}
	s.Sites = kept
	s.Origins.States = make(map[string]int)
	states := newSiteStates(s.Sites)
	for p := range r.allInForce(scope) {
		outcome := p.Rules.Outcome().String()
		s.Origins.Origins++
		s.Origins.Rules += p.Rules.RuleCount()
		s.Origins.States[outcome]++
		if query.Rows+query.Limit > 0 {
			states.add(&p, outcome, r.kind(&p))
		}
	}
	health, err := r.Health(scope)
	if err != nil {
		return nil, err
	}
	s.Health = *health
	s.Changes = r.app.Counters.changes(scope, s.Series.Start)
	if query.Rows+query.Limit == 0 {
		s.Sites = slices.DeleteFunc(s.Sites, func(site statusapi.Site) bool {
			return site.Pattern != "" && (scope.All() || !scope.Site(site.Name))
		})
		return s, nil
	}
	for _, p := range slices.Backward(health.Problems) {
		states.kinds[p.Subject] = p.Kind // of most problems, it is a site
	}
	s.Rows, s.Sites = states.worst(s.Sites, query)
	return s, nil
}

// modeOff is the Site.Mode of a site without a handler.
const modeOff = "off"

// siteModes has the modes of sites, and of hosts whose mode is another one.
type siteModes struct {
	configured map[string]configured
	overridden map[string]bool
	off        []config.Hosts
}

func (r *Reporter) modes() siteModes {
	m := siteModes{configured: r.configured(), overridden: make(map[string]bool)}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.handlers() {
		for _, site := range h.Hosts {
			m.overridden[site] = m.overridden[site] || h.overridden
		}
		for host := range h.hostModes() {
			m.overridden[host] = true
		}
		if h.Settings.OffHosts != nil {
			m.off = append(m.off, config.NewHosts(h.Settings.OffHosts))
		}
	}
	return m
}

// of returns the mode of a site, and whether it was set until the next load.
func (m *siteModes) of(site *statusapi.Site) (mode string, overridden bool) {
	for i := range m.off {
		if m.off[i].Has(site.Name) {
			return modeOff, false
		}
	}
	name := site.Name
	if _, ok := m.configured[name]; !ok && site.Pattern != "" {
		name = site.Pattern
	}
	return cmp.Or(m.configured[name].Mode, modeOff), m.overridden[name]
}

// uncounted returns the hosts that a scope names, a handler serves by a pattern, and
// that have no counters.
func (r *Reporter) uncounted(scope statusapi.Scope, counted []statusapi.Site) (list []statusapi.Site) {
	for _, name := range scope.Hosts() {
		if slices.ContainsFunc(counted, func(site statusapi.Site) bool { return site.Name == name }) {
			continue
		}
		if i := slices.IndexFunc(r.handlers(), func(h *Handler) bool { return h.ownsHost(name) }); i >= 0 {
			list = append(list, statusapi.Site{Name: name, Pattern: r.handlers()[i].SiteOf(name)})
		}
	}
	return list
}

// siteStates has the state of the robots.txt and the problems of sites, by siteName.
type siteStates struct {
	counted         map[string]bool
	outcomes, kinds map[string]string
}

func newSiteStates(sites []statusapi.Site) *siteStates {
	s := &siteStates{make(map[string]bool, len(sites)), make(map[string]string, len(sites)), make(map[string]string)}
	for i := range sites {
		s.counted[sites[i].Name] = true
	}
	return s
}

// add adds what is in force at an origin: to its host, or to the site of a host that has
// no counters.
func (s *siteStates) add(p *inForce, outcome, kind string) {
	sites := p.Hosts
	if !p.shared {
		site := p.SiteOf(p.Origin.Host)
		if s.counted[p.Origin.Host] {
			s.outcomes[siteName(site)] = cmp.Or(s.outcomes[siteName(site)], outcome)
			site = p.Origin.Host
		}
		sites = []string{site}
	}
	for _, site := range sites {
		if s.outcomes[siteName(site)] = outcome; kind != "" && s.kinds[siteName(site)] == "" {
			s.kinds[siteName(site)] = kind
		}
	}
}

// worst returns the sites with the text of a query in their name, the worst first: the
// short forms of the first Rows, and the first Limit.
func (s *siteStates) worst(sites []statusapi.Site, query statusapi.SummaryQuery) (rows []statusapi.SiteRow, list []statusapi.Site) {
	type ranked struct {
		row  statusapi.SiteRow
		site *statusapi.Site
	}
	all := make([]ranked, 0, len(sites))
	for i := range sites {
		site, kind := &sites[i], s.kinds[siteName(sites[i].Name)]
		outcome := cmp.Or(s.outcomes[siteName(site.Name)], s.outcomes[siteName(site.Pattern)], judge.Pending.String())
		if n := site.Crawlers.In(query.Span); strings.Contains(site.Name, strings.ToLower(query.Name)) {
			all = append(all, ranked{statusapi.SiteRow{
				Name: site.Name, Mode: site.Mode, State: cmp.Or(kind, outcome), OK: kind == "",
				Minute:   site.Minute,
				Requests: n.Requests, Refused: n.Denied + n.Throttled, WouldRefuse: n.WouldDeny + n.WouldThrottle,
				SearchRefused: site.Search.In(query.Span).VerifiedRefused,
			}, site})
		}
	}
	slices.SortStableFunc(all, func(x, y ranked) int {
		a, b := &x.row, &y.row
		return cmp.Or(before(!a.OK, !b.OK), cmp.Compare(b.SearchRefused, a.SearchRefused),
			cmp.Compare(b.Refused+b.WouldRefuse, a.Refused+a.WouldRefuse), cmp.Compare(b.Requests, a.Requests))
	})
	rows, list = []statusapi.SiteRow{}, []statusapi.Site{}
	for i, one := range all {
		if i < query.Rows {
			rows = append(rows, one.row)
		}
		if i < query.Limit {
			list = append(list, *one.site)
		}
	}
	return rows, list
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
	page, list := statusapi.Part(query.Pages, list)
	return &statusapi.Crawlers{Page: page, Steps: steps, Crawlers: list}, nil
}

// Recent implements statusapi.Reporter.
func (r *Reporter) Recent(scope statusapi.Scope, query statusapi.RecentQuery) (*statusapi.Recent, error) {
	return r.app.Counters.Refusals(scope, query), nil
}

// Suspects implements statusapi.Reporter.
func (r *Reporter) Suspects(scope statusapi.Scope, pages statusapi.Pages) (*statusapi.Suspects, error) {
	answer, list := new(statusapi.Suspects), []statusapi.Suspect(nil)
	actions := make(map[string]string) // by site
	for _, h := range r.handlersIn(scope) {
		if h.Settings.Suspects != nil {
			answer.On = true
			for _, site := range h.Hosts {
				actions[site] = h.Settings.Suspects.Action
			}
		}
	}
	for _, s := range r.app.Suspects() {
		if !scope.Site(s.Site) {
			continue
		}
		entry := statusapi.Suspect{
			Site: s.Site, Host: s.Site, Client: s.Network.String(), UserAgent: fmt.Sprintf("%s %d", s.Browser.Family, s.Browser.Version),
			Signals: []string{},
			Action:  cmp.Or(actions[s.Site], config.SuspectsObserve), Since: s.Since.UTC(), Until: s.Until.UTC(), Requests: uint64(s.Documents),
		}
		for _, c := range s.Signals {
			entry.Signals = append(entry.Signals, c.Signal.String())
		}
		list = append(list, entry)
	}
	answer.Page, answer.Suspects = statusapi.Part(pages, list)
	return answer, nil
}

// roomProblems returns the hosts that a scope names, and whose requests only their
// pattern counts.
func (r *Reporter) roomProblems(scope statusapi.Scope) (problems []statusapi.Problem) {
	for _, site := range r.uncounted(scope, nil) {
		if r.app.Counters.Waits(site.Pattern, site.Name) {
			problems = append(problems, warning("memory", site.Name,
				"requests to "+site.Name+" are only counted together with those of other hosts, because the counters of hosts are full",
				"A host gets its own counters on its second day with requests, if there is room: raise max_memory, or name it in the Caddyfile."))
		}
	}
	return problems
}
