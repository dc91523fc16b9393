package caddymodule

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/allsites"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/registry"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/routes"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/headers"
)

func init() {
	cli.Register(commands{})
}

// commands implements cli.Module.
type commands struct{}

// ReadRegistry implements cli.Module.
func (commands) ReadRegistry(path string) (*crawler.Registry, error) {
	return registry.Read(path, func(r *crawler.Registry) (*crawler.Registry, error) { return r, nil })
}

// HeaderRules implements cli.Module.
func (commands) HeaderRules(path string) (rules []headers.Setting, err error) {
	_, handlers, err := handlersOf(path)
	for _, h := range handlers {
		rules = append(rules, h.XRobotsTag...)
	}
	return rules, err
}

// Config implements cli.Module.
func (commands) Config(name string) ([]byte, error) {
	config, err := os.ReadFile(name)
	if err != nil || strings.HasSuffix(name, ".json") {
		return config, err
	}
	config, _, err = caddyconfig.GetAdapter("caddyfile").Adapt(config, map[string]any{"filename": name})
	return config, err
}

// configFile is the part of a configuration that the commands read.
type configFile struct {
	text    []byte
	Logging struct {
		Logs map[string]struct {
			Sampling any `json:"sampling"`
		} `json:"logs"`
	} `json:"logging"`
	Apps struct {
		HTTP struct {
			Servers map[string]*caddyhttp.Server `json:"servers"`
		} `json:"http"`
		Robots config.Global `json:"robots"`
	} `json:"apps"`
}

// isSampled reports whether a log is sampled, so that it lacks some requests.
func (c *configFile) isSampled() bool {
	for _, log := range c.Logging.Logs {
		if log.Sampling != nil {
			return true
		}
	}
	return false
}

// configHandler is a robots handler of a configuration file.
type configHandler struct {
	Handler
	route     *routes.Route
	listen    string // the addresses of its server
	isReached bool   // no handler before it answers all requests
}

// handlersOf reads a configuration file, JSON if its name ends in .json, otherwise
// a Caddyfile. It returns the robots handlers of the HTTP servers.
func handlersOf(name string) (c *configFile, list []*configHandler, err error) {
	text, err := commands{}.Config(name)
	if err != nil {
		return nil, nil, err
	}
	c = &configFile{text: text}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, key := range slices.Sorted(maps.Keys(c.Apps.HTTP.Servers)) {
		server := cmp.Or(c.Apps.HTTP.Servers[key], new(caddyhttp.Server))
		for route, module := range routes.Walk(routes.All(server)) {
			if module == nil || module.Name != "robots" {
				continue
			}
			h := &configHandler{route: route, listen: strings.Join(server.Listen, " "), isReached: route.IsReached(module)}
			if err := module.Decode(&h.Handler); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
			list = append(list, h)
		}
	}
	return c, list, nil
}

// Sites implements cli.Module.
func (commands) Sites(path string) ([]cli.Site, error) {
	c, handlers, err := handlersOf(path)
	if err != nil {
		return nil, err
	}
	all, err := allsites.Read(c.text)
	if err != nil {
		return nil, err
	}
	found := make([]cli.Site, len(handlers))
	for i, h := range handlers {
		if found[i], err = h.site(c); err != nil {
			return nil, err
		}
		found[i].Routes = all
	}
	return found, nil
}

// site returns what the commands have to know about the handler.
func (h *configHandler) site(c *configFile) (site cli.Site, err error) {
	h.AddDefaults(c.Apps.Robots.Defaults)
	site = cli.Site{
		Hosts: h.route.Hosts(), Modes: h.ModesOfHosts(), Listen: h.listen, Matcher: h.route.Matcher(), Unreached: !h.isReached,
		Sampled: c.isSampled(),
	}
	if site.Rules, err = h.EngineSettings(); err != nil {
		return site, err
	}
	site.Rules.ID = "" // a command may put another source in place of the site's
	location, err := config.Resolve("registry", h.Registry)
	if err == nil {
		site.Rules.Registry, err = registry.Read(location, h.AddCrawlers)
		err = config.InOption("registry", err)
	}
	if err != nil {
		return site, h.Places.At(err)
	}
	for _, s := range h.KnownSteps() {
		site.Steps = append(site.Steps, s)
		if explainer, ok := s.(step.Explainer); ok {
			site.Explainers = append(site.Explainers, explainer)
		}
		if verifier, ok := s.(step.Verifier); ok {
			site.Verification = new(verifier.Verification())
		}
	}
	site.Inline = h.SourceKind() == config.SourceInline
	if site.SourceName = "the configuration"; !site.Inline {
		site.SourceName = caddy.NewReplacer().ReplaceAll(h.Source.Location(), "")
	}
	site.Source, err = h.NewSource()
	return site, err
}
