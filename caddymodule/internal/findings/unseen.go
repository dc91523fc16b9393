package findings

import (
	"fmt"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// Unseen calls report with the rules that say noindex about paths that the
// robots.txt disallows to every crawler that would read the header, and with
// the lines that disallow them. It tests example URLs, so it finds the plain
// cases and reports nothing that is not true.
func Unseen(rules []headers.Rule, f *robots.File, registry *crawler.Registry, report func(t *headers.Rule, by *robots.Rule)) {
	for i := range rules {
		t := &rules[i]
		if t.Not || !t.Directives.Has("noindex") && !t.Directives.Has("none") {
			continue
		}
		if rule := hiddenBy(exampleTargets(t), readers(t, f, registry)); rule != nil {
			report(t, rule)
		}
	}
}

// UnseenCheck has the linter report what Unseen finds.
func UnseenCheck(rules []headers.Rule, registry *crawler.Registry) lint.Option {
	return lint.WithCheck(func(f *robots.File, report func(code string, line int, message string)) {
		Unseen(rules, f, registry, func(t *headers.Rule, by *robots.Rule) {
			report("unseen-noindex", by.Line, fmt.Sprintf("%q keeps crawlers from seeing \"x_robots_tag %s\"", by, t))
		})
	})
}

// readers returns the groups that bind the crawlers that a rule speaks to; a
// nil one where there is a crawler that no group binds.
func readers(t *headers.Rule, f *robots.File, registry *crawler.Registry) []*robots.Group {
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
func hiddenBy(targets []string, groups []*robots.Group) (by *robots.Rule) {
	if len(targets) == 0 {
		return nil
	}
	for _, g := range groups {
		for _, target := range targets {
			v := g.Match(target)
			if v.Allowed {
				return nil
			}
			if by == nil {
				by = v.Rule
			}
		}
	}
	return by
}

// exampleTargets are addresses that a rule matches; none where that can't be
// told before a response is there.
func exampleTargets(t *headers.Rule) []string {
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
