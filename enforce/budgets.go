package enforce

import (
	"time"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
	"github.com/caddy-robots/caddy-robots/robots"
)

// Budget is one budget of a crawler at an origin.
type Budget struct {
	Key     throttle.Key
	Terms   *throttle.Terms
	Group   *robots.Group
	Policy  *Policy
	Pool    bool // that of all claims to be the crawler that are not verified
	PerAddr bool // each address has one of its own: Key is none of them
}

// Budgets returns the budgets that a crawler has at an origin: its own, and
// where its claim can be verified, that of the claims that are not. site is the
// pattern that the host fits where no site names it, as Request.Site; invented
// as Request.Invented. Nothing limits a crawler without budgets.
func (e *Engine) Budgets(origin Origin, a *crawler.Agent, invented bool, site string, now time.Time) []Budget {
	policy := e.policies.Of(origin)
	if policy == nil {
		return nil
	}
	plan := policy.plan(a)
	if plan.terms == nil {
		return nil
	}
	r := &Request{Origin: origin, Invented: invented, Site: site, Time: now}
	own := Budget{
		Key: e.budget(r, a, 0), Terms: plan.terms, Group: plan.group, Policy: policy,
		PerAddr: a.RunByAnyone() || e.rules.PerIP,
	}
	list := []Budget{own}
	if v := e.rules.Verification; v != nil && a.Crawler != nil && v.Checker.Verifiable(a.Crawler) && policy.pools[plan.terms] != nil {
		pool := own
		pool.Key, pool.Terms, pool.Pool = e.budget(r, a, seedPool), policy.pools[plan.terms], true
		list = append(list, pool)
	}
	return list
}
