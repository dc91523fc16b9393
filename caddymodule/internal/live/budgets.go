package live

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// budget is a budget and its origin.
type budget struct {
	enforce.Budget
	in       *inForce
	origin   judge.Origin
	invented bool           // clients can make up the host
	agent    *crawler.Agent // whose budgets are listed
}

// Budgets implements statusapi.Reporter.
func (r *Reporter) Budgets(scope statusapi.Scope, query statusapi.BudgetsQuery) (*statusapi.Budgets, error) {
	if query.Crawler == "" {
		return nil, badRequest("crawler is missing: add one, such as crawler=bingbot")
	}
	now := r.app.Now()
	answer := &statusapi.Budgets{Crawler: query.Crawler}
	var list []budget
	all, _ := r.inForceAt(scope, "")
	slices.SortFunc(all, compareOrigins)
	for _, p := range all {
		agent := p.engine().Agent(query.Crawler, p.Rules)
		if agent.Crawler != nil {
			answer.Crawler, answer.Known = agent.Crawler.Name, true
		}
		if answer.Class == "" || agent.Class != crawler.SelfDeclared {
			answer.Class = agent.Class.String()
		}
		list = append(list, r.budgets(p, scope, &agent)...)
	}
	type place struct {
		throttle.Key
		id originID
	}
	seen := make(map[place]bool)
	list = slices.DeleteFunc(list, func(b budget) bool {
		at := place{b.Key, b.in.id}
		if b.Line != nil { // origins share those of steps
			at.id = 0
		}
		repeated := seen[at] // or another handler of the site has the same file
		seen[at] = true
		return repeated || b.Impostors && !b.in.budgetStatus(b, now).Used // that of impostors is shown only while it is used
	})
	slices.SortStableFunc(list, func(a, b budget) int { return before(!a.invented, !b.invented) })
	page, list := statusapi.Part(query.Pages, list)
	answer.Page, answer.Budgets = page, []statusapi.Budget{}
	for _, b := range list {
		answer.Budgets = append(answer.Budgets, b.in.budgetStatus(b, now))
	}
	return answer, nil
}

// paces reports whether requests at an origin reach a handler: its server listens at the
// port, and no other handler of the server has a site with a name that fits better.
func (r *Reporter) paces(h *Handler, origin judge.Origin) bool {
	if h.Server != nil && !h.Server.ListensAt(origin.Port) {
		return false
	}
	host := origin.Host
	return h.Owns(host) || h.Serves(host) && !slices.ContainsFunc(r.handlers(), func(other *Handler) bool {
		return other.Server == h.Server && other.Owns(host)
	})
}

// budgets returns the budgets of a crawler at the origins in a scope at which p is
// in force.
func (r *Reporter) budgets(p *inForce, scope statusapi.Scope, a *crawler.Agent) (list []budget) {
	origins := []judge.Origin{p.Origin}
	if p.shared {
		origins = p.Site.Origins(slices.DeleteFunc(p.ownedIn(scope), func(host string) bool { return slices.Contains(p.Hosts, host) })...)
		for _, origin := range p.engine().PacedOrigins() {
			if r.paces(p.Handler, origin) && !slices.Contains(origins, origin) {
				origins = append(origins, origin)
			}
		}
	}
	for _, origin := range origins {
		if !scope.Host(p.SiteOf(origin.Host), origin.Host) {
			continue
		}
		_, invented := p.Site.Invented(origin.Host)
		for _, b := range p.engine().Budgets(origin, a, invented, p.Handler.Budgets...) {
			list = append(list, budget{b, p, origin, invented, a})
		}
	}
	return list
}

// budgetStatus returns the state of a budget.
func (p *inForce) budgetStatus(b budget, now time.Time) statusapi.Budget {
	s := statusapi.Budget{
		Mode: p.mode(), Counted: "crawler", Owner: "crawler", Next: now.UTC(), Free: true, Shared: p.Sharer != nil && b.AtOnce == 0, AtOnce: b.AtOnce,
	}
	if l := b.Line; l != nil {
		s.Site, s.Limits, s.Layer, s.Line, s.File = strings.Join(p.Hosts, ", "), l.Text, l.Layer.String(), l.Line, l.File
	} else {
		limits, line := p.limits(b)
		layer, line := b.Rules.Origin(line)
		s.Origin, s.OriginID, s.Site = b.origin.String(), p.id.String(), p.SiteOf(b.origin.Host)
		s.Group, s.Limits, s.Layer, s.Line = b.Rules.TokenOf(b.agent, b.Group), limits, layer.String(), line
	}
	switch {
	case b.Sharers != "":
		s.Owner = b.Sharers
	case b.Pool:
		s.Owner = "unverified"
	case b.Impostors:
		s.Owner = "impostors"
	}
	switch {
	case b.PerAddr:
		s.Counted = "client"
		if b.Line == nil {
			first := b.Budget.Limits.First(now)
			s.Free, s.Next = first.OK, now.Add(first.RetryAfter).UTC()
		}
	case b.AtOnce > 0:
		s.InFlight, s.Used, s.Free = b.InFlight, b.InFlight > 0, b.InFlight < b.AtOnce
	default:
		result, used := p.Limiter.Peek(now, throttle.Use{Key: b.Key, Limits: b.Budget.Limits})
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
	list, err := r.inForceAt(scope, query.OriginID)
	if err != nil {
		return nil, err
	}
	now, perClient := r.app.Now(), false
	n, done := 0, make(map[throttle.Key]bool)
	for _, p := range list {
		agent := p.engine().Agent(query.Crawler, p.Rules)
		for _, b := range r.budgets(p, scope, &agent) {
			if perClient = perClient || b.PerAddr; b.PerAddr || b.AtOnce > 0 || done[b.Key] {
				continue
			}
			done[b.Key] = true
			if !b.Impostors || p.budgetStatus(b, now).Used {
				n++
			}
			if err := p.Limiter.Forget(ctx, now, b.Key); err != nil {
				return nil, statusapi.Errorf(http.StatusBadGateway, "the budget at %s was reset on this server, but not in Redis: %v", b.origin, err)
			}
		}
	}
	if len(done) == 0 && perClient {
		return nil, statusapi.Errorf(http.StatusConflict, "%s has one budget for each client address; such budgets can't be reset", query.Crawler)
	}
	return &statusapi.Reset{Budgets: n}, nil
}
