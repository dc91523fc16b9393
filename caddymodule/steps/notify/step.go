package notify

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

func init() {
	caddy.RegisterModule(new(Notify))
	step.ReportProblems(problems)
	cli.Add(help, newCommand)
}

// Notify sends a message when an accident begins, changes, gets worse or ends. Placeholders,
// such as `{env.NTFY_TOKEN}`, are replaced. May be repeated. Default: none.
//
//	notify ntfy://ntfy.sh/my-topic
type Notify struct {
	// URLs of e-mail servers, ntfy, webhooks and chats.
	URLs []string `json:"urls,omitempty"`

	ctx     caddy.Context
	handler Handler
}

// CaddyModule returns the Caddy module information.
func (*Notify) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.robots.steps.notify", New: func() caddy.Module { return new(Notify) }}
}

// Info implements step.Step.
func (*Notify) Info() step.Info {
	return step.Info{Repeatable: true, Process: true}
}

// UnmarshalCaddyfile sets up the step. Syntax:
//
//	notify <urls...>
func (n *Notify) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		var urls []string
		if err := lines.List(&urls, Check)(d.Val(), d.RemainingArgs()); err != nil {
			return lines.Place(d, err)
		}
		n.URLs = append(n.URLs, urls...)
	}
	return nil
}

// Provision implements caddy.Provisioner.
func (n *Notify) Provision(ctx caddy.Context) error {
	n.ctx = ctx
	return nil
}

// Join implements step.Step: all events of the app robots are sent to the URLs.
func (n *Notify) Join(step.Site) error {
	events, err := n.ctx.App("events")
	if err != nil {
		return err
	}
	n.handler.URLs = n.URLs
	if err := n.handler.Provision(n.ctx); err != nil {
		return err
	}
	return events.(*caddyevents.App).Subscribe(&caddyevents.Subscription{
		Modules: []caddy.ModuleID{"robots"}, Handlers: []caddyevents.Handler{&n.handler},
	})
}

// Cleanup releases the queues. Caddy also calls it if Join failed.
func (n *Notify) Cleanup() error { return n.handler.Cleanup() }

// Interface guards
var (
	_ caddy.Provisioner  = (*Notify)(nil)
	_ caddy.CleanerUpper = (*Notify)(nil)
	_ step.Step          = (*Notify)(nil)
)
