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
func (r *reporter) Lines(scope status.Scope, query status.LinesQuery) (*status.Lines, error) {
	policies := r.policies(scope)
	type counted struct {
		status.Line
		count  counters.LineCount
		policy *policyOf // nil if the line is in no policy in force
	}
	var list []counted
	for _, n := range r.app.counters.Lines(scope) {
		rule := status.Line{
			Origin: n.Origin.String(), Site: n.Site, Layer: n.Layer.String(), Number: n.Number, Group: n.Group, Rule: n.Text,
			Reason: n.Reason.String(), LineCounts: n.LineCounts,
		}
		if rule.Rule == "" && n.Layer != enforce.HiddenLayer {
			rule.Rule = recordNames[n.Reason]
		}
		i := slices.IndexFunc(policies, func(p policyOf) bool { return p.handler.sourceID == n.Source && p.has(n.Origin) })
		var policy *policyOf
		if i >= 0 {
			policy = &policies[i]
			rule.OriginID = policy.id
			rule.File = policy.Rules.FileOf(n.Layer)
		}
		if (query.OriginID == "" || query.OriginID == rule.OriginID) && (!query.Refused || rule.Refused() > 0) {
			list = append(list, counted{rule, n, policy})
		}
	}
	slices.SortFunc(list, func(a, b counted) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(b.Refused(), a.Refused()), strings.Compare(a.Origin, b.Origin),
			strings.Compare(a.Layer, b.Layer), cmp.Compare(a.Number, b.Number), strings.Compare(a.Line.Rule, b.Line.Rule))
	})
	page, from, to := query.Of(len(list))
	rules := []status.Line{}
	for _, c := range list[from:to] {
		c.Removed = c.policy != nil && !c.policy.Rules.DeniesAll() && c.Refused() > 0 && !c.policy.hasLine(&c.count)
		rules = append(rules, c.Line)
	}
	addTokens(rules, policies)
	return &status.Lines{Page: page, Lines: rules}, nil
}

// addTokens adds the product tokens of their groups to rules.
func addTokens(list []status.Line, policies []policyOf) {
	groups := make(map[string]map[string][]string) // tokens by policy and group
	for i := range list {
		rule := &list[i]
		if rule.Group == "" {
			rule.Tokens = []string{}
			continue
		}
		if groups[rule.OriginID] == nil {
			groups[rule.OriginID] = tokensByGroup(rule.OriginID, policies)
		}
		if rule.Tokens = groups[rule.OriginID][rule.Group]; rule.Tokens == nil {
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
