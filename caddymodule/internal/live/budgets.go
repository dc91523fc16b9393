package live

import (
	"context"
	"net/http"
	"slices"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// ResetBudgets implements statusapi.Reporter.
func (r *Reporter) ResetBudgets(ctx context.Context, scope statusapi.Scope, query statusapi.ResetQuery) (*statusapi.Reset, error) {
	if query.Crawler == "" {
		return nil, badRequest("crawler is missing: add one, such as crawler=bingbot")
	}
	list, err := r.inForceAt(scope, query.ID)
	if err != nil {
		return nil, err
	}
	now, perAddr := r.app.Now(), false
	done := make(map[throttle.Key]bool)
	for _, p := range list {
		agent := p.engine().Agent(query.Crawler, p.Rules)
		for _, origin := range r.pacedAt(p, scope) {
			_, invented := p.Site.Invented(origin.Host)
			keys, eachAddr := p.engine().Budgets(origin, &agent, invented, p.Handler.Budgets...)
			perAddr = perAddr || eachAddr
			for _, key := range keys {
				if done[key] {
					continue
				}
				done[key] = true
				if err := p.Limiter.Forget(ctx, now, key); err != nil {
					return nil, statusapi.Errorf(http.StatusBadGateway, "the budget at %s was reset on this server, but not in Redis: %v", origin, err)
				}
			}
		}
	}
	if len(done) == 0 && perAddr {
		return nil, statusapi.Errorf(http.StatusConflict, "%s has one budget for each client address; such budgets can't be reset", query.Crawler)
	}
	return &statusapi.Reset{Budgets: len(done)}, nil
}

// pacedAt returns the origins in a scope at which p is in force and has budgets.
func (r *Reporter) pacedAt(p *inForce, scope statusapi.Scope) []judge.Origin {
	origins := []judge.Origin{p.Origin}
	if p.shared {
		hosts := slices.DeleteFunc(p.ownedIn(scope), func(host string) bool { return slices.Contains(p.Hosts, host) })
		for _, host := range r.app.Counters.Hosts(scope) {
			if r.serves(p.Handler, host) {
				hosts = append(hosts, host)
			}
		}
		origins = p.Site.Origins(hosts...)
	}
	return slices.DeleteFunc(origins, func(o judge.Origin) bool { return !scope.Host(p.SiteOf(o.Host), o.Host) })
}

// serves reports whether requests for a host reach a handler: no other handler of the server
// has a site with a name that fits better.
func (r *Reporter) serves(h *Handler, host string) bool {
	return h.Owns(host) || h.Serves(host) && !slices.ContainsFunc(r.handlers(), func(other *Handler) bool {
		return other.Server == h.Server && other.Owns(host)
	})
}
