// Package policy is the step of lines by purpose: it adds what internal/managed makes of
// them to robots.txt. It also has the command that prints the result.
package policy

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
	"github.com/caddy-robots/caddy-robots/enforce/crawler"
	"github.com/caddy-robots/caddy-robots/enforce/judge"
	"github.com/caddy-robots/caddy-robots/internal/managed"
)

func init() {
	caddy.RegisterModule(new(Policy))
	cli.Add(help, newCommand)
}

// Policy has rules for crawlers by purpose or name. The handler merges them into the site's
// robots.txt, and answers /robots.txt with the result, except in monitor mode. Where requests
// for /robots.txt can't reach it, as in `handle /shop/*`, that is an error. Default: none.
//
//	policy no-training {
//		deny seo /archive/*
//		allow CCBot
//	}
//
// `robots no-training` is short for `policy no-training` in the block of robots, and
// `robots no-ai` for `policy no-ai`.
type Policy struct {
	managed.Policy

	places map[int]caddyfile.Dispenser // of statements, by their lines; nil outside of a Caddyfile
	usage  string                      // the Content-Usage field; "" for none
}

// CaddyModule returns the Caddy module information.
func (*Policy) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.policy", New: func() caddy.Module { return new(Policy) }}
}

// Info implements step.Step.
func (*Policy) Info() step.Info {
	return step.Info{Words: []string{"no-training", "no-ai"}, Enforces: true}
}

// Join implements step.Step. What the presets can't prevent is logged.
func (p *Policy) Join(site step.Site) error {
	p.usage = p.ContentUsage()
	for _, use := range managed.BeyondPresets {
		if len(p.Presets) > 0 {
			site.Log.Info("a preset of the policy can't prevent this use", zap.String("what", use))
		}
	}
	return nil
}

// Edit implements step.Editor.
func (p *Policy) Edit(registry *crawler.Registry) (*judge.Additions, error) {
	additions, err := p.Additions(registry)
	return additions, p.placed(err)
}

// CheckNames implements step.Named.
func (p *Policy) CheckNames(registry *crawler.Registry) error {
	_, err := p.Edit(registry)
	return err
}

// Respond implements step.Responder. It sets Content-Usage.
func (p *Policy) Respond(x *step.Exchange, w http.ResponseWriter) http.ResponseWriter {
	if p.usage != "" && !x.Decision.Monitored {
		w.Header()["Content-Usage"] = []string{p.usage} // of this response alone: `header` changes values in place
	}
	return w
}

// maxLogged is the largest number of groups of one file, and of crawlers of one group, in the log.
const maxLogged = 10

// Review implements step.Reviewer. It logs the groups that stay.
func (*Policy) Review(log *zap.Logger, rules *judge.Rules) {
	m := managed.MergedIn(rules)
	if m == nil {
		return
	}
	for _, kept := range m.Kept[:min(len(m.Kept), maxLogged)] {
		log.Info("the policy has a note: own group in robots.txt kept", zap.Strings("crawlers", kept.Crawlers[:min(len(kept.Crawlers), maxLogged)]),
			zap.Int("of", len(kept.Crawlers)), zap.Int("site_line", kept.Line))
	}
}

// Interface guards
var (
	_ step.Step      = (*Policy)(nil)
	_ step.Editor    = (*Policy)(nil)
	_ step.Named     = (*Policy)(nil)
	_ step.Responder = (*Policy)(nil)
	_ step.Reviewer  = (*Policy)(nil)
)
