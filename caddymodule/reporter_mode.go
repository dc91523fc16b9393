package caddymodule

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/status"
)

// modeSwitch records the modes that were set through the admin API. They end with
// the next load of the configuration.
type modeSwitch struct {
	since    time.Time         // the time of the last change
	handlers map[*Handler]bool // the handlers whose mode differs from the configured one
}

// overridden returns the handlers whose mode differs from the configured one.
func (a *App) overridden() map[*Handler]bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.modes.handlers)
}

// modeSince returns the time at which a mode was last set, or zero.
func (a *App) modeSince() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.modes.since
}

// SetMode implements status.Reporter.
func (r *reporter) SetMode(_ context.Context, scope status.Scope, query status.ModeQuery) (*status.Mode, error) {
	if query.Mode == "" {
		return nil, badRequest("mode is missing: want enforce, monitor or configured")
	}
	var handlers []*siteHandler
	for _, h := range r.all() {
		switch in := h.sitesIn(scope); {
		case scope.All(), len(in) == len(h.Hosts):
			handlers = append(handlers, h)
		case len(in) > 0:
			return nil, status.Errorf(http.StatusConflict, "the handler of %s also serves other sites, whose mode would change too: set the mode of all of them together", strings.Join(in, ", "))
		}
	}
	if len(handlers) == 0 {
		return nil, status.Errorf(http.StatusNotFound, "no site with a robots handler has this name")
	}
	answer := &status.Mode{Mode: query.Mode, Sites: []string{}, Since: time.Now().UTC()}
	for _, h := range handlers {
		if err := r.app.setMode(h.Handler, query.Mode, answer.Since); err != nil {
			return nil, fmt.Errorf("setting the mode of %s: %w", strings.Join(h.Hosts, ", "), err)
		}
		answer.Sites = append(answer.Sites, h.Hosts...)
	}
	slices.Sort(answer.Sites)
	answer.Sites = slices.Compact(answer.Sites)
	if query.Mode == status.Configured {
		r.app.log.Info("the mode is again the one of the configuration", zap.Strings("sites", answer.Sites))
	} else {
		r.app.log.Warn("the mode was set until the next load of the configuration", zap.String("mode", query.Mode), zap.Strings("sites", answer.Sites))
	}
	return answer, nil
}

// setMode sets the mode of a handler until the next load of the configuration.
func (a *App) setMode(h *Handler, mode string, now time.Time) error {
	configured := h.Mode == config.ModeMonitor
	monitor := configured
	if mode != status.Configured {
		monitor = mode == status.Monitor
	}
	if err := h.setMode(monitor); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if monitor == configured {
		delete(a.modes.handlers, h)
		return nil
	}
	if a.modes.handlers == nil {
		a.modes.handlers = make(map[*Handler]bool)
	}
	a.modes.since, a.modes.handlers[h] = now, true
	return nil
}
