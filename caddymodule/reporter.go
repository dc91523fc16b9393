package caddymodule

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/enforce"
)

// reporter implements status.Reporter: it reports the state of the running
// configuration to the admin API, the dashboard and the status command. Its
// methods are safe for concurrent use.
type reporter struct {
	app      *App
	once     sync.Once // fills in handlers
	handlers []*siteHandler
	findings findingsCache
}

// siteHandler is a handler and its sites.
type siteHandler struct {
	*Handler
	*routes.Site
}

// reporter returns the reporter of the app. It may only be used after Start.
func (a *App) reporter() status.Reporter { return &a.report }

// all returns the handlers of the configuration, sorted by site.
func (r *reporter) all() []*siteHandler {
	r.once.Do(func() {
		r.app.mu.Lock()
		handlers := slices.Clone(r.app.handlers)
		r.app.mu.Unlock()
		for _, h := range handlers {
			r.handlers = append(r.handlers, &siteHandler{h, r.app.siteOf(h)})
		}
		slices.SortStableFunc(r.handlers, func(a, b *siteHandler) int { return slices.Compare(a.Hosts, b.Hosts) })
	})
	return r.handlers
}

// in returns the handlers that serve a site in a scope.
func (r *reporter) in(scope status.Scope) []*siteHandler {
	var list []*siteHandler
	for _, h := range r.all() {
		if scope.All() || slices.ContainsFunc(h.Hosts, scope.Site) || h.hasOriginIn(scope) {
			list = append(list, h)
		}
	}
	return list
}

// hasOriginIn reports whether the handler holds the policy of a host in a scope.
func (h *siteHandler) hasOriginIn(scope status.Scope) bool {
	policies := h.running.Load().Origins()
	if !policies.PerOrigin() {
		return false
	}
	for s := range policies.States() {
		if scope.Site(s.Origin.Host) {
			return true
		}
	}
	return false
}

// sitesIn returns the sites of the handler that are in a scope.
func (h *siteHandler) sitesIn(scope status.Scope) []string {
	sites := []string{}
	for _, s := range h.Hosts {
		if scope.Site(s) {
			sites = append(sites, s)
		}
	}
	return sites
}

// mode returns the current mode of the handler.
func (h *siteHandler) mode() string {
	if h.running.Load().monitor {
		return status.Monitor
	}
	return status.Enforce
}

// policyOf is the policy that is in force for an origin of a handler.
type policyOf struct {
	handler *siteHandler
	enforce.State
	id     string
	shared bool     // the handler has one policy for all origins
	sites  []string // the sites of the handler in the scope
}

// policies returns the policies in force for the origins in a scope, sorted by
// origin.
func (r *reporter) policies(scope status.Scope) []policyOf {
	var list []policyOf
	for _, h := range r.in(scope) {
		policies := h.running.Load().Origins()
		shared := !policies.PerOrigin()
		for s := range policies.States() {
			if shared || scope.Host(h.SiteOf(s.Origin.Host), s.Origin.Host) {
				list = append(list, policyOf{h, s, h.policyID(s.Origin, shared), shared, h.sitesIn(scope)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b policyOf) int {
		return cmp.Or(strings.Compare(a.Origin.Host, b.Origin.Host), strings.Compare(a.Origin.String(), b.Origin.String()), strings.Compare(a.id, b.id))
	})
	return list
}

// policyID returns the ID of a policy. It stays the same over a reload.
func (h *siteHandler) policyID(origin enforce.Origin, shared bool) string {
	var d xxhash.Digest
	d.ResetWithSeed(h.sourceID)
	name := origin.Scheme + "://" + origin.Host + ":" + strconv.Itoa(int(origin.Port))
	if shared {
		name = strings.Join(h.Hosts, " ")
	}
	_, _ = d.WriteString(name)
	return strconv.FormatUint(d.Sum64(), 36)
}

// Summary implements status.Reporter.
func (r *reporter) Summary(scope status.Scope, query status.SummaryQuery) (*status.Summary, error) {
	for _, h := range r.all() { // so that sites without requests are included
		for _, site := range h.Hosts {
			r.app.counters.Site(site)
		}
	}
	s := r.app.counters.Summary(scope, cmp.Or(query.Span, status.SpanHour))
	modes, forced := make(map[string]string), r.app.overridden()
	overridden := make(map[string]bool)
	for _, h := range r.all() {
		for _, site := range h.Hosts {
			if m := h.mode(); modes[site] != "" && modes[site] != m {
				modes[site] = "both"
			} else {
				modes[site] = m
			}
			overridden[site] = overridden[site] || forced[h.Handler]
		}
	}
	sites := s.Sites[:0]
	for _, site := range s.Sites {
		site.Mode, site.Overridden = cmp.Or(modes[site.Name], "off"), overridden[site.Name]
		if site.Mode != "off" || site.Crawlers.Total.Requests+site.People.Total > 0 {
			sites = append(sites, site)
		}
	}
	s.Sites = sites
	s.Origins.States = make(map[string]int)
	for _, p := range r.policies(scope) {
		s.Origins.Origins++
		s.Origins.Rules += p.Rules.RuleCount()
		s.Origins.States[p.Rules.Outcome().String()]++
	}
	health, err := r.Health(scope)
	if err != nil {
		return nil, err
	}
	s.Health = *health
	return s, nil
}

// crawlerOrders are the values of CrawlersQuery.Sort that are a count.
var crawlerOrders = map[string]func(*status.Counts) uint64{
	"requests":       func(c *status.Counts) uint64 { return c.Requests },
	"passed":         func(c *status.Counts) uint64 { return c.Passed },
	"denied":         func(c *status.Counts) uint64 { return c.Denied },
	"throttled":      func(c *status.Counts) uint64 { return c.Throttled },
	"would_deny":     func(c *status.Counts) uint64 { return c.WouldDeny },
	"would_throttle": func(c *status.Counts) uint64 { return c.WouldThrottle },
	"verified":       func(c *status.Counts) uint64 { return c.Verified },
	"unverified":     func(c *status.Counts) uint64 { return c.Unverified },
	"impostors":      func(c *status.Counts) uint64 { return c.Impostors },
}

// Crawlers implements status.Reporter.
func (r *reporter) Crawlers(scope status.Scope, query status.CrawlersQuery) (*status.Crawlers, error) {
	query.Span, query.Sort = cmp.Or(query.Span, status.SpanDay), cmp.Or(query.Sort, "requests")
	order := crawlerOrders[query.Sort]
	if order == nil && query.Sort != status.SortName && query.Sort != status.SortLast {
		return nil, badRequest("sort=%q: want name, last, requests, passed, denied, throttled, would_deny, would_throttle, verified, unverified or impostors", query.Sort)
	}
	list, steps := r.app.counters.Crawlers(scope, query)
	if name := strings.ToLower(query.Name); name != "" {
		list = slices.DeleteFunc(list, func(c status.Crawler) bool { return !strings.Contains(strings.ToLower(c.Name), name) })
	}
	window := func(c *status.Crawler) *status.Counts {
		switch query.Span {
		case status.SpanHour:
			return &c.Hour
		case status.SpanMonth:
			return &c.Month
		}
		return &c.Day
	}
	slices.SortFunc(list, func(a, b status.Crawler) int {
		byName := cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.Class, b.Class))
		switch query.Sort {
		case status.SortName:
			return byName
		case status.SortLast:
			return cmp.Or(b.Last.Compare(a.Last), byName)
		}
		return cmp.Or(cmp.Compare(order(window(&b)), order(window(&a))), cmp.Compare(b.Total.Requests, a.Total.Requests), byName)
	})
	page, from, to := query.Of(len(list))
	return &status.Crawlers{Page: page, Steps: steps, Crawlers: list[from:to]}, nil
}

// Recent implements status.Reporter.
func (r *reporter) Recent(scope status.Scope, query status.RecentQuery) (*status.Recent, error) {
	return r.app.counters.Refusals(scope, query), nil
}

// maxSuspects is larger than any number of suspects.
const maxSuspects = 1 << 16

// Suspects implements status.Reporter.
func (r *reporter) Suspects(scope status.Scope, pages status.Pages) (*status.Suspects, error) {
	list := []status.Suspect{}
	actions := make(map[string]string) // by site
	on := false
	for _, h := range r.in(scope) {
		if h.Handler.Suspects == nil {
			continue
		}
		on = true
		for _, site := range h.Hosts {
			actions[site] = cmp.Or(h.Handler.Suspects.Action, config.SuspectsObserve)
		}
	}
	for _, s := range r.app.Suspects(maxSuspects) {
		if !scope.Site(s.Site) {
			continue
		}
		entry := status.Suspect{
			Site: s.Site, Host: s.Site, Client: s.Network.String(), UserAgent: fmt.Sprintf("%s %d", s.Browser.Family, s.Browser.Version),
			Signals: []string{}, Action: cmp.Or(actions[s.Site], config.SuspectsObserve), Since: s.Since.UTC(), Until: s.Until.UTC(), Requests: uint64(s.Documents),
		}
		for _, c := range s.Signals {
			entry.Signals = append(entry.Signals, c.Signal.String())
		}
		list = append(list, entry)
	}
	page, from, to := pages.Of(len(list))
	return &status.Suspects{Page: page, On: on, Suspects: list[from:to]}, nil
}

// badRequest returns an error that is answered with status 400.
func badRequest(format string, args ...any) error {
	return status.Errorf(http.StatusBadRequest, format, args...)
}

// formatTime returns a time for messages, without the date if it is the date of
// now.
func formatTime(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04") + " UTC"
	}
	return t.Format("2 January 15:04") + " UTC"
}

// ago returns an elapsed time for messages, in one unit.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return quantity(max(1, int(d/time.Second)), "second")
	case d < 2*time.Hour:
		return quantity(int(d/time.Minute), "minute")
	case d < 48*time.Hour:
		return quantity(int(d/time.Hour), "hour")
	}
	return quantity(int(d/(24*time.Hour)), "day")
}

// quantity returns a number with a noun in the singular or plural.
func quantity(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return strconv.Itoa(n) + " " + name + "s"
}

// Interface guards
var _ status.Reporter = (*reporter)(nil)
