package caddymodule

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
)

// XRobotsTag is a rule for an X-Robots-Tag header.
type XRobotsTag struct {
	headers.Rule

	// The line of the Caddyfile that the rule stands in, for messages.
	Line int `json:"line,omitempty"`
}

// compileTags makes the rules ready.
func compileTags(tags []XRobotsTag) (*headers.Rules, error) {
	rules := make([]headers.Rule, len(tags))
	for i, t := range tags {
		rules[i] = t.Rule
	}
	return headers.Compile(rules)
}

// unseenKind is the finding of a header that no crawler will ever see.
var unseenKind = robots.Kind{
	Code: "unseen-noindex", Severity: robots.Warning,
	Title: "a noindex header on a path that is disallowed",
	Why:   "a crawler that may not fetch a page never sees its header, and may list the address all the same",
}

// unseen finds the rules that say noindex about what the robots.txt disallows
// to every crawler that would read them. It goes by example addresses, so it
// finds the plain cases and accuses nobody wrongly.
func unseen(tags []XRobotsTag, f *robots.File, registry *crawler.Registry) (found []robots.Finding) {
	for i := range tags {
		t := &tags[i]
		if t.Not || !t.Directives.Has("noindex") && !t.Directives.Has("none") {
			continue
		}
		rule := hiddenBy(exampleTargets(t), readers(t, f, registry))
		if rule == nil {
			continue
		}
		where := "x_robots_tag " + t.Rule.String()
		if t.Line > 0 {
			where = fmt.Sprintf("line %d of the Caddyfile, %s", t.Line, where)
		}
		found = append(found, robots.Finding{
			Code: unseenKind.Code, Severity: unseenKind.Severity, Line: rule.Line, Column: 1,
			Message: fmt.Sprintf("%s hides from crawlers what %s says", rule, where), Why: unseenKind.Why,
		})
	}
	return found
}

// readers returns the groups that bind the crawlers that a rule speaks to; a
// nil one where there is a crawler that no group binds.
func readers(t *XRobotsTag, f *robots.File, registry *crawler.Registry) []*robots.Group {
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
func exampleTargets(t *XRobotsTag) []string {
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

// logUnseen tells of them when a robots.txt is loaded.
func logUnseen(log *zap.Logger, tags []XRobotsTag, f *robots.File, registry *crawler.Registry) {
	for i, finding := range unseen(tags, f, registry) {
		if i >= maxFindingsLogged {
			return
		}
		log.Warn("robots.txt hides an X-Robots-Tag header from the crawlers that it is for",
			zap.Int("line", finding.Line), zap.String("problem", clip(finding.Message)))
	}
}

// handlersOf returns the robots handlers of a configuration file: a Caddyfile,
// or JSON where its name ends so.
func handlersOf(name string) ([]*Handler, error) {
	config, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(name, ".json") {
		if config, _, err = caddyconfig.GetAdapter("caddyfile").Adapt(config, map[string]any{"filename": name}); err != nil {
			return nil, err
		}
	}
	var tree any
	if err := json.Unmarshal(config, &tree); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var found []*Handler
	err = walkHandlers(tree, func(object map[string]any) error {
		text, err := json.Marshal(object)
		if err != nil {
			return err
		}
		h := new(Handler)
		if err := json.Unmarshal(text, h); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		found = append(found, h)
		return nil
	})
	return found, err
}

// walkHandlers calls f for each robots handler in a configuration.
func walkHandlers(tree any, f func(map[string]any) error) error {
	switch node := tree.(type) {
	case map[string]any:
		if node["handler"] == "robots" {
			return f(node)
		}
		for _, child := range node {
			if err := walkHandlers(child, f); err != nil {
				return err
			}
		}
	case []any:
		for _, child := range node {
			if err := walkHandlers(child, f); err != nil {
				return err
			}
		}
	}
	return nil
}
