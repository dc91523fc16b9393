// Package grace is the step that lets crawlers follow the earlier robots.txt for a while after
// it changed.
package grace

import (
	"cmp"
	"fmt"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
)

func init() {
	caddy.RegisterModule(new(Grace))
}

// Grace says which crawlers may follow the earlier robots.txt after a change. `search`: those
// of search engines, so that a new `Disallow` does not stop Googlebot at once. `all`: all
// crawlers. `off`: none. Default: `search`.
//
//	grace all
type Grace struct {
	// `search` or `all`. Default: `search`.
	Crawlers string `json:"crawlers,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (*Grace) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.grace", New: func() caddy.Module { return new(Grace) }}
}

// Info implements step.Step.
func (*Grace) Info() step.Info {
	return step.Info{Stage: step.Identify, Default: true}
}

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	grace off | search | all
func (g *Grace) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	args := d.RemainingArgs()
	if len(args) != 1 || d.NextBlock(0) {
		return d.Errf("grace takes one value, not %d", len(args))
	}
	g.Crawlers = args[0]
	if err := g.Join(step.Site{}); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

// Join implements step.Step.
func (g *Grace) Join(step.Site) error {
	if who, err := g.who(); err != nil || who == judge.GraceOff {
		return fmt.Errorf("grace %q is not allowed: write off, search or all", g.Crawlers)
	}
	return nil
}

func (g *Grace) who() (judge.Grace, error) {
	return judge.ParseGrace(cmp.Or(g.Crawlers, judge.GraceSearch.String()))
}

// Grace implements step.Follower.
func (g *Grace) Grace() judge.Grace {
	who, err := g.who()
	if err != nil {
		return judge.GraceOff
	}
	return who
}

// Interface guards
var (
	_ step.Step     = (*Grace)(nil)
	_ step.Follower = (*Grace)(nil)
)
