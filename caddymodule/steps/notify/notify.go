package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/cli"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/lines"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
	"github.com/caddy-robots/caddy-robots/caddymodule/step"
)

func init() {
	caddy.RegisterModule(new(Handler))
	caddy.RegisterModule(new(Notify))
	step.ReportProblems(problems)
	cli.Add(help, newCommand)
}

// Handler is a handler of events that tells people about accidents of robots: of all with
// the global setting notify, or of those that `on` names. Other events are not sent.
type Handler struct {
	// URLs of services, such as `ntfy://ntfy.sh/my-topic`. Placeholders, such as
	// `{env.NTFY_TOKEN}`, are replaced. Required.
	URLs []string `json:"urls,omitempty"`

	shared.User
	receivers []*receiver
	log       *zap.Logger
	foreign   sync.Once // an event that is not sent was logged
}

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.robots_notify", New: func() caddy.Module { return new(Handler) }}
}

// UnmarshalCaddyfile sets up the handler. Syntax:
//
//	on <event> robots_notify <urls...>
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	for d.Next() {
		var urls []string
		if err := lines.List(&urls, Check)(d.Val(), d.RemainingArgs()); err != nil {
			return lines.Place(d, err)
		}
		h.URLs = append(h.URLs, urls...)
	}
	return nil
}

// Provision checks the URLs, and gets their queues. It uses no network.
func (h *Handler) Provision(ctx caddy.Context) error {
	h.log = metrics.Limited(ctx.Logger(h), logLines)
	if len(h.URLs) == 0 {
		return errors.New("notify needs at least one URL")
	}
	for i, raw := range h.URLs {
		a, err := resolve(raw)
		if err != nil {
			return fmt.Errorf("URL %d: %w", i+1, err)
		}
		r := shared.Use(&h.User, "notify "+a.url.String(), func() *receiver { return newReceiver(a) })
		h.receivers = append(h.receivers, r)
	}
	return nil
}

// Handle implements caddyevents.Handler. It waits for nothing.
func (h *Handler) Handle(_ context.Context, e caddy.Event) error {
	if !strings.HasPrefix(e.Name(), prefix) || e.Origin() == nil || e.Origin().CaddyModule().ID != "robots" {
		h.foreign.Do(func() {
			h.log.Warn("notify: only accidents are sent, and no other events", zap.String("event", e.Name()))
		})
		return nil
	}
	for _, r := range h.receivers {
		r.add(e, h.log)
	}
	return nil
}

// MarshalLogObject implements zapcore.ObjectMarshaler: Caddy logs handlers at DEBUG.
func (h *Handler) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	for i, r := range h.receivers {
		enc.AddString(fmt.Sprint(i+1), r.name)
	}
	return nil
}

// Notify sends a message when an accident begins, changes, gets worse or ends. Placeholders,
// such as `{env.NTFY_TOKEN}`, are replaced. May be repeated. Default: none.
//
//	notify ntfy://ntfy.sh/my-topic
type Notify struct {
	Handler
	ctx caddy.Context
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
	return n.Handler.UnmarshalCaddyfile(d)
}

// Provision implements caddy.Provisioner.
func (n *Notify) Provision(ctx caddy.Context) error {
	n.ctx = ctx
	return n.Handler.Provision(ctx)
}

// Join implements step.Step: all events of the app robots are sent to the URLs.
func (n *Notify) Join(step.Site) error {
	events, err := n.ctx.App("events")
	if err != nil {
		return err
	}
	return events.(*caddyevents.App).Subscribe(&caddyevents.Subscription{
		Modules: []caddy.ModuleID{"robots"}, Handlers: []caddyevents.Handler{&n.Handler},
	})
}

// Interface guards
var (
	_ step.Step               = (*Notify)(nil)
	_ caddy.Provisioner       = (*Handler)(nil)
	_ caddy.Provisioner       = (*Notify)(nil)
	_ caddy.CleanerUpper      = (*Handler)(nil)
	_ caddyevents.Handler     = (*Handler)(nil)
	_ zapcore.ObjectMarshaler = (*Handler)(nil)
)
