package caddymodule

import (
	"cmp"
	"slices"
	"strings"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/counters"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
	"github.com/caddy-robots/caddy-robots/enforce"
)

// Rules implements status.Reporter.
func (r *reporter) Rules(scope status.Scope, query status.RulesQuery) (*status.Rules, error) {
	policies := r.policies(scope)
	type counted struct {
		status.Rule
		count  counters.RuleCount
		policy *policyOf // nil if the line is in no policy in force
	}
	var list []counted
	for _, n := range r.app.counters.Rules(scope) {
		rule := status.Rule{
			Origin: n.Origin.String(), Site: n.Site, Layer: n.Layer.String(), Line: n.Line, Group: n.Group, Rule: n.Text,
			Reason: n.Reason.String(), RuleCounts: n.RuleCounts,
		}
		if rule.Rule == "" && n.Layer != enforce.HiddenLayer {
			rule.Rule = recordNames[n.Reason]
		}
		i := slices.IndexFunc(policies, func(p policyOf) bool { return p.handler.sourceID == n.Source && p.has(n.Origin) })
		var policy *policyOf
		if i >= 0 {
			policy = &policies[i]
			rule.Policy = policy.id
			rule.File = policy.Rules.FileOf(n.Layer)
		}
		if (query.Policy == "" || query.Policy == rule.Policy) && (!query.Refused || rule.Refused() > 0) {
			list = append(list, counted{rule, n, policy})
		}
	}
	slices.SortFunc(list, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Refused(), a.Refused()), strings.Compare(a.Origin, b.Origin),
			strings.Compare(a.Layer, b.Layer), cmp.Compare(a.Line, b.Line), strings.Compare(a.Rule.Rule, b.Rule.Rule))
	})
	page, from, to := query.Of(len(list))
	rules := []status.Rule{}
	for _, c := range list[from:to] {
		c.Removed = c.policy != nil && !c.policy.Rules.DeniesAll() && c.Refused() > 0 && !c.policy.hasLine(&c.count)
		rules = append(rules, c.Rule)
	}
	addTokens(rules, policies)
	return &status.Rules{Page: page, Rules: rules}, nil
}

// addTokens adds the product tokens of their groups to rules.
func addTokens(list []status.Rule, policies []policyOf) {
	groups := make(map[string]map[string][]string) // tokens by policy and group
	for i := range list {
		rule := &list[i]
		if rule.Group == "" {
			rule.Tokens = []string{}
			continue
		}
		if groups[rule.Policy] == nil {
			groups[rule.Policy] = tokensByGroup(rule.Policy, policies)
		}
		if rule.Tokens = groups[rule.Policy][rule.Group]; rule.Tokens == nil {
			rule.Tokens = []string{rule.Group}
		}
	}
}

// tokensByGroup returns the product tokens of each group of a policy, by the
// group's first token.
func tokensByGroup(id string, policies []policyOf) map[string][]string {
	tokens := make(map[string][]string)
	if i := slices.IndexFunc(policies, func(p policyOf) bool { return p.id == id }); i >= 0 {
		for _, g := range policies[i].Rules.File().Groups() {
			tokens[g.Token()] = first(g.Tokens())
		}
	}
	return tokens
}

// recordNames has the names of the lines that set a rate limit.
var recordNames = map[enforce.Reason]string{
	enforce.CrawlDelay: "Crawl-delay", enforce.RequestRate: "Request-rate", enforce.VisitTime: "Visit-time",
}
