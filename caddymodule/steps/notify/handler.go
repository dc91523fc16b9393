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

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/shared"
)

func init() {
	caddy.RegisterModule(new(Handler))
}

// Handler is a handler of events that tells people about accidents of robots: of all with
// the global setting notify, or of those that `on` names. Other events are not sent.
type Handler struct {
	// URLs of services, such as `ntfy://ntfy.sh/my-topic`. Placeholders, such as
	// `{env.NTFY_TOKEN}`, are replaced. Required.
	URLs []string `json:"urls,omitempty"`

	receivers []*receiver
	release   []func() error
	log       *zap.Logger
	foreign   sync.Once // an event that is not sent was logged
}

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "events.handlers.notify", New: func() caddy.Module { return new(Handler) }}
}

// UnmarshalCaddyfile sets up the handler. Syntax:
//
//	on <event> notify <urls...>
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the handler's name
	if h.URLs = d.RemainingArgs(); len(h.URLs) == 0 {
		return d.Err("notify needs at least one URL")
	}
	for _, u := range h.URLs {
		if err := Check(u); err != nil {
			return d.WrapErr(fmt.Errorf("notify: %w", err))
		}
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
		r, release := shared.Get("notify "+a.url.String(), func() *receiver { return newReceiver(a) })
		h.receivers, h.release = append(h.receivers, r), append(h.release, release)
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

// Cleanup releases the queues. Caddy also calls it if Provision failed.
func (h *Handler) Cleanup() (err error) {
	for _, release := range h.release {
		err = errors.Join(err, release())
	}
	h.release = nil
	return err
}

// MarshalLogObject implements zapcore.ObjectMarshaler: Caddy logs handlers at DEBUG.
func (h *Handler) MarshalLogObject(enc zapcore.ObjectEncoder) error {
	for i, r := range h.receivers {
		enc.AddString(fmt.Sprint(i+1), r.name)
	}
	return nil
}

// Interface guards
var (
	_ caddy.Provisioner       = (*Handler)(nil)
	_ caddy.CleanerUpper      = (*Handler)(nil)
	_ caddyfile.Unmarshaler   = (*Handler)(nil)
	_ caddyevents.Handler     = (*Handler)(nil)
	_ zapcore.ObjectMarshaler = (*Handler)(nil)
)
