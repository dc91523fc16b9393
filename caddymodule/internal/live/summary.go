package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

// Summary implements statusapi.Reporter.
func (r *Reporter) Summary(scope statusapi.Scope, query statusapi.SummaryQuery) (*statusapi.Summary, error) {
	configured, overridden := r.configured(), make(map[string]bool) // by site
	r.mu.Lock()
	for _, h := range r.handlers() {
		for _, site := range h.Hosts {
			r.app.Counters.Site(site) // so that sites without requests are included
			overridden[site] = overridden[site] || h.overridden
		}
	}
	r.mu.Unlock()
	query.Span = cmp.Or(query.Span, statusapi.SpanHour)
	s := r.app.Counters.Summary(scope, query.Span)
	s.Sites = slices.DeleteFunc(s.Sites, func(site statusapi.Site) bool {
		return configured[site.Name].Mode == "" && site.Crawlers.Total.Requests+site.People.Total == 0
	})
	s.Modes = make(map[string]int)
	for i := range s.Sites {
		site := &s.Sites[i]
		site.Mode, site.Overridden = cmp.Or(configured[site.Name].Mode, "off"), overridden[site.Name]
		s.Modes[site.Mode]++
	}
	s.Origins.States = make(map[string]int)
	outcomes, kinds, now := make(map[string]string), make(map[string]string), time.Now() // by siteName
	for p := range r.allInForce(scope) {
		outcome := p.Rules.Outcome().String()
		s.Origins.Origins++
		s.Origins.Rules += p.Rules.RuleCount()
		s.Origins.States[outcome]++
		if query.Rows == 0 {
			continue
		}
		problem, sites := r.problem(&p, now), p.Hosts
		if !p.shared {
			sites = []string{p.SiteOf(p.Origin.Host)}
		}
		for _, site := range sites {
			outcomes[siteName(site)], kinds[siteName(site)] = outcome, cmp.Or(kinds[siteName(site)], problem.Kind)
		}
	}
	health, err := r.Health(scope)
	if err != nil {
		return nil, err
	}
	s.Health = *health
	s.Changes = r.app.Counters.changes(scope, s.Series.Start)
	if query.Rows > 0 {
		for _, p := range slices.Backward(health.Problems) {
			kinds[p.Subject] = p.Kind // of most problems, it is a site
		}
		s.Rows, s.Sites = rows(s.Sites, outcomes, kinds, query), []statusapi.Site{}
	}
	return s, nil
}

// rows returns the short forms of sites, the worst first.
func rows(sites []statusapi.Site, outcomes, kinds map[string]string, query statusapi.SummaryQuery) []statusapi.SiteRow {
	list := []statusapi.SiteRow{}
	for i := range sites {
		site, kind := &sites[i], kinds[siteName(sites[i].Name)]
		if n := site.Crawlers.In(query.Span); strings.Contains(site.Name, strings.ToLower(query.Name)) {
			list = append(list, statusapi.SiteRow{
				Name: site.Name, Mode: site.Mode, State: cmp.Or(kind, outcomes[siteName(site.Name)], judge.Pending.String()), OK: kind == "",
				Minute:   site.Minute,
				Requests: n.Requests, Refused: n.Denied + n.Throttled, WouldRefuse: n.WouldDeny + n.WouldThrottle,
				SearchRefused: site.Search.In(query.Span).VerifiedRefused,
			})
		}
	}
	slices.SortStableFunc(list, func(a, b statusapi.SiteRow) int {
		return cmp.Or(before(!a.OK, !b.OK), cmp.Compare(b.SearchRefused, a.SearchRefused),
			cmp.Compare(b.Refused+b.WouldRefuse, a.Refused+a.WouldRefuse), cmp.Compare(b.Requests, a.Requests))
	})
	return list[:min(len(list), query.Rows)]
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
