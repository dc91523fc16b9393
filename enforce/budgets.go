package enforce

import (
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/enforce/throttle"
)

// BudgetsOf returns the keys of the budgets of a step that a crawler can use, without those
// that each client address has, and perAddr if there are such. verifiable says that claims
// to be it can be verified.
type BudgetsOf func(rules *judge.Rules, a *crawler.Agent, verifiable bool) (keys []throttle.Key, perAddr bool)

// Budgets returns the keys of the budgets of a crawler at an origin: its own and, if claims
// to be this crawler can be verified, the one that unverified claims share, and that of
// impostors if they are not denied. Those of steps, which more lists, follow. The keys of
// budgets that each client address has are not among them; perAddr reports that there are
// such. For invented, see Request.Invented.
func (e *Engine) Budgets(origin judge.Origin, a *crawler.Agent, invented bool, more ...BudgetsOf) (keys []throttle.Key, perAddr bool) {
	rules := e.origins.RulesOf(origin)
	if rules == nil {
		return nil, false
	}
	v := e.settings.Verification
	verifiable := v != nil && a.Crawler != nil && v.Checker.Verifiable(a.Crawler)
	limits := rules.Limits(a)
	perAddr = limits != nil && (rules.PerAddr(a) || a.RunByAnyone() || e.settings.PerIP)
	if limits != nil && !perAddr {
		r, s := &judge.Request{Origin: origin, Invented: invented}, &judge.Subject{Agent: *a}
		own := e.budget(r, s, 0)
		keys = append(keys, own)
		if verifiable && rules.PoolLimits(limits) != nil {
			keys = append(keys, e.budget(r, s, seedPool).In(own))
		}
		if verifiable && v.IgnoreImpostors {
			keys = append(keys, e.budget(r, s, seedImpostor))
		}
	}
	for _, of := range more {
		list, eachAddr := of(rules, a, verifiable)
		keys, perAddr = append(keys, list...), perAddr || eachAddr
	}
	return keys, perAddr
}
