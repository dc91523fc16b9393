package live

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/caddy-robots/caddy-robots/caddymodule/internal/config"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/metrics"
	"github.com/caddy-robots/caddy-robots/caddymodule/internal/statusapi"
)

// SetMode implements statusapi.Reporter.
func (r *Reporter) SetMode(_ context.Context, scope statusapi.Scope, query statusapi.ModeQuery) (*statusapi.Mode, error) {
	if query.Mode == "" {
		return nil, badRequest("mode is missing: want enforce, monitor or configured")
	}
	var handlers []*Handler
	for _, h := range r.handlers() {
		switch in := h.sitesIn(scope); {
		case scope.All(), len(in) == len(h.Hosts):
			handlers = append(handlers, h)
		case len(in) > 0:
			return nil, statusapi.Errorf(http.StatusConflict, "the handler of %s also serves other sites, whose mode would change too: set the mode of all of them together", strings.Join(in, ", "))
		}
	}
	if len(handlers) == 0 {
		return nil, statusapi.Errorf(http.StatusNotFound, "no site with a robots handler has this name")
	}
	answer := &statusapi.Mode{Mode: query.Mode, Sites: []string{}, Since: time.Now().UTC()}
	for _, h := range handlers {
		if err := r.setMode(h, query.Mode, answer.Since); err != nil {
			return nil, fmt.Errorf("setting the mode of %s: %w", strings.Join(h.Hosts, ", "), err)
		}
		answer.Sites = append(answer.Sites, h.Hosts...)
	}
	slices.Sort(answer.Sites)
	answer.Sites = slices.Compact(answer.Sites)
	if log := r.app.Log; query.Mode == statusapi.Configured {
		log.Info("the mode is again the one of the configuration", zap.Strings("sites", answer.Sites))
	} else {
		log.Warn("the mode was set until the next load of the configuration", zap.String("mode", query.Mode), zap.Strings("sites", answer.Sites))
	}
	return answer, nil
}

// setMode sets the mode of a handler until the next load of the configuration.
func (r *Reporter) setMode(h *Handler, mode string, now time.Time) error {
	configured := h.Settings.Mode == config.ModeMonitor
	monitor := mode == statusapi.Monitor || mode == statusapi.Configured && configured
	if err := h.SetMode(monitor); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if h.overridden = monitor != configured; h.overridden {
		r.modeSet = now
	}
	return nil
}

// modeProblems returns the sites whose mode was set through the admin API.
func (r *Reporter) modeProblems(scope statusapi.Scope) (problems []statusapi.Problem) {
	sites := make(map[string][]string) // by mode
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.handlersIn(scope) {
		if h.overridden {
			sites[h.mode()] = append(sites[h.mode()], h.sitesIn(scope)...)
		}
	}
	for mode, effect := range map[string]string{statusapi.Monitor: "no requests are refused", statusapi.Enforce: "requests are refused"} {
		if list := sites[mode]; len(list) > 0 {
			slices.Sort(list)
			problem := warning("mode", metrics.Clip(strings.Join(slices.Compact(list), ", ")),
				effect+", because the mode was set to "+mode+" until the next load of the configuration",
				"To return to the configured mode, set the mode `configured`, or run `caddy reload --force` (an unchanged file is not loaded without --force).")
			problem.Since = timeOf(r.modeSet)
			problems = append(problems, problem)
		}
	}
	return problems
}
