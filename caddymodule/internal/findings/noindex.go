package findings

import (
	"fmt"
	"strings"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
	"github.com/caddy-robots/caddy-robots/robots/lint"
)

// UnseenNoindex finds noindex headers that no crawler sees, because robots.txt
// disallows their paths to every crawler to which the header applies. For each, it
// calls report with the header rule and with the robots.txt rule that disallows the
// paths. It tests a few example URLs for each header rule, so it may miss some, but
// does not report others.
func UnseenNoindex(rules []headers.Setting, f *robots.File, registry *crawler.Registry, report func(t *headers.Setting, by *robots.Rule)) {
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

// WithUnseenNoindex returns the option that makes the linter report what
// UnseenNoindex finds.
func WithUnseenNoindex(rules []headers.Setting, registry *crawler.Registry) lint.Option {
	return lint.WithCheck(func(f *robots.File, report func(code string, line int, message string)) {
		UnseenNoindex(rules, f, registry, func(t *headers.Setting, by *robots.Rule) {
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
