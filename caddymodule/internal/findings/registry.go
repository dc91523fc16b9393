package findings

import (
	"fmt"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// Crawlers returns the option that gives the linter the crawlers of a registry.
func Crawlers(registry *crawler.Registry) lint.Option {
	return lint.WithCrawlers(crawlers{registry})
}

// crawlers implements the linter's interface for crawlers with a registry.
type crawlers struct{ *crawler.Registry }

// Lookup returns the crawler with a product token.
func (c crawlers) Lookup(token string) (lint.Crawler, bool) {
	row := c.Registry.Lookup(token)
	if row == nil {
		return lint.Crawler{}, false
	}
	return facts(row), true
}

// People reports whether people's clients send a product token, and returns the tokens of
// the first crawler or fetcher of the operator of the app that has it.
func (c crawlers) People(token string) (fetcher []string, ok bool) {
	if !c.Registry.People(token) {
		return nil, false
	}
	if app := c.Registry.Lookup(token); app != nil {
		for row := range c.All() {
			if row.Operator == app.Operator && (row.Class == crawler.UserTriggered || row.Class == crawler.Registered) {
				return row.Robots, true
			}
		}
	}
	return nil, true
}

// SearchEngines returns the first crawler of each operator of a large search engine.
// A search engine counts as large if its operator publishes how to verify the
// crawler.
func (c crawlers) SearchEngines() []lint.Crawler {
	var engines []lint.Crawler
	seen := map[string]bool{}
	for row := range c.All() {
		if row.CountsAs(crawler.Search) && !row.ControlOnly && verifiable(row) && !seen[row.Operator] {
			seen[row.Operator] = true
			engines = append(engines, facts(row))
		}
	}
	return engines
}

// WellKnown returns the robots.txt tokens of the crawlers that can be verified.
func (c crawlers) WellKnown() (tokens []string) {
	seen := map[string]bool{}
	for row := range c.All() {
		if !verifiable(row) {
			continue
		}
		for _, token := range row.Robots {
			if !seen[token] {
				seen[token] = true
				tokens = append(tokens, token)
			}
		}
	}
	return tokens
}

// facts converts an entry of the registry for the linter.
func facts(row *crawler.Crawler) lint.Crawler {
	return lint.Crawler{
		Name: row.Name, Tokens: row.Robots, ControlOnly: row.ControlOnly,
		NoDelay: row.CrawlDelay == crawler.No, NoAllow: row.LacksAllow, NoWildcards: row.LacksWildcards,
	}
}

// verifiable reports whether the operator of a crawler publishes hosts or addresses
// with which the crawler can be verified.
func verifiable(row *crawler.Crawler) bool {
	return len(row.Verify.Hosts)+len(row.Verify.Ranges) > 0
}

// UnseenNoindex finds noindex headers that no crawler sees, because robots.txt
// disallows their paths to every crawler to which the header applies. For each, it
// calls report with the header rule and with the robots.txt rule that disallows the
// paths. It tests a few example URLs for each header rule, so it may miss some, but
// does not report others.
func UnseenNoindex(rules []headers.Setting, f *robots.File, registry *crawler.Registry, report func(t *headers.Setting, by robots.Rule)) {
	for i := range rules {
		t := &rules[i]
		if t.Not || !t.Directives.Has("noindex") && !t.Directives.Has("none") {
			continue
		}
		if rule := hiddenBy(exampleTargets(t), readers(t, f, registry)); rule.Line > 0 {
			report(t, rule)
		}
	}
}

// WithUnseenNoindex returns the option that makes the linter report what
// UnseenNoindex finds.
func WithUnseenNoindex(rules []headers.Setting, registry *crawler.Registry) lint.Option {
	return lint.WithCheck(func(f *robots.File, report func(code string, line int, message string)) {
		UnseenNoindex(rules, f, registry, func(t *headers.Setting, by robots.Rule) {
			report("unseen-noindex", by.Line, fmt.Sprintf("%q keeps crawlers from seeing \"x_robots_tag %s\"", by, t))
		})
	})
}

// readers returns the groups of robots.txt for the crawlers to which a header rule
// applies. One of them is nil if there is such a crawler without a group.
func readers(t *headers.Setting, f *robots.File, registry *crawler.Registry) []*robots.Group {
	if t.Crawler == "" {
		return append(f.Groups(), f.Star())
	}
	tokens := []string{t.Crawler}
	if row := registry.Lookup(t.Crawler); row != nil {
		tokens = row.Robots
	}
	return []*robots.Group{f.Group(tokens...)}
}

// hiddenBy returns the rule that disallows the first target, if all targets
// are disallowed to all groups.
func hiddenBy(targets []string, groups []*robots.Group) (by robots.Rule) {
	if len(targets) == 0 {
		return by
	}
	for _, g := range groups {
		for _, target := range targets {
			v := g.Match(target)
			if v.Allowed {
				return robots.Rule{}
			}
			if by.Line == 0 {
				by = v.Rule()
			}
		}
	}
	return by
}

// exampleTargets returns request targets that a header rule matches. It returns none
// if only the response shows whether the rule matches.
func exampleTargets(t *headers.Setting) []string {
	example := strings.NewReplacer("*", "x", "?", "x").Replace(strings.TrimSuffix(t.Pattern, "$"))
	switch {
	case t.Kind == headers.KindPath && strings.HasSuffix(t.Pattern, "$"):
		return []string{example}
	case t.Kind == headers.KindPath:
		return []string{example, example + "x", example + "/x?y=z"}
	case (t.Kind == headers.KindName || t.Kind == "") && t.Pattern != "*":
		return []string{"/" + example, "/a/" + example, "/b/c/" + example}
	}
	return nil
}
