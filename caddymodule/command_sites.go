package caddymodule

import (
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/registry"
	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// Sites implements cli.Module.
func (commands) Sites(path string) ([]cli.Site, error) {
	c, err := readConfig(path)
	if err != nil {
		return nil, err
	}
	handlers, err := c.handlers()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var found []cli.Site
	for _, h := range handlers {
		site, err := h.site(c)
		if err != nil {
			return nil, err
		}
		found = append(found, *site)
	}
	return found, nil
}

// site returns what the commands have to know about the handler.
func (h *configHandler) site(c *config) (*cli.Site, error) {
	h.withDefaults(c.Apps.Robots.Defaults)
	rules, err := h.rules()
	if err != nil {
		return nil, err
	}
	if rules.Registry, err = registry.Read(h.registryLocation(), h.addCrawlers); err != nil {
		return nil, err
	}
	site := &cli.Site{Hosts: h.route.Hosts(), Listen: h.listen, Matcher: h.route.Matcher(), Rules: rules, Sampled: c.isSampled()}
	if s := h.Suspects; s != nil {
		traps, err := s.traps()
		if err != nil {
			return nil, err
		}
		site.Suspects = &audit.SuspectRules{Traps: traps, Bind: s.Action == suspectsBind, For: s.period()}
	}
	if site.Source, site.SourceName, err = h.knownSource(); err != nil {
		return nil, err
	}
	return site, nil
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
