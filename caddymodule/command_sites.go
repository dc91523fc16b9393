package caddymodule

import (
	"github.com/caddyserver/caddy/v2"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/registry"
	"github.com/caddy-robots/caddy-robots/internal/audit"
)

// Sites implements cli.Module.
func (commands) Sites(path string) ([]cli.Site, error) {
	c, handlers, err := handlersOf(path)
	if err != nil {
		return nil, err
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
func (h *configHandler) site(c *configFile) (*cli.Site, error) {
	h.AddDefaults(c.Apps.Robots.Defaults, h.Off)
	rules, err := h.Engine()
	if err != nil {
		return nil, err
	}
	if rules.Registry, err = registry.Read(h.registryLocation(), h.AddCrawlers); err != nil {
		return nil, err
	}
	site := &cli.Site{Hosts: h.route.Hosts(), Listen: h.listen, Matcher: h.route.Matcher(), Rules: rules, Sampled: c.isSampled()}
	if s := h.Suspects; s != nil {
		traps, err := s.Traps()
		if err != nil {
			return nil, err
		}
		site.Suspects = &audit.SuspectRules{Traps: traps, Bind: s.Action == config.SuspectsBind, For: s.Period()}
	}
	if site.Source, err = h.NewSource(); err != nil {
		return nil, err
	}
	if site.SourceName = "the configuration"; h.SourceKind() != config.SourceInline {
		site.SourceName = caddy.NewReplacer().ReplaceAll(h.Source.Location(), "")
	}
	return site, nil
}
