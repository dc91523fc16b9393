package config

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/headers"
	"github.com/caddy-robots/caddy-robots/robots"
)

func init() {
	lines.KnowSite(slices.Collect(maps.Keys((&parser{settings: new(Settings)}).core()))...)
	lines.KnowProcess(globalLines...)
	lines.KnowBlock("crawl_delay", "max", "burst", "per", "max_entries")
	lines.KnowBlock("crawler NAME", "user_agents", "robots", "operator", "purpose", "class", "run_by", "star", "crawl_delay", "verify")
}

// parser parses the block of the directive robots, or that of the global option.
type parser struct {
	lines.Parser
	settings *Settings
	defaults *Settings                    // those of the global option; nil without
	global   bool                         // the block is that of the global option
	later    []func() error               // checks that need the whole block
	steps    map[string]caddyfile.Segment // the lines of steps, by name
	process  caddy.ModuleMap              // the steps for the process
}

// Parse parses the block of the directive robots. The defaults are those of the
// global option, nil without. Parse checks the settings together with the
// defaults, and returns the settings without them.
func Parse(d *caddyfile.Dispenser, defaults *Settings) (s Settings, err error) {
	p := &parser{Parser: lines.Parser{Dispenser: d}, settings: &s, defaults: defaults}
	err = p.directive(p.site())
	return s, err
}

// directive parses the block of a directive or of a global option, and checks
// its settings.
func (p *parser) directive(known lines.Table) error {
	knowSteps()
	if err := p.words(); err != nil {
		return err
	}
	repeatable := []string{"answer", "crawler", "exempt", "host", "x_robots_tag"}
	for name := range known {
		if s := step.New(name); s != nil && s.Info().Repeatable {
			repeatable = append(repeatable, name)
		}
	}
	if err := p.Block(known, nil, repeatable...); err != nil {
		return err
	}
	if err := p.unmarshalSteps(); err != nil {
		return err
	}
	for _, check := range p.later {
		if err := check(); err != nil {
			return err
		}
	}
	return lines.Place(p.Dispenser, errors.Join(p.settings.checkOff(), p.checkDefaultNames(), p.settings.Check()))
}

// site returns the lines of the directive robots.
func (p *parser) site() lines.Table {
	known := p.core()
	for _, name := range step.Names(false) {
		known[name] = p.orOff(name, p.step)
	}
	return known
}

// core returns the lines of the directive robots that belong to no step.
func (p *parser) core() lines.Table {
	s := p.settings
	return lines.Table{
		"source":         p.source,
		"refresh":        lines.Duration(&s.Refresh, time.Second),
		"on_error":       lines.Choice(&s.OnError, errorActions),
		"max_origins":    lines.Number(&s.MaxOrigins, 1_000_000),
		"publish":        lines.OnOff(&s.Publish),
		"mode":           p.mode,
		"host":           p.orOff("hosts", p.host),
		"dialect":        lines.One(p.dialect),
		"exempt":         p.orOff("exempt", p.exempt),
		"exempt_paths":   lines.List(&s.ExemptPaths, judge.CheckPathPattern),
		"http_clients":   lines.OnOff(&s.HTTPClients),
		"programs":       lines.Choice(&s.Programs, programs),
		"user_triggered": lines.OnOff(&s.UserTriggered),
		"strict":         lines.OnOff(&s.Strict),
		"forwarded_host": lines.OnOff(&s.ForwardedHost),
		"crawler":        lines.One(p.crawler),
		"registry":       p.orOff("registry", p.names("registry", lines.One(p.registry))),
		"answer":         p.orOff("answers", p.answer),
		"paths":          p.orOff("paths", p.paths),
		"crawl_delay":    p.crawlDelay,
		"x_robots_tag":   p.orOff("x_robots_tag", p.xRobotsTag),
		"noindex_lines":  lines.OnOff(&s.NoindexLines),
		"signals":        lines.OnOff(&s.Signals),
	}
}

// dialect parses the line dialect.
func (p *parser) dialect(_, value string) error {
	p.settings.Dialect = value
	_, err := robots.ParseDialect(value)
	return lines.About("dialect:", err)
}

// xRobotsTag parses the line x_robots_tag.
func (p *parser) xRobotsTag(_ string, values []string) error {
	rule, err := headers.ParseSetting(values)
	p.settings.XRobotsTag = append(p.settings.XRobotsTag, rule)
	return lines.About("x_robots_tag:", err)
}
