package config

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/enforce"
	"github.com/caddy-robots/caddy-robots/internal/editdistance"
)

// parser parses the block of the directive robots, or that of the global option.
type parser struct {
	*caddyfile.Dispenser
	head caddyfile.Dispenser // at the name of the line that is parsed

	settings *Settings
	off      []string
	defaults *Settings      // those of the global option; nil without
	global   bool           // the block is that of the global option
	later    []func() error // checks that need the whole block
}

// line parses the values of a line of a block, and the block that the line
// opens. The place of the line is added to its errors.
type line func(name string, values []string) error

// table has the parsers of the lines of a block, by the names of the lines.
type table map[string]line

// Parse parses the block of the directive robots. The defaults are those of the
// global option, nil without. Parse checks the settings together with the
// defaults, and returns the settings without them. off has the settings whose
// defaults are not used.
func Parse(d *caddyfile.Dispenser, defaults *Settings) (s Settings, off []string, err error) {
	p := &parser{Dispenser: d, settings: &s, defaults: defaults}
	err = p.directive(p.site())
	return s, p.off, err
}

// directive parses the block of a directive or of a global option, and checks
// its settings.
func (p *parser) directive(lines table) error {
	p.Next() // the directive's name
	if p.NextArg() {
		return p.Errf("unexpected %q: write the options of robots in a block", p.Val())
	}
	if err := p.block(lines, nil, "answer", "crawler", "exempt", "x_robots_tag"); err != nil {
		return err
	}
	for _, check := range p.later {
		if err := check(); err != nil {
			return err
		}
	}
	return place(p.Dispenser, errors.Join(p.settings.checkOff(p.off), p.checkDefaultNames(), p.settings.Check()))
}

// site returns the lines of the directive robots.
func (p *parser) site() table {
	s := p.settings
	return table{
		"source":         p.source,
		"refresh":        duration(&s.Refresh, time.Second),
		"on_error":       choice(&s.OnError, errorActions),
		"max_origins":    number(&s.MaxOrigins, 1, 1_000_000),
		"publish":        onOff(&s.Publish),
		"mode":           choice(&s.Mode, modes),
		"dialect":        one(p.dialect),
		"exempt":         p.orOff("exempt", p.exempt),
		"exempt_paths":   words(&s.ExemptPaths, enforce.CheckPathPattern),
		"http_clients":   onOff(&s.HTTPClients),
		"programs":       choice(&s.Programs, programs),
		"user_triggered": onOff(&s.UserTriggered),
		"strict":         onOff(&s.Strict),
		"forwarded_host": onOff(&s.ForwardedHost),
		"crawler":        one(p.crawler),
		"registry":       p.orOff("registry", one(p.registry)),
		"policy":         p.orOff("policy", p.policy),
		"grace":          choice(&s.Grace, graces),
		"answer":         p.orOff("answers", p.answer),
		"paths":          p.orOff("paths", p.paths),
		"crawl_delay":    p.crawlDelay,
		"fleet":          p.orOff("fleet", one(p.fleet)),
		"verify":         p.orOff("verify", p.verify),
		"suspects":       p.orOff("suspects", p.suspects),
		"x_robots_tag":   p.orOff("x_robots_tag", p.xRobotsTag),
		"noindex_lines":  onOff(&s.NoindexLines),
		"meta_robots":    onOff(&s.MetaRobots),
		"signals":        onOff(&s.Signals),
	}
}

// block parses the lines of a block. Each name may be given once, unless it is
// repeatable. Before the first line and after each line, block calls check, if it
// is not nil, so that the error has the place of the line.
func (p *parser) block(lines table, check func() error, repeatable ...string) error {
	seen := make(map[string]bool)
	for nesting := p.Nesting(); ; {
		if check != nil {
			if err := check(); err != nil {
				return place(p.Dispenser, err)
			}
		}
		if !p.NextBlock(nesting) {
			return nil
		}
		name := p.Val()
		parse, ok := lines[name]
		switch {
		case !ok && slices.Contains(globalLines, name):
			return placed{p.Errf("%s is for the whole process: write it in the global option robots, at the top of the Caddyfile", name)}
		case !ok:
			return placed{p.Errf("unknown subdirective %q%s", name, suggestion(name, slices.Values(slices.Sorted(maps.Keys(lines)))))}
		case seen[name] && !slices.Contains(repeatable, name):
			return placed{p.Errf("%s is given twice", name)}
		}
		seen[name], p.head = true, *p.Dispenser
		if err := parse(name, p.RemainingArgs()); err != nil {
			return place(p.Dispenser, err)
		}
	}
}

// placed is an error with its place in the Caddyfile.
type placed struct{ error }

// place adds the place of d's token to an error, unless it has one. It returns
// nil if err is nil.
func place(d *caddyfile.Dispenser, err error) error {
	if _, ok := err.(placed); ok || err == nil {
		return err
	}
	return placed{d.WrapErr(err)}
}

// suggestion returns the end of an error that suggests the nearest known word,
// or "".
func suggestion(word string, known iter.Seq[string]) string {
	if near := editdistance.Nearest(word, known); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}
