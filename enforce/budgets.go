package enforce

import (
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Budget identifies a budget of a crawler at one origin. How much of it is
// used is in the limiter, under Key: see throttle.Limiter.
type Budget struct {
	Key    throttle.Key
	Limits *throttle.Limits // the rate limits
	Group  *robots.Group    // the group that sets them
	Rules  *Rules
	Pool   bool // the budget that all clients with an unverified claim to be this crawler share
	// PerAddr reports that each client address has its own budget. Then Key is
	// not the key of a budget: Key.Client returns the key for an address.
	PerAddr bool
}

// Budgets returns the budgets of a crawler at an origin: its own and, if claims
// to be this crawler can be verified, the one that unverified claims share. For
// site and invented, see Request.Site and Request.Invented. It returns nil if
// nothing limits the crawler.
func (e *Engine) Budgets(origin Origin, a *crawler.Agent, invented bool, site string, now time.Time) []Budget {
	rules := e.origins.of(origin)
	if rules == nil {
		return nil
	}
	plan := rules.plan(a)
	if plan.limits == nil {
		return nil
	}
	r := &Request{Origin: origin, Invented: invented, Site: site, Time: now}
	own := Budget{
		Key: e.budget(r, a, 0), Limits: plan.limits, Group: plan.group, Rules: rules,
		PerAddr: a.RunByAnyone() || e.settings.PerIP,
	}
	list := []Budget{own}
	if v := e.settings.Verification; v != nil && a.Crawler != nil && v.Checker.Verifiable(a.Crawler) && rules.pools[plan.limits] != nil {
		pool := own
		pool.Key, pool.Limits, pool.Pool = e.budget(r, a, seedPool), rules.pools[plan.limits], true
		list = append(list, pool)
	}
	return list
}
