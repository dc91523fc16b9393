package step_test

import (
	"net/http"
	"slices"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

func init() {
	caddy.RegisterModule(new(Greeting))
}

// Greeting sends a header to some crawlers.
type Greeting struct {
	Crawlers []string `json:"crawlers,omitempty"`
}

// CaddyModule returns the Caddy module information.
func (*Greeting) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.greeting", New: func() caddy.Module { return new(Greeting) }}
}

// Info implements step.Step.
func (*Greeting) Info() step.Info { return step.Info{} }

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	greeting <crawlers...>
func (g *Greeting) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()
	g.Crawlers = d.RemainingArgs()
	if len(g.Crawlers) == 0 {
		return d.Err("greeting: want names of crawlers")
	}
	return nil
}

// Join implements step.Step.
func (*Greeting) Join(step.Site) error { return nil }

// Respond implements step.Responder.
func (g *Greeting) Respond(x *step.Exchange, w http.ResponseWriter) http.ResponseWriter {
	if name := x.Decision.Agent.Name(); slices.Contains(g.Crawlers, name) {
		w.Header().Set("X-Greeting", "Hello, "+name)
	}
	return w
}
