// Package envoy finds what is missing where Envoy's filter ext_authz asks the handler about
// the requests of its clients. Envoy asks with the client's own request line, so that there is
// no line to configure.
package envoy

import (
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

func init() {
	caddy.RegisterModule(new(Envoy))
}

// Envoy tells the operator what is missing where Envoy's filter ext_authz asks about the
// requests of its clients. It changes no decision. Default: on.
//
//	envoy off
type Envoy struct {
	site   step.Site
	checks checks
	told   sync.Map // what was logged: the gaps by their messages, and "" that Envoy asks
}

// CaddyModule returns the Caddy module information.
func (*Envoy) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.envoy", New: func() caddy.Module { return new(Envoy) }}
}

// Info implements step.Step.
func (*Envoy) Info() step.Info { return step.Info{Stage: step.Check, Example: "envoy", Default: true} }

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	envoy [off]
func (*Envoy) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	if d.NextArg() || d.NextBlock(0) {
		return d.Errf("envoy: unexpected %q: want off, or nothing", d.Val())
	}
	return nil
}

// Join implements step.Step.
func (e *Envoy) Join(site step.Site) error {
	e.site = site
	return nil
}

// Wrap implements step.Decider.
func (e *Envoy) Wrap(next step.Decide) step.Decide {
	return func(x *step.Exchange) {
		q := &x.Request
		if e.checks.note(x.HTTP, q.Target, q.Proxied, q.Proxied && !q.Ambiguous) {
			e.tell()
		}
		next(x)
	}
}

// tell logs once that Envoy asks, and each gap.
func (e *Envoy) tell() {
	if _, told := e.told.LoadOrStore("", true); !told {
		e.site.Log().Info("behind Envoy's ext_authz, clients get X-Robots-Tag only if allowed_client_headers_on_success names it")
	}
	for _, gap := range e.Problems() {
		if _, told := e.told.LoadOrStore(gap.Message, true); !told {
			e.site.Log().Warn("behind Envoy's ext_authz, something is missing: "+gap.Message, zap.String("advice", gap.Advice))
		}
	}
}

// Problems implements step.Troubled: what is missing if Envoy asks about all requests.
func (e *Envoy) Problems() []step.Problem { return e.checks.gaps(e.site.Publishes(), e.site.Unseen()) }

// Interface guards
var (
	_ step.Step     = (*Envoy)(nil)
	_ step.Decider  = (*Envoy)(nil)
	_ step.Troubled = (*Envoy)(nil)
)
