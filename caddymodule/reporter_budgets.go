package caddymodule

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// Budgets implements status.Reporter.
func (r *reporter) Budgets(scope status.Scope, query status.BudgetsQuery) (*status.Budgets, error) {
	if query.Crawler == "" {
		return nil, badRequest("crawler is missing: add one, such as crawler=bingbot")
	}
	now := clock.Now()
	answer := &status.Budgets{Crawler: query.Crawler, Budgets: []status.Budget{}}
	list := []status.Budget{}
	for _, p := range r.policies(scope) {
		agent := p.handler.running.Load().Agent(query.Crawler)
		if agent.Crawler != nil {
			answer.Crawler, answer.Known = agent.Crawler.Name, true
		}
		answer.Class = agent.Class.String()
		for _, b := range p.budgets(scope, &agent, now) {
			list = append(list, p.budgetStatus(b, now))
		}
	}
	page, from, to := query.Of(len(list))
	answer.Page, answer.Budgets = page, list[from:to]
	return answer, nil
}

// budgets returns the budgets of a crawler at the origins of a policy that are in
// a scope.
func (p *policyOf) budgets(scope status.Scope, a *crawler.Agent, now time.Time) (list []budgetAt) {
	engine := p.handler.running.Load().Engine
	for _, origin := range p.origins() {
		if !scope.Host(p.handler.SiteOf(origin.Host), origin.Host) {
			continue
		}
		site, invented := p.handler.Invented(origin.Host)
		for _, b := range engine.Budgets(origin, a, invented, site, now) {
			list = append(list, budgetAt{b, origin})
		}
	}
	return list
}

// budgetAt is a budget and its origin.
type budgetAt struct {
	enforce.Budget
	origin enforce.Origin
}

// origins returns the known origins of a policy. For a policy of all origins,
// these are the handler's sites whose names are host names.
func (p *policyOf) origins() []enforce.Origin {
	if !p.shared {
		return []enforce.Origin{p.Origin}
	}
	return p.handler.Site.Origins()
}

// budgetStatus returns the state of a budget.
func (p *policyOf) budgetStatus(b budgetAt, now time.Time) status.Budget {
	budget := status.Budget{
		Origin: b.origin.String(), OriginID: p.id, Site: p.handler.SiteOf(b.origin.Host), Mode: p.handler.mode(),
		Group: b.Group.Token(), Limits: limits(b, &p.handler.Settings), Counted: "crawler", Owner: "crawler", Next: now.UTC(), Free: true,
	}
	if b.Pool {
		budget.Owner = "unverified"
	}
	layer, line := b.Rules.Origin(paceLine(b))
	budget.Layer, budget.Line = layer.String(), line
	_, budget.Shared = p.handler.limiter.(*shared.Fleet)
	if b.PerAddr {
		budget.Counted = "client"
		if first := b.Limits.First(now); !first.OK {
			budget.Free, budget.Next = false, now.Add(first.RetryAfter).UTC()
		}
		return budget
	}
	if inspector, ok := p.handler.limiter.(throttle.Inspector); ok {
		result, used := inspector.Peek(now, b.Key, b.Limits)
		budget.Used, budget.Free = used, result.OK
		budget.Next = now.Add(result.RetryAfter).UTC()
	}
	return budget
}

// paceLine returns the line of the first rate limit in a budget's group.
func paceLine(b budgetAt) int {
	if delay, ok := b.Group.CrawlDelay(); ok {
		return delay.Line
	}
	for _, rate := range b.Group.RequestRates() {
		return rate.Line
	}
	for _, visit := range b.Group.VisitTimes() {
		return visit.Line
	}
	return 0
}

// limits describes the rate limits of a budget.
func limits(b budgetAt, s *config.Settings) string {
	var list []string
	most := throttle.DefaultMaxDelay
	if s.CrawlDelay != nil && s.CrawlDelay.Max != 0 {
		most = time.Duration(s.CrawlDelay.Max)
	}
	if delay, ok := b.Group.CrawlDelay(); ok && delay.Delay > 0 {
		list = append(list, "one request in "+min(delay.Delay, most).String())
	}
	for _, rate := range b.Group.RequestRates() {
		if text := rate.String(); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for _, visit := range b.Group.VisitTimes() {
		list = append(list, "only "+visit.Window.String()+" UTC")
	}
	if b.Pool {
		return strings.Join(list, ", ") + "; all unverified clients together may send ten times as many"
	}
	return strings.Join(list, ", ")
}

// ResetBudgets implements status.Reporter.
func (r *reporter) ResetBudgets(ctx context.Context, scope status.Scope, query status.ResetQuery) (*status.Reset, error) {
	if query.Crawler == "" {
		return nil, badRequest("crawler is missing: add one, such as crawler=bingbot")
	}
	now := clock.Now()
	reset := new(status.Reset)
	found, perClient := false, false
	var done []throttle.Key
	for _, p := range r.policies(scope) {
		if query.OriginID != "" && p.id != query.OriginID {
			continue
		}
		found = true
		agent := p.handler.running.Load().Agent(query.Crawler)
		for _, b := range p.budgets(scope, &agent, now) {
			inspector, ok := p.handler.limiter.(throttle.Inspector)
			if perClient = perClient || b.PerAddr; b.PerAddr || !ok || slices.Contains(done, b.Key) {
				continue
			}
			if err := inspector.Forget(ctx, now, b.Key); err != nil {
				return nil, status.Errorf(http.StatusBadGateway, "the budget at %s was reset on this server, but not in Redis: %v", b.origin, err)
			}
			done = append(done, b.Key)
			reset.Budgets++
		}
	}
	switch {
	case query.OriginID != "" && !found:
		return nil, status.Errorf(http.StatusNotFound, "there is no policy %q", query.OriginID)
	case reset.Budgets == 0 && perClient:
		return nil, status.Errorf(http.StatusConflict, "%s has one budget for each client address; such budgets can't be reset", query.Crawler)
	}
	return reset, nil
}
