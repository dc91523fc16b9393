package config

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/headers"
)

// parser parses the block of the directive robots, or that of the global option.
type parser struct {
	lines.Parser
	settings *Settings
	defaults *Settings                       // those of the global option; nil without
	global   bool                            // the block is that of the global option
	heads    map[string]*caddyfile.Dispenser // the lines that errors are about, by option
	segments map[string]caddyfile.Segment    // the lines of steps, by name
	steps    map[string]step.Step            // as their lines have set them up
	process  caddy.ModuleMap                 // the steps for the process
}

// Parse parses the block of the directive robots. The defaults are those of the
// global option, nil without. Parse checks the settings together with the
// defaults, and returns the settings without them.
func Parse(d *caddyfile.Dispenser, defaults *Settings) (s Settings, err error) {
	p := newParser(d, &s)
	p.defaults, p.Global = defaults, slices.Concat(globalLines, step.Names(true))
	err = p.directive(p.site())
	return s, err
}

func newParser(d *caddyfile.Dispenser, settings *Settings) *parser {
	return &parser{
		Parser: lines.Parser{Dispenser: d}, settings: settings, heads: make(map[string]*caddyfile.Dispenser),
		segments: make(map[string]caddyfile.Segment), steps: make(map[string]step.Step),
	}
}

// HasLine reports whether the block robots can have a line: one of the core, or of a step that
// this program has.
func HasLine(name string) bool {
	_, has := newParser(nil, new(Settings)).site()[name]
	return has
}

// directive parses the block of a directive or of a global option, and checks
// its settings.
func (p *parser) directive(known lines.Table) error {
	if err := p.words(); err != nil {
		return err
	}
	repeatable := []string{"answer", "crawler", "exempt", "host", "x_robots_tag"}
	for name := range known {
		if s := step.New(name); s != nil && s.Info().Repeatable {
			repeatable = append(repeatable, name)
		}
	}
	if err := p.Block(known, p.settings.Check, repeatable...); err != nil {
		return err
	}
	if err := p.unmarshalSteps(); err != nil {
		return err
	}
	return p.place(p.check())
}

// check checks the settings with the defaults of the global option. A registry may add
// crawlers that are known only when the configuration is loaded; without one, names are
// checked too.
func (p *parser) check() error {
	merged, err := *p.settings, p.settings.checkOff()
	if p.global {
		err = cmp.Or(err, merged.checkPublish())
	} else {
		err = cmp.Or(err, merged.Complete(p.defaults))
	}
	if err != nil || merged.Registry != "" {
		return err
	}
	registry, err := merged.AddCrawlers(crawler.Builtin())
	for name, s := range p.steps {
		if named, ok := s.(step.Named); ok && err == nil { // which knows the places of names
			err = inOption(name, named.CheckNames(registry))
		}
	}
	return cmp.Or(err, merged.CheckNames(registry))
}

// place adds the place of the line that an error is about.
func (p *parser) place(err error) error {
	var about optionError
	if errors.As(err, &about) && p.heads[about.option] != nil {
		return lines.Place(p.heads[about.option], err)
	}
	return lines.Place(p.Dispenser, err)
}

// site returns the lines of the directive robots.
func (p *parser) site() lines.Table {
	s := p.settings
	known := lines.Table{
		"source":         p.source,
		"refresh":        lines.Duration(&s.Refresh, time.Second),
		"on_error":       lines.Choice(&s.OnError, errorActions),
		"max_origins":    lines.Number(&s.MaxOrigins, 1_000_000),
		"publish":        lines.OnOff(&s.Publish),
		"mode":           p.mode,
		"host":           p.orOff("hosts", p.host),
		"dialect":        lines.Text(&s.Dialect),
		"exempt":         p.orOff("exempt", p.exempt),
		"exempt_paths":   lines.List(&s.ExemptPaths, judge.CheckPathPattern),
		"http_clients":   lines.OnOff(&s.HTTPClients),
		"programs":       lines.Choice(&s.Programs, programs),
		"user_triggered": lines.OnOff(&s.UserTriggered),
		"strict":         lines.OnOff(&s.Strict),
		"forwarded_host": lines.OnOff(&s.ForwardedHost),
		"crawler":        lines.One(p.crawler),
		"registry":       p.orOff("registry", p.noted("registry", lines.One(p.registry))),
		"answer":         p.orOff("answers", p.answer),
		"paths":          p.orOff("paths", p.paths),
		"crawl_delay":    p.crawlDelay,
		"x_robots_tag":   p.orOff("x_robots_tag", p.xRobotsTag),
		"noindex_lines":  lines.OnOff(&s.NoindexLines),
		"signals":        lines.OnOff(&s.Signals),
	}
	for _, name := range step.Names(false) {
		known[name] = p.orOff(name, p.step)
	}
	return known
}

// xRobotsTag parses the line x_robots_tag.
func (p *parser) xRobotsTag(_ string, values []string) error {
	rule, err := headers.ParseSetting(values)
	p.settings.XRobotsTag = append(p.settings.XRobotsTag, rule)
	return lines.About("x_robots_tag:", err)
}
