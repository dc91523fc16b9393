package caddymodule

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// Sites implements cli.Module.
func (commands) Sites(path string) ([]cli.Site, error) {
	tree, err := configOf(path)
	if err != nil {
		return nil, err
	}
	var found []cli.Site
	sampled := isSampled(tree)
	err = walkSites(tree, routePlace{}, func(at routePlace, object map[string]any) error {
		h := new(Handler)
		if err := unmarshalTree(object, h); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		h.withDefaults(defaultsOf(tree))
		rules, err := h.rules()
		if err != nil {
			return err
		}
		file := registryFile{path: h.registryPath()}
		if rules.Registry, err = file.read(h.Crawlers); err != nil {
			return err
		}
		site := cli.Site{Hosts: at.hosts, Listen: at.listen, Matcher: cutText(joinMatchers(at.matchers)), Rules: rules, Sampled: sampled}
		if s := h.Suspects; s != nil {
			traps, err := s.traps()
			if err != nil {
				return err
			}
			site.Suspects = &audit.SuspectRules{Traps: traps, Bind: s.Action == suspectsBind, For: s.period()}
		}
		if site.Source, site.SourceName, err = h.knownSource(); err != nil {
			return err
		}
		found = append(found, site)
		return nil
	})
	return found, err
}

// knownSource returns the source that the settings name, and its name for
// messages. It returns nil for the source site, which only a running server can
// read.
func (s *Settings) knownSource() (enforce.Source, string, error) {
	repl := caddy.NewReplacer()
	switch s.kind() {
	case sourceInline:
		return enforce.Inline(s.Source.Text), "the configuration", nil
	case sourceFile:
		path := repl.ReplaceAll(s.Source.Path, "")
		return enforce.File{Path: path}, path, nil
	case sourceURL:
		address := repl.ReplaceAll(s.Source.URL, "")
		source, err := enforce.NewURL(address)
		if err != nil {
			return nil, "", fmt.Errorf("source url: %w", err)
		}
		return source, address, nil
	}
	return nil, "", nil
}

// isSampled reports whether a configuration samples a log, so that the log lacks
// some requests.
func isSampled(tree any) bool {
	logs, _ := field(field(tree, "logging"), "logs").(map[string]any)
	for _, log := range logs {
		if field(log, "sampling") != nil {
			return true
		}
	}
	return false
}

// defaultsOf returns the default settings of a configuration, nil if it has
// none.
func defaultsOf(tree any) *Settings {
	apps, _ := field(tree, "apps").(map[string]any)
	defaults := field(apps["robots"], "defaults")
	if defaults == nil {
		return nil
	}
	s := new(Settings)
	if unmarshalTree(defaults, s) != nil {
		return nil
	}
	return s
}

func field(tree any, name string) any {
	object, _ := tree.(map[string]any)
	return object[name]
}

func unmarshalTree(tree, to any) error {
	text, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// routePlace is where a route is in a configuration.
type routePlace struct {
	listen   string   // the addresses of the server
	hosts    []string // that the route and the routes around it match
	matchers []string // texts about their other matchers
}

// walkSites calls f for each robots handler in a configuration, with the place of
// its route. Lists are walked in their order, objects by the names of their
// fields.
func walkSites(tree any, at routePlace, f func(routePlace, map[string]any) error) error {
	switch node := tree.(type) {
	case map[string]any:
		if node["handler"] == "robots" {
			return f(at, node)
		}
		if listen, ok := node["listen"].([]any); ok {
			at.listen = valueText(listen)
		}
		if matched := matchedHosts(node["match"]); matched != nil {
			at.hosts = matched
		}
		at.matchers = withMatchers(at.matchers, node["match"])
		names := make([]string, 0, len(node))
		for name := range node {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if err := walkSites(node[name], at, f); err != nil {
				return err
			}
		}
	case []any:
		for _, child := range node {
			if err := walkSites(child, at, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// matchedHosts returns the hosts of a route's matchers.
func matchedHosts(match any) (hosts []string) {
	sets, _ := match.([]any)
	for _, set := range sets {
		list, _ := field(set, "host").([]any)
		for _, host := range list {
			if s, ok := host.(string); ok {
				hosts = append(hosts, s)
			}
		}
	}
	return hosts
}
