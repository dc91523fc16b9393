// Package meta sends the robots meta tags of documents as X-Robots-Tag.
package meta

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

func init() {
	caddy.RegisterModule(new(MetaRobots))
}

// MetaRobots sends the robots meta tags in the first 64 KiB of an HTML document,
// compressed with gzip and zstd too, also as X-Robots-Tag. The document is not changed.
// Default: off.
//
//	meta_robots on
type MetaRobots struct{}

// CaddyModule returns the Caddy module information.
func (*MetaRobots) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.meta_robots", New: func() caddy.Module { return new(MetaRobots) }}
}

// Info implements step.Step.
func (*MetaRobots) Info() step.Info {
	return step.Info{NeedsResponse: true, Headers: true}
}

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	meta_robots [on|off]
func (*MetaRobots) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	switch args := d.RemainingArgs(); {
	case len(args) > 1, len(args) == 1 && args[0] != "on", d.NextBlock(0):
		return d.Err("meta_robots: want on or off")
	}
	return nil
}

// Join implements step.Step.
func (*MetaRobots) Join(step.Site) error { return nil }

// NewReader implements step.Reader.
func (*MetaRobots) NewReader() step.HeadReader { return new(metaTags) }

// Interface guards
var (
	_ step.Step   = (*MetaRobots)(nil)
	_ step.Reader = (*MetaRobots)(nil)
)
