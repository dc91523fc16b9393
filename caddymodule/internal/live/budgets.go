package live

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// budget is a budget and its origin.
type budget struct {
	enforce.Budget
	origin enforce.Origin
}

// Budgets implements statusapi.Reporter.
func (r *Reporter) Budgets(scope statusapi.Scope, query statusapi.BudgetsQuery) (*statusapi.Budgets, error) {
	if query.Crawler == "" {
		return nil, badRequest("crawler is missing: add one, such as crawler=bingbot")
	}
	now := r.app.Now()
	answer := &statusapi.Budgets{Crawler: query.Crawler}
	var list []statusapi.Budget
	for _, p := range r.inForce(scope) {
		agent := p.engine().Agent(query.Crawler)
		if agent.Crawler != nil {
			answer.Crawler, answer.Known = agent.Crawler.Name, true
		}
		answer.Class = agent.Class.String()
		for _, b := range p.budgets(scope, &agent) {
			list = append(list, p.budgetStatus(b, now))
		}
	}
	answer.Page, answer.Budgets = statusapi.Part(query.Pages, list)
	return answer, nil
}

// budgets returns the budgets of a crawler at the origins in a scope at which p is
// in force.
func (p *inForce) budgets(scope statusapi.Scope, a *crawler.Agent) (list []budget) {
	origins := []enforce.Origin{p.Origin}
	if p.shared {
		origins = p.Site.Origins()
		for _, origin := range p.engine().PacedOrigins() {
			if p.Site.Serves(origin.Host) && !slices.Contains(origins, origin) {
				origins = append(origins, origin)
			}
		}
	}
	for _, origin := range origins {
		if !scope.Host(p.SiteOf(origin.Host), origin.Host) {
			continue
		}
		_, invented := p.Site.Invented(origin.Host)
		for _, b := range p.engine().Budgets(origin, a, invented) {
			list = append(list, budget{b, origin})
		}
	}
	return list
}

// budgetStatus returns the state of a budget.
func (p *inForce) budgetStatus(b budget, now time.Time) statusapi.Budget {
	limits, line := p.limits(b)
	layer, line := b.Rules.Origin(line)
	_, isFleet := p.Limiter.(*shared.Fleet)
	s := statusapi.Budget{
		Origin: b.origin.String(), OriginID: p.id, Site: p.SiteOf(b.origin.Host), Mode: p.mode(), Group: b.Group.Token(), Limits: limits,
		Layer: layer.String(), Line: line, Counted: "crawler", Owner: "crawler", Next: now.UTC(), Free: true, Shared: isFleet,
	}
	if b.Pool {
		s.Owner = "unverified"
	}
	if b.PerAddr {
		s.Counted = "client"
		if first := b.Budget.Limits.First(now); !first.OK {
			s.Free, s.Next = false, now.Add(first.RetryAfter).UTC()
		}
	} else {
		result, used := p.Limiter.Peek(now, b.Key, b.Budget.Limits)
		s.Used, s.Free, s.Next = used, result.OK, now.Add(result.RetryAfter).UTC()
	}
	return s
}

// limits describes the limits of a budget, and returns the line of the first one.
func (p *inForce) limits(b budget) (text string, line int) {
	var list []string
	if delay, ok := b.Group.CrawlDelay(); ok {
		line = delay.Line
		if delay.Delay > 0 {
			list = append(list, "one request in "+min(delay.Delay, p.maxDelay()).String())
		}
	}
	for _, rate := range b.Group.RequestRates() {
		line = cmp.Or(line, rate.Line)
		if text := rate.String(); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for _, visit := range b.Group.VisitTimes() {
		line = cmp.Or(line, visit.Line)
		list = append(list, "only "+visit.Window.String()+" UTC")
	}
	text = strings.Join(list, ", ")
	if b.Pool {
		text += "; all unverified clients together may send ten times as many"
	}
	return text, line
}

// ResetBudgets implements statusapi.Reporter.
func (r *Reporter) ResetBudgets(ctx context.Context, scope statusapi.Scope, query statusapi.ResetQuery) (*statusapi.Reset, error) {
	if query.Crawler == "" {
		return nil, badRequest("crawler is missing: add one, such as crawler=bingbot")
	}
	list, err := r.inForceAt(scope, query.OriginID, "")
	if err != nil {
		return nil, err
	}
	now, perClient := r.app.Now(), false
	var done []throttle.Key
	for _, p := range list {
		agent := p.engine().Agent(query.Crawler)
		for _, b := range p.budgets(scope, &agent) {
			if perClient = perClient || b.PerAddr; b.PerAddr || slices.Contains(done, b.Key) {
				continue
			}
			if err := p.Limiter.Forget(ctx, now, b.Key); err != nil {
				return nil, statusapi.Errorf(http.StatusBadGateway, "the budget at %s was reset on this server, but not in Redis: %v", b.origin, err)
			}
			done = append(done, b.Key)
		}
	}
	if len(done) == 0 && perClient {
		return nil, statusapi.Errorf(http.StatusConflict, "%s has one budget for each client address; such budgets can't be reset", query.Crawler)
	}
	return &statusapi.Reset{Budgets: len(done)}, nil
}
